"""Idempotent producers: each batch counts once, in the order of its sequence (promise R13).

A producer numbers its records per partition, from 0 up to 2**31 - 1 and then from 0 again, anew in every
epoch. What the log holds decides: a batch that it has among the producer's last five is the same batch sent
again and gets the same answer; any other must go on exactly where the last one ended. The log is asked and
changed in one step of one thread, so five requests in flight are judged one after the other.
"""

from typing import Final

from trivium.core.faults import Fault, Refused
from trivium.core.ports import ProducedFacts, ProducerFacts
from trivium.records.batch import NO_PRODUCER_EPOCH, BatchHeader

_SEQUENCES: Final = 2**31


def is_ongoing(facts: ProducerFacts | None, header: BatchHeader) -> bool:
    """Whether the producer has an open transaction in the partition, and this batch is of the same life."""
    return facts is not None and facts.txn_first_offset is not None and facts.epoch == header.producer_epoch


def earlier_copy(
    facts: ProducerFacts | None,
    header: BatchHeader,
    *,
    is_admitted: bool = False,
    is_beginning: bool = False,
) -> ProducedFacts | None:
    """The batch in the log that this one repeats; None if it is new and may follow. Otherwise ``Refused``.

    ``is_admitted``: the coordinator knows that the producer's transaction has come to this partition.
    ``is_beginning``: by this very batch (KIP-890), so that its epoch has nothing before it here.
    """
    if header.is_transactional and not is_admitted and not is_ongoing(facts, header):
        raise Refused(
            Fault.INVALID_TXN_STATE,
            f"Producer {header.producer_id} has no transaction on this partition: begin one first.",
        )
    if facts is None:
        # Nothing is known, be it that the producer is new or that retention took its records with its
        # past: any sequence may come first, but in an epoch that begins here.
        if is_beginning and header.base_sequence != 0:
            raise _out_of_order(header, 0)
        return None
    copy = facts.duplicate_of(header)
    if copy is None:
        _check_epoch(facts, header)
        _check_sequence(facts, header)
        if facts.txn_first_offset is not None and not header.is_transactional:
            raise Refused(
                Fault.INVALID_TXN_STATE,
                f"Producer {header.producer_id} has an open transaction here and writes outside of it.",
            )
    return copy


def _check_epoch(facts: ProducerFacts, header: BatchHeader) -> None:
    if header.producer_epoch < facts.epoch:
        raise Refused(
            Fault.INVALID_PRODUCER_EPOCH,
            f"Producer {header.producer_id} sends with epoch {header.producer_epoch}, not {facts.epoch}.",
        )


def _check_sequence(facts: ProducerFacts, header: BatchHeader) -> None:
    if facts.epoch == NO_PRODUCER_EPOCH:
        return
    last = facts.last_sequence if header.producer_epoch == facts.epoch else -1
    expected = (last + 1) % _SEQUENCES
    if header.base_sequence != expected:
        raise _out_of_order(header, expected)


def _out_of_order(header: BatchHeader, expected: int) -> Refused:
    return Refused(
        Fault.OUT_OF_ORDER_SEQUENCE,
        f"Producer {header.producer_id} sends sequence {header.base_sequence}, {expected} comes next.",
    )
