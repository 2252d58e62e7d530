//go:build !iggy_0_7

package main

import (
	"os"

	"github.com/apache/iggy/foreign/go/client/tcp"
)

// security is TLS if PUPPET_CA names the authority to trust.
func security() []tcp.Option {
	if authority := os.Getenv("PUPPET_CA"); authority != "" {
		return []tcp.Option{tcp.WithTLS(tcp.WithTLSCAFile(authority))}
	}
	return nil
}
