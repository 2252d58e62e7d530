"""Recording through Kafka's protocol, on plain frames and without retries: what is unknown stays unknown."""

from collections import Counter
from dataclasses import replace
from random import Random

from tests.contract.door import RefusedByDoor
from tests.contract.kafka_door import KafkaClient
from tests.testing.history.payload import payload_of, value_of
from trivium.messages.api import ApiKey
from trivium.messages.api.fetch import FetchPartition, FetchRequest, FetchTopic
from trivium.messages.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from trivium.messages.errors import ErrorCode
from trivium.records.batch import build_batch, check_batches, iter_records
from trivium.records.compression import Compression
from trivium.records.record import Record as KafkaRecord
from trivium.records.visibility import Visibility
from trivium.testing.history import Commit, Committed, Poll, Record, Send

FIRST_TIMESTAMP_MS = 1_700_000_000_000
FETCH_BYTES = 1 << 18


class KafkaPeer(KafkaClient):
    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._sequences: Counter[tuple[str, int, str, int]] = Counter()
        """How many records each producer has sent, by epoch and partition."""

    def send(self, send: Send, choice: Random) -> Send:
        records = [
            KafkaRecord(
                0,
                FIRST_TIMESTAMP_MS + choice.randrange(1_000_000),
                choice.choice((None, value.encode())),
                payload_of(value),
                choice.choice(((), (("from", b"kafka"), ("number", bytes([choice.randrange(256)]))))),
            )
            for value in send.values
        ]
        compression = choice.choice((Compression.NONE, Compression.LZ4))
        if send.producer is None or send.epoch is None:
            batch = build_batch(records, compression=compression)
        else:
            key = (send.producer, send.epoch, send.topic, send.partition)
            batch = build_batch(
                records,
                compression=compression,
                producer_id=int(send.producer),
                producer_epoch=send.epoch,
                base_sequence=self._sequences[key],
            )
            self._sequences[key] += len(records)
        data = PartitionProduceData(index=send.partition, records=batch)
        request = ProduceRequest(
            acks=choice.choice((1, -1)),
            timeout_ms=20_000,
            topic_data=[TopicProduceData(name=send.topic, partition_data=[data])],
        )
        answer = self._ask(ApiKey.PRODUCE, request, 9).responses[0].partition_responses[0]
        _check(answer.error_code)
        first: int = answer.base_offset
        return replace(send, offsets=tuple(range(first, first + len(send.values))))

    def poll(self, poll: Poll) -> Poll:
        wanted = FetchPartition(
            partition=poll.partition, fetch_offset=poll.offset, partition_max_bytes=FETCH_BYTES
        )
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            isolation_level=int(poll.committed),
            topics=[FetchTopic(topic=poll.topic, partitions=[wanted])],
        )
        (answer,) = self._ask(ApiKey.FETCH, request, 11).responses[0].partitions
        _check(answer.error_code)
        data = bytes(answer.records or b"")
        batches = check_batches(data)
        visibility = Visibility(answer.aborted_transactions or ())
        records = tuple(
            _shown(record)
            for position, header in batches
            if visibility.sees(data, position, header)
            for record in iter_records(data, position)
            if record.offset >= poll.offset
        )
        return replace(
            poll,
            records=records,
            next=batches[-1][1].last_offset + 1 if batches else poll.offset,
            watermark=answer.high_watermark,
            stable=answer.last_stable_offset,
            start=answer.log_start_offset,
        )

    def store_offset(self, commit: Commit) -> None:
        self.commit(commit.group, commit.topic, commit.partition, commit.offset)

    def stored_offset(self, committed: Committed) -> Committed:
        return replace(
            committed, offset=self.committed(committed.group, committed.topic, committed.partition)
        )


def _shown(record: KafkaRecord) -> Record:
    """What only Iggy's clients want to know is left out of the comparison."""
    headers = [(name, (value or b"").hex()) for name, value in record.headers if not name.startswith("iggy.")]
    if record.key is not None:
        headers.insert(0, ("key", record.key.hex()))
    return Record(record.offset, value_of(record.value or b""), record.timestamp, tuple(headers))


def _check(error_code: int) -> None:
    if error_code:
        raise RefusedByDoor(ErrorCode(error_code).name)
