"""Sans-IO sessions, one folder per protocol: bytes to commands, results to bytes. No sockets, no log."""
