package main

import (
	"encoding/binary"
	"fmt"
	"strconv"

	iggcon "github.com/apache/iggy/foreign/go/contracts"
	ierror "github.com/apache/iggy/foreign/go/errors"
)

func send(iggy iggcon.Client, words *words, headed bool) error {
	stream, topic, partitioning := words.name(), words.name(), words.partitioning()
	first, count := words.number(), words.number()
	messages := []iggcon.IggyMessage{}
	for number := first; number < first+count; number++ {
		id := [16]byte{}
		binary.LittleEndian.PutUint64(id[:8], number+1)
		options := []iggcon.IggyMessageOpt{iggcon.WithID(id)}
		if headed {
			entry := iggcon.HeaderEntry{
				Key:   must(iggcon.NewHeaderKeyString("n")),
				Value: iggcon.HeaderValue{Kind: iggcon.String, Value: []byte(strconv.FormatUint(number, 10))},
			}
			options = append(options, iggcon.WithUserHeaders([]iggcon.HeaderEntry{entry}))
		}
		messages = append(messages, must(iggcon.NewIggyMessage(fmt.Appendf(nil, "message %d", number), options...)))
	}
	return iggy.SendMessages(stream, topic, partitioning, messages)
}

func poll(iggy iggcon.Client, words *words) (any, error) {
	stream, topic, partition := words.name(), words.name(), words.partition()
	polled, err := iggy.PollMessages(stream, topic, words.consumer(), words.strategy(), words.number32(),
		words.text() == "commit", partition)
	if err != nil {
		return nil, err
	}
	messages := [][]any{}
	for _, each := range polled.Messages {
		headers, err := headersOf(each)
		if err != nil {
			return nil, err
		}
		id := binary.LittleEndian.Uint64(each.Header.Id[:8])
		messages = append(messages, []any{each.Header.Offset, each.Header.Timestamp, id, string(each.Payload), headers})
	}
	return []any{polled.PartitionId, polled.CurrentOffset, messages}, nil
}

func headersOf(message iggcon.IggyMessage) (map[string]string, error) {
	entries, err := iggcon.DeserializeHeaders(message.UserHeaders)
	headers := map[string]string{}
	for _, entry := range entries {
		headers[string(entry.Key.Value)] = string(entry.Value.Value)
	}
	return headers, err
}

func storeOffset(iggy iggcon.Client, words *words) (any, error) {
	stream, topic, partition, consumer := words.name(), words.name(), words.partition(), words.consumer()
	return nil, iggy.StoreConsumerOffset(consumer, stream, topic, words.number(), partition)
}

func deleteOffset(iggy iggcon.Client, words *words) (any, error) {
	stream, topic, partition := words.name(), words.name(), words.partition()
	return nil, iggy.DeleteConsumerOffset(words.consumer(), stream, topic, partition)
}

func offset(iggy iggcon.Client, words *words) (any, error) {
	stream, topic, partition := words.name(), words.name(), words.partition()
	found, err := iggy.GetConsumerOffset(words.consumer(), stream, topic, partition)
	if err != nil || found == nil {
		return nil, err
	}
	return []any{found.PartitionId, found.CurrentOffset, found.StoredOffset}, nil
}

func createGroup(iggy iggcon.Client, words *words) (any, error) {
	created, err := iggy.CreateConsumerGroup(words.name(), words.name(), words.text())
	if err != nil {
		return nil, err
	}
	return created.Id, nil
}

func groups(iggy iggcon.Client, words *words) (any, error) {
	found, err := iggy.GetConsumerGroups(words.name(), words.name())
	return sorted(found, func(each iggcon.ConsumerGroup) string { return each.Name }), err
}

func group(iggy iggcon.Client, words *words) (any, error) {
	found, err := iggy.GetConsumerGroup(words.name(), words.name(), words.name())
	if err != nil {
		return orNothing(nil, err, ierror.ErrConsumerGroupIdNotFound)
	}
	members := [][]uint32{}
	for _, member := range found.Members {
		members = append(members, member.Partitions)
	}
	return []any{found.Name, found.PartitionsCount, members}, nil
}

func joinGroup(iggy iggcon.Client, words *words) (any, error) {
	return nil, iggy.JoinConsumerGroup(words.name(), words.name(), words.name())
}

func leaveGroup(iggy iggcon.Client, words *words) (any, error) {
	return nil, iggy.LeaveConsumerGroup(words.name(), words.name(), words.name())
}

func deleteGroup(iggy iggcon.Client, words *words) (any, error) {
	return nil, iggy.DeleteConsumerGroup(words.name(), words.name(), words.name())
}
