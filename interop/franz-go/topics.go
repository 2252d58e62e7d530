package main

import (
	"context"
	"sort"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
)

func (p *puppet) createTopic(ctx context.Context, words []string) (any, error) {
	settings := map[string]*string{}
	for _, word := range words[2:] {
		name, value, _ := strings.Cut(word, "=")
		settings[name] = &value
	}
	created, err := p.admin.CreateTopic(ctx, int32(number(words[1])), 1, settings, words[0])
	if err != nil {
		return nil, err
	}
	return nil, created.Err
}

func (p *puppet) addPartitions(ctx context.Context, words []string) (any, error) {
	changed, err := p.admin.UpdatePartitions(ctx, int(number(words[1])), words[0])
	if err != nil {
		return nil, err
	}
	return nil, changed.Error()
}

func (p *puppet) deleteTopic(ctx context.Context, words []string) (any, error) {
	deleted, err := p.admin.DeleteTopics(ctx, words[0])
	if err != nil {
		return nil, err
	}
	return nil, deleted.Error()
}

func (p *puppet) topics(ctx context.Context, _ []string) (any, error) {
	found, err := p.admin.ListTopics(ctx)
	if err != nil {
		return nil, err
	}
	names := found.Names()
	sort.Strings(names)
	return names, nil
}

func (p *puppet) setConfig(ctx context.Context, words []string) (any, error) {
	change := kadm.AlterConfig{Op: kadm.SetConfig, Name: words[1], Value: &words[2]}
	altered, err := p.admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{change}, words[0])
	if err != nil {
		return nil, err
	}
	for _, each := range altered {
		if each.Err != nil {
			return nil, each.Err
		}
	}
	return nil, nil
}

func (p *puppet) getConfig(ctx context.Context, words []string) (any, error) {
	described, err := p.admin.DescribeTopicConfigs(ctx, words[0])
	if err != nil {
		return nil, err
	}
	resource, err := described.On(words[0], nil)
	if err != nil {
		return nil, err
	}
	for _, each := range resource.Configs {
		if each.Key == words[1] {
			return each.MaybeValue(), nil
		}
	}
	return nil, nil
}
