package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A member of a group polls and commits on its own until it is told to leave.
type member struct {
	client *kgo.Client
	done   chan struct{}

	mutex    sync.Mutex
	assigned []int32
	read     [][2]int64
}

func (p *puppet) join(_ context.Context, words []string) (any, error) {
	name, group, topic := words[0], words[1], words[2]
	m := &member{done: make(chan struct{})}
	options := []kgo.Opt{
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.AutoCommitInterval(100 * time.Millisecond),
		kgo.HeartbeatInterval(300 * time.Millisecond),
		kgo.OnPartitionsAssigned(m.note(topic, func(had, now []int32) []int32 { return append(had, now...) })),
		kgo.OnPartitionsRevoked(m.note(topic, without)),
		kgo.OnPartitionsLost(m.note(topic, without)),
	}
	if len(words) > 3 {
		// The broker shares the work (KIP-848).
		options = append(options, kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer()))
	}
	client, err := connect(p.seed, options...)
	if err != nil {
		return nil, err
	}
	m.client = client
	p.members[name] = m
	go m.poll()
	return nil, nil
}

func without(had, gone []int32) []int32 {
	return slices.DeleteFunc(had, func(each int32) bool { return slices.Contains(gone, each) })
}

func (m *member) note(topic string, change func(had, given []int32) []int32) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(_ context.Context, _ *kgo.Client, given map[string][]int32) {
		m.mutex.Lock()
		defer m.mutex.Unlock()
		m.assigned = change(m.assigned, given[topic])
	}
}

func (m *member) poll() {
	defer close(m.done)
	for {
		fetches := m.client.PollFetches(context.Background())
		if fetches.IsClientClosed() {
			return
		}
		m.mutex.Lock()
		fetches.EachRecord(func(record *kgo.Record) {
			m.read = append(m.read, [2]int64{int64(record.Partition), record.Offset})
		})
		m.mutex.Unlock()
	}
}

func (p *puppet) assignment(_ context.Context, words []string) (any, error) {
	m := p.members[words[0]]
	m.mutex.Lock()
	defer m.mutex.Unlock()
	partitions := append([]int32{}, m.assigned...)
	slices.Sort(partitions)
	return partitions, nil
}

func (p *puppet) seen(_ context.Context, words []string) (any, error) {
	m := p.members[words[0]]
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return append([][2]int64{}, m.read...), nil
}

func (p *puppet) leave(ctx context.Context, words []string) (any, error) {
	m := p.members[words[0]]
	delete(p.members, words[0])
	if err := m.client.CommitUncommittedOffsets(ctx); err != nil {
		return nil, err
	}
	m.client.Close()
	<-m.done
	return nil, nil
}

func (p *puppet) committed(ctx context.Context, words []string) (any, error) {
	found, err := p.admin.FetchOffsets(ctx, words[0])
	for errors.Is(err, io.EOF) && ctx.Err() == nil {
		// Looking for a coordinator, franz-go reports the end of a connection that a restarted broker has left
		// behind, and does not ask again by itself (seen with Apache Kafka as well).
		found, err = p.admin.FetchOffsets(ctx, words[0])
	}
	if err != nil {
		return nil, err
	}
	offsets := map[string]int64{}
	for partition, each := range found[words[1]] {
		if each.Err != nil {
			return nil, each.Err
		}
		offsets[fmt.Sprint(partition)] = each.At
	}
	return offsets, nil
}

func (p *puppet) groups(ctx context.Context, _ []string) (any, error) {
	found, err := p.admin.ListGroups(ctx)
	if err != nil {
		return nil, err
	}
	return found.Groups(), nil
}

func (p *puppet) memberCount(ctx context.Context, words []string) (any, error) {
	found, err := p.admin.DescribeGroups(ctx, words[0])
	if err != nil {
		return nil, err
	}
	return len(found[words[0]].Members), found[words[0]].Err
}

func (p *puppet) deleteGroup(ctx context.Context, words []string) (any, error) {
	deleted, err := p.admin.DeleteGroup(ctx, words[0])
	if err != nil {
		return nil, err
	}
	return nil, deleted.Err
}
