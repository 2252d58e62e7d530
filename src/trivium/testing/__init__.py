"""Shipped for tests, ours and our users': a fake disk that crashes on demand."""
