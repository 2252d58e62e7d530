package main

import (
	iggcon "github.com/apache/iggy/foreign/go/contracts"
	ierror "github.com/apache/iggy/foreign/go/errors"
)

func createStream(iggy iggcon.Client, words *words) (any, error) {
	created, err := iggy.CreateStream(words.text())
	if err != nil {
		return nil, err
	}
	return created.Id, nil
}

func streams(iggy iggcon.Client, _ *words) (any, error) {
	found, err := iggy.GetStreams()
	return sorted(found, func(each iggcon.Stream) string { return each.Name }), err
}

func stream(iggy iggcon.Client, words *words) (any, error) {
	found, err := iggy.GetStream(words.name())
	if err != nil {
		return orNothing(nil, err, ierror.ErrStreamIdNotFound)
	}
	return []any{found.Name, found.TopicsCount, found.MessagesCount}, nil
}

func renameStream(iggy iggcon.Client, words *words) (any, error) {
	return nil, iggy.UpdateStream(words.name(), words.text())
}

func deleteStream(iggy iggcon.Client, words *words) (any, error) {
	return nil, iggy.DeleteStream(words.name())
}

func createTopic(iggy iggcon.Client, words *words) (any, error) {
	created, err := iggy.CreateTopic(words.name(), words.text(), words.number32(),
		iggcon.CompressionAlgorithmNone, iggcon.IggyExpiryServerDefault, 0, nil)
	if err != nil {
		return nil, err
	}
	return created.Id, nil
}

func topics(iggy iggcon.Client, words *words) (any, error) {
	found, err := iggy.GetTopics(words.name())
	return sorted(found, func(each iggcon.Topic) string { return each.Name }), err
}

func topic(iggy iggcon.Client, words *words) (any, error) {
	found, err := iggy.GetTopic(words.name(), words.name())
	if err != nil {
		return orNothing(nil, err, ierror.ErrTopicIdNotFound)
	}
	counts := []uint64{}
	for _, partition := range found.Partitions {
		counts = append(counts, partition.MessagesCount)
	}
	return []any{found.Name, found.PartitionsCount, found.MessagesCount, counts}, nil
}

func renameTopic(iggy iggcon.Client, words *words) (any, error) {
	return nil, iggy.UpdateTopic(words.name(), words.name(), words.text(),
		iggcon.CompressionAlgorithmNone, iggcon.IggyExpiryServerDefault, 0, nil)
}

func deleteTopic(iggy iggcon.Client, words *words) (any, error) {
	return nil, iggy.DeleteTopic(words.name(), words.name())
}

func addPartitions(iggy iggcon.Client, words *words) (any, error) {
	return nil, iggy.CreatePartitions(words.name(), words.name(), words.number32())
}

func removePartitions(iggy iggcon.Client, words *words) (any, error) {
	return nil, iggy.DeletePartitions(words.name(), words.name(), words.number32())
}
