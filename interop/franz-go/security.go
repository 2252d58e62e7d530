// How the puppet proves itself, and whom it trusts: from its environment (see ../README.md).
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// connect makes a client; every one of the puppet's is made here.
func connect(seed string, options ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append(append(security(), kgo.SeedBrokers(seed)), options...)...)
}

// security gives the options that every client of the puppet has; a wrong environment is a mistake in the test.
func security() []kgo.Opt {
	var options []kgo.Opt
	if path := os.Getenv("PUPPET_CA"); path != "" {
		text, err := os.ReadFile(path)
		authorities := x509.NewCertPool()
		if err != nil || !authorities.AppendCertsFromPEM(text) {
			panic(fmt.Sprint("no certificates in ", path))
		}
		options = append(options, kgo.DialTLSConfig(&tls.Config{RootCAs: authorities}))
	}
	if login := os.Getenv("PUPPET_LOGIN"); login != "" {
		words := strings.Split(login, " ")
		options = append(options, kgo.SASL(mechanism(words[0], words[1], words[2])))
	}
	return options
}

func mechanism(name, user, password string) sasl.Mechanism {
	switch name {
	case "PLAIN":
		return plain.Auth{User: user, Pass: password}.AsMechanism()
	case "SCRAM-SHA-256":
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism()
	case "SCRAM-SHA-512":
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism()
	}
	panic("franz-go's puppet does not know " + name)
}
