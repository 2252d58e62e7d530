package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const firstTimestamp = 1_700_000_000_000

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

// producer is kept: what is sent later meets the connection and the producer id of before.
func (p *puppet) producer(codec string) (*kgo.Client, error) {
	if client, made := p.producers[codec]; made {
		return client, nil
	}
	client, err := connect(
		p.seed,
		kgo.ProducerBatchCompression(codecs[codec]),
		kgo.ProducerBatchMaxBytes(2<<20),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.MetadataMaxAge(time.Second),
		kgo.MetadataMinAge(100*time.Millisecond),
	)
	p.producers[codec] = client
	return client, err
}

func (p *puppet) produce(ctx context.Context, words []string) (any, error) {
	topic, partition, codec := words[0], int32(number(words[1])), words[2]
	first, count, size := number(words[3]), number(words[4]), int(number(words[5]))
	var records []*kgo.Record
	for n := first; n < first+count; n++ {
		value := fmt.Sprintf("%d:", n)
		value += strings.Repeat(".", max(0, size-len(value)))
		records = append(records, &kgo.Record{
			Topic:     topic,
			Partition: partition,
			Timestamp: time.UnixMilli(firstTimestamp + n),
			Key:       []byte(fmt.Sprintf("k%d", n)),
			Value:     []byte(value),
			Headers:   []kgo.RecordHeader{{Key: "n", Value: []byte(fmt.Sprint(n))}, {Key: "empty", Value: []byte{}}},
		})
	}
	return p.send(ctx, codec, records)
}

func (p *puppet) produceNull(ctx context.Context, words []string) (any, error) {
	offsets, err := p.send(ctx, "none", []*kgo.Record{{Topic: words[0], Partition: int32(number(words[1]))}})
	if err != nil {
		return nil, err
	}
	return offsets[0], nil
}

func (p *puppet) send(ctx context.Context, codec string, records []*kgo.Record) ([]int64, error) {
	producer, err := p.producer(codec)
	if err != nil {
		return nil, err
	}
	var offsets []int64
	for _, result := range producer.ProduceSync(ctx, records...) {
		if result.Err != nil {
			return nil, result.Err
		}
		offsets = append(offsets, result.Record.Offset)
	}
	return offsets, nil
}

func (p *puppet) consume(ctx context.Context, words []string) (any, error) {
	topic, partition := words[0], int32(number(words[1]))
	start := map[int32]kgo.Offset{partition: kgo.NewOffset().At(number(words[2]))}
	client, err := connect(
		p.seed,
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: start}),
	)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	count := int(number(words[3]))
	records := []any{}
	for len(records) < count {
		fetches := client.PollRecords(ctx, count-len(records))
		if err := fetches.Err(); err != nil {
			return nil, err
		}
		fetches.EachRecord(func(record *kgo.Record) { records = append(records, asList(record)) })
	}
	return records, nil
}

func asList(record *kgo.Record) []any {
	headers := []any{}
	for _, header := range record.Headers {
		headers = append(headers, []any{header.Key, text(header.Value)})
	}
	return []any{record.Offset, record.Timestamp.UnixMilli(), text(record.Key), text(record.Value), headers}
}

func text(bytes []byte) any {
	if bytes == nil {
		return nil
	}
	return string(bytes)
}

func (p *puppet) offsetAt(ctx context.Context, words []string) (any, error) {
	listed, err := p.admin.ListOffsetsAfterMilli(ctx, number(words[2]), words[0])
	return offsetOf(listed, err, words[0], words[1])
}

func (p *puppet) ends(ctx context.Context, words []string) (any, error) {
	starts, err := p.admin.ListStartOffsets(ctx, words[0])
	first, err := offsetOf(starts, err, words[0], words[1])
	if err != nil {
		return nil, err
	}
	ends, err := p.admin.ListEndOffsets(ctx, words[0])
	next, err := offsetOf(ends, err, words[0], words[1])
	return []any{first, next}, err
}

func offsetOf(listed kadm.ListedOffsets, err error, topic, partition string) (any, error) {
	if err != nil {
		return nil, err
	}
	found, known := listed.Lookup(topic, int32(number(partition)))
	if !known {
		return nil, fmt.Errorf("no offset for partition %s", partition)
	}
	return found.Offset, found.Err
}

func (p *puppet) deleteRecords(ctx context.Context, words []string) (any, error) {
	offsets := kadm.Offsets{}
	offsets.AddOffset(words[0], int32(number(words[1])), number(words[2]), -1)
	deleted, err := p.admin.DeleteRecords(ctx, offsets)
	if err != nil {
		return nil, err
	}
	return nil, deleted.Error()
}
