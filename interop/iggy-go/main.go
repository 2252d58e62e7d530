// Iggy's Go client as a puppet: one command a line in, one line of JSON out (see ../README.md).
//
// This file reads and answers; people.go, places.go and messages.go hold the commands, words.go what they are
// made of. The same program is built with each release: with 0.8 from go.mod, with 0.7 from 0.7.mod and the tag
// iggy_0_7, for whom security.go has nothing to offer.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"log"
	"os"
	"strings"

	"github.com/apache/iggy/foreign/go/client"
	"github.com/apache/iggy/foreign/go/client/tcp"
	iggcon "github.com/apache/iggy/foreign/go/contracts"
	ierror "github.com/apache/iggy/foreign/go/errors"
)

type command func(iggy iggcon.Client, words *words) (any, error)

var commands = map[string]command{
	"ping":    func(iggy iggcon.Client, _ *words) (any, error) { return nil, iggy.Ping() },
	"stats":   stats,
	"client":  clientOf,
	"clients": clients,
	"cluster": cluster,

	"login":           login,
	"login-token":     loginToken,
	"logout":          func(iggy iggcon.Client, _ *words) (any, error) { return nil, iggy.LogoutUser() },
	"create-user":     createUser,
	"users":           users,
	"user":            user,
	"rename-user":     renameUser,
	"disable-user":    disableUser,
	"permit-user":     permitUser,
	"change-password": changePassword,
	"delete-user":     deleteUser,
	"create-token":    createToken,
	"tokens":          tokens,
	"delete-token":    deleteToken,

	"create-stream":     createStream,
	"streams":           streams,
	"stream":            stream,
	"rename-stream":     renameStream,
	"delete-stream":     deleteStream,
	"create-topic":      createTopic,
	"topics":            topics,
	"topic":             topic,
	"rename-topic":      renameTopic,
	"delete-topic":      deleteTopic,
	"add-partitions":    addPartitions,
	"remove-partitions": removePartitions,

	"send":          func(iggy iggcon.Client, words *words) (any, error) { return nil, send(iggy, words, false) },
	"send-headed":   func(iggy iggcon.Client, words *words) (any, error) { return nil, send(iggy, words, true) },
	"poll":          poll,
	"store-offset":  storeOffset,
	"delete-offset": deleteOffset,
	"offset":        offset,
	"create-group":  createGroup,
	"groups":        groups,
	"group":         group,
	"join-group":    joinGroup,
	"leave-group":   leaveGroup,
	"delete-group":  deleteGroup,
}

func main() {
	options := append(security(), tcp.WithServerAddress(os.Args[1]))
	iggy, err := client.NewIggyClient(client.WithTcp(options...))
	if err != nil {
		log.Fatal(err)
	}
	answers := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		_ = answers.Encode(answer(iggy, lines.Text()))
	}
}

func answer(iggy iggcon.Client, line string) map[string]any {
	words := &words{rest: strings.Fields(line)}
	obey, known := commands[words.text()]
	if !known {
		return map[string]any{"unable": "this client has no such command"}
	}
	found, err := obey(iggy, words)
	var refusal ierror.IggyError
	switch {
	case err == nil:
		return map[string]any{"ok": found}
	case errors.As(err, &refusal):
		return map[string]any{"error": refusal.Code()}
	default:
		return map[string]any{"error": err.Error()}
	}
}

// orNothing turns what the client makes of an empty answer, the server's "there is no such thing", into null.
func orNothing(found any, err error, absent error) (any, error) {
	if errors.Is(err, absent) {
		return nil, nil
	}
	return found, err
}

func stats(iggy iggcon.Client, _ *words) (any, error) {
	found, err := iggy.GetStats()
	if err != nil {
		return nil, err
	}
	return []any{found.StreamsCount, found.TopicsCount, found.PartitionsCount, found.MessagesCount}, nil
}

func clientOf(iggy iggcon.Client, words *words) (any, error) {
	found, err := iggy.GetClient(words.number32())
	if err != nil {
		return nil, err
	}
	return []any{found.ID, found.UserID, found.Transport, found.ConsumerGroupsCount}, nil
}

func clients(iggy iggcon.Client, _ *words) (any, error) {
	found, err := iggy.GetClients()
	return sorted(found, func(each iggcon.ClientInfo) uint32 { return each.ID }), err
}

func cluster(iggy iggcon.Client, _ *words) (any, error) {
	found, err := iggy.GetClusterMetadata()
	if err != nil {
		return nil, err
	}
	addresses := []string{}
	for _, node := range found.Nodes {
		addresses = append(addresses, joined(node.IP, node.Endpoints.Tcp))
	}
	return addresses, nil
}
