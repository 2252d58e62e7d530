"""The only room with sockets, threads and the wall clock. ``node`` puts the broker together."""
