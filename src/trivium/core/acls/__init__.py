"""Kafka's access control lists: what an entry says, which entries count for a question, and changing them."""
