"""The one log: Kafka's directory layout on disk. Only ``files`` touches the operating system."""
