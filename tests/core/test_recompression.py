"""``compression.type`` of a topic: batches lie in the log as it says, and nothing else about them changes."""

import pytest

from tests.core.batches import batch, fetch, produce, values, writing_world
from tests.core.fakes import NOW_MS
from trivium.core.commands.records import FetchPart
from trivium.core.faults import Fault
from trivium.records.batch import check_batches
from trivium.records.compression import Compression

CODECS = {
    "uncompressed": Compression.NONE,
    "gzip": Compression.GZIP,
    "snappy": Compression.SNAPPY,
    "lz4": Compression.LZ4,
    "zstd": Compression.ZSTD,
}


@pytest.mark.parametrize("source", list(Compression))
@pytest.mark.parametrize("target", CODECS)
def test_batch_is_stored_as_the_topic_prescribes(target: str, source: Compression) -> None:
    """003.31: compression at batch level, all five types."""
    world = writing_world()
    world.create_topic("packed", compression_type=target)
    sent = batch(b"one", b"two", compression=source, producer_id=9, producer_epoch=3, base_sequence=0)
    assert produce(world, sent, topic="packed").fault is None
    (part,) = world.execute(fetch(FetchPart("packed", 0, 0, 1 << 20)))
    ((_, header),) = check_batches(part.runs[0])
    assert header.compression is CODECS[target]
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 3, 0)
    assert (header.base_timestamp, header.max_timestamp) == (NOW_MS, NOW_MS + 1)
    assert values(part) == [b"one", b"two"]


def test_batch_is_left_alone_where_the_producer_decides() -> None:
    world = writing_world()
    sent = batch(b"one" * 100, compression=Compression.GZIP)
    produce(world, sent)
    (part,) = world.execute(fetch(FetchPart("t", 0, 0, 1 << 20)))
    assert bytes(part.runs[0])[17:] == sent[17:]


def test_batch_that_grows_too_large_by_unpacking_is_refused() -> None:
    world = writing_world()
    world.create_topic("plain", compression_type="uncompressed", max_message_bytes="1000")
    result = produce(world, batch(bytes(5_000), compression=Compression.ZSTD), topic="plain")
    assert result.fault is Fault.MESSAGE_TOO_LARGE
    assert world.log("plain").log_end_offset == 0


def test_repacked_batch_is_still_known_when_it_comes_again() -> None:
    """R13: a retry is recognised whatever was done to the first."""
    world = writing_world()
    world.create_topic("packed", compression_type="zstd")
    sent = batch(b"one", producer_id=9, producer_epoch=0, base_sequence=0)
    assert produce(world, sent, topic="packed").base_offset == 0
    assert produce(world, sent, topic="packed").base_offset == 0
    assert world.log("packed").log_end_offset == 1


def test_batches_of_several_compressions_are_made_one() -> None:
    """Other protocols may send several at a time."""
    world = writing_world()
    world.create_topic("packed", compression_type="gzip")
    sent = batch(b"one", compression=Compression.GZIP) + batch(b"two", b"three")
    assert produce(world, sent, topic="packed").base_offset == 0
    (part,) = world.execute(fetch(FetchPart("packed", 0, 0, 1 << 20)))
    codecs = [header.compression for run in part.runs for _, header in check_batches(run)]
    assert codecs == [Compression.GZIP, Compression.GZIP]
    assert values(part) == [b"one", b"two", b"three"]


@pytest.mark.parametrize(("codec", "weak", "strong"), [("gzip", 1, 9), ("lz4", 9, 17), ("zstd", -50, 22)])
def test_level_of_the_topic_says_how_hard_the_codec_tries(codec: str, weak: int, strong: int) -> None:
    """``compression.<codec>.level``. The default of lz4, 9, is its quick compressor, as in Kafka."""
    world = writing_world()
    text = b" ".join(b"%d bottles of %x" % (number % 97, number * number) for number in range(5_000))
    sizes = []
    for level in (weak, strong):
        topic = f"level{level}"
        world.create_topic(topic, 1, **{"compression_type": codec, f"compression_{codec}_level": str(level)})
        assert produce(world, batch(text), topic=topic).fault is None
        sizes.append(world.log(topic).size_bytes)
        (part,) = world.execute(fetch(FetchPart(topic, 0, 0, 1 << 20)))
        assert values(part) == [text]
    assert sizes[1] < sizes[0] * 0.95
