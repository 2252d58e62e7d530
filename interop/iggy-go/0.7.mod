module trivium/interop/iggy-go

go 1.25.0

require github.com/apache/iggy/foreign/go v0.7.0

require (
	github.com/avast/retry-go v3.0.0+incompatible // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/klauspost/compress v1.17.11 // indirect
)
