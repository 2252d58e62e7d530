"""Kafka messages: the class is the schema.

``decode`` and ``encode`` turn messages into bytes and back, ``frames`` does the same with their headers,
``api`` holds the requests and responses, ``stored`` what lies in internal logs, ``errors`` the error codes.
"""

from trivium.messages.codec import decode, encode, encode_parts

__all__ = ["decode", "encode", "encode_parts"]
