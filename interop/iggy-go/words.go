package main

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	iggcon "github.com/apache/iggy/foreign/go/contracts"
)

// words of one command, taken one after the other. A word that is not what it should be ends the program: the
// tests, which write them, are wrong then.
type words struct {
	rest []string
}

func (w *words) text() string {
	first := w.rest[0]
	w.rest = w.rest[1:]
	return first
}

func (w *words) number() uint64 {
	return parsed(w.text())
}

func (w *words) number32() uint32 {
	return uint32(w.number())
}

// name of a stream, a topic, a group or a user.
func (w *words) name() iggcon.Identifier {
	return must(iggcon.NewIdentifier(w.text()))
}

// partition is a number, or "-" for whichever the server chooses.
func (w *words) partition() *uint32 {
	word := w.text()
	if word == "-" {
		return nil
	}
	number := uint32(parsed(word))
	return &number
}

func (w *words) consumer() iggcon.Consumer {
	kind, id, _ := strings.Cut(w.text(), ":")
	if kind == "group" {
		return iggcon.NewGroupConsumer(must(iggcon.NewIdentifier(id)))
	}
	return iggcon.NewSingleConsumer(must(iggcon.NewIdentifier(uint32(parsed(id)))))
}

func (w *words) partitioning() iggcon.Partitioning {
	kind, value, _ := strings.Cut(w.text(), ":")
	switch kind {
	case "partition":
		return iggcon.PartitionId(uint32(parsed(value)))
	case "key":
		return must(iggcon.EntityIdString(value))
	default:
		return iggcon.None()
	}
}

func (w *words) strategy() iggcon.PollingStrategy {
	kind, value, _ := strings.Cut(w.text(), ":")
	switch kind {
	case "offset":
		return iggcon.OffsetPollingStrategy(parsed(value))
	case "timestamp":
		return iggcon.TimestampPollingStrategy(parsed(value))
	case "first":
		return iggcon.FirstPollingStrategy()
	case "last":
		return iggcon.LastPollingStrategy()
	default:
		return iggcon.NextPollingStrategy()
	}
}

// permissions are "all", "poll" (read topics and poll them, everywhere) or "none".
func (w *words) permissions() *iggcon.Permissions {
	word := w.text()
	if word == "none" {
		return nil
	}
	all := word == "all"
	return &iggcon.Permissions{Global: iggcon.GlobalPermissions{
		ManageServers: all, ReadServers: all, ManageUsers: all, ReadUsers: all, ManageStreams: all,
		ReadStreams: all, ManageTopics: all, ReadTopics: true, PollMessages: true, SendMessages: all,
	}}
}

func parsed(word string) uint64 {
	return must(strconv.ParseUint(word, 10, 64))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// sorted gives one thing of each, never null.
func sorted[T any, K cmp.Ordered](found []T, key func(T) K) []K {
	keys := []K{}
	for _, each := range found {
		keys = append(keys, key(each))
	}
	slices.Sort(keys)
	return keys
}

func joined(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}
