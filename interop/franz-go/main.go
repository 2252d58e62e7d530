// franz-go as a puppet: one command a line in, one line of JSON out (see ../README.md).
//
// This file reads and answers; topics.go, records.go and groups.go hold the commands, security.go how it logs in.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const patience = 60 * time.Second

type puppet struct {
	seed      string
	admin     *kadm.Client
	producers map[string]*kgo.Client
	members   map[string]*member
}

type command func(p *puppet, ctx context.Context, words []string) (any, error)

var commands = map[string]command{
	"create-topic":   (*puppet).createTopic,
	"add-partitions": (*puppet).addPartitions,
	"delete-topic":   (*puppet).deleteTopic,
	"topics":         (*puppet).topics,
	"set-config":     (*puppet).setConfig,
	"get-config":     (*puppet).getConfig,
	"produce":        (*puppet).produce,
	"produce-null":   (*puppet).produceNull,
	"consume":        (*puppet).consume,
	"offset-at":      (*puppet).offsetAt,
	"delete-records": (*puppet).deleteRecords,
	"ends":           (*puppet).ends,
	"join":           (*puppet).join,
	"assignment":     (*puppet).assignment,
	"seen":           (*puppet).seen,
	"leave":          (*puppet).leave,
	"committed":      (*puppet).committed,
	"groups":         (*puppet).groups,
	"members":        (*puppet).memberCount,
	"delete-group":   (*puppet).deleteGroup,
}

func main() {
	seed := os.Args[1]
	client, err := connect(seed)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	p := &puppet{seed, kadm.NewClient(client), map[string]*kgo.Client{}, map[string]*member{}}
	answers := json.NewEncoder(os.Stdout)
	answers.SetEscapeHTML(false)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		_ = answers.Encode(p.answer(strings.Split(lines.Text(), " ")))
	}
}

func (p *puppet) answer(words []string) map[string]any {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	obey, known := commands[words[0]]
	if !known {
		return map[string]any{"unable": "franz-go's puppet does not know " + words[0]}
	}
	found, err := obey(p, ctx, words[1:])
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"ok": found}
}

// number reads a word that a test wrote; a wrong one is a mistake in the test.
func number(word string) int64 {
	value, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		panic(err)
	}
	return value
}
