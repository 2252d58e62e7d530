"""Strategies: any record that a client could send, any batch made of them, and damage."""

from hypothesis import strategies as st

from trivium.records.batch import build_batch
from trivium.records.compression import Compression
from trivium.records.record import Header, Record

BLOBS = st.none() | st.binary(max_size=40) | st.binary(min_size=120, max_size=200)

TIMESTAMPS = st.integers(-1, 2**44) | st.sampled_from([-1, 0, 1_750_000_000_000, 2**62])

# Any bytes may name a header. What is not UTF-8 arrives as lone surrogates.
HEADER_NAMES = st.binary(max_size=12).map(lambda name: name.decode("utf-8", "surrogateescape"))

HEADERS: st.SearchStrategy[tuple[Header, ...]] = st.lists(
    st.tuples(HEADER_NAMES, st.none() | st.binary(max_size=20)), max_size=4
).map(tuple)

RECORDS = st.builds(Record, st.just(0), TIMESTAMPS, BLOBS, BLOBS, HEADERS)

RECORD_LISTS = st.lists(RECORDS, min_size=1, max_size=12).map(
    lambda records: [record._replace(offset=offset) for offset, record in enumerate(records)]
)

COMPRESSIONS = st.sampled_from(list(Compression))

BATCHES = st.builds(
    lambda records, compression: build_batch(records, compression=compression), RECORD_LISTS, COMPRESSIONS
)
