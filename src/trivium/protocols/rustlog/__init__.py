"""RustLog's door: frames of JSON, of MessagePack, or of the binary form that RustLog's own broker speaks."""
