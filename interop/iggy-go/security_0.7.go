//go:build iggy_0_7

package main

import "github.com/apache/iggy/foreign/go/client/tcp"

// security is TCP as it is: this release has no TLS.
func security() []tcp.Option {
	return nil
}
