"""Client quotas: what each client may use of a broker in a second, and what becomes of those who use more."""
