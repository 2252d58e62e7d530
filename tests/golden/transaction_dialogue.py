"""What producers may ask of a transaction coordinator, mostly wrong: stale epochs, wrong states, unknown ids,
partitions that are not in the transaction, offsets of other generations. Told as ``group_dialogue`` tells.
"""

from collections.abc import Callable
from typing import Any, Final

from tests.golden.group_dialogue import join, sync
from tests.golden.transaction_talk import (
    Producer,
    TransactionTalk,
    describe,
    init,
    list_those,
    mark,
    offsets,
    producers_of,
)

from trivium.messages.api.end_txn import EndTxnRequest

WRONG: Final[dict[str, dict[str, Any]]] = {
    "in an older epoch": {"ahead": -1},
    "in a newer epoch": {"ahead": 1},
    "by a stranger": {"stranger": True},
}


def twice_begun(talk: TransactionTalk, name: str) -> Producer:
    """A producer whose epoch is not the first one, so that there is an older one."""
    Producer(talk, name)
    talk.answers.pop(f"{name} begins")
    return Producer(talk, name)


# -- dialogues -------------------------------------------------------------------------------------


def initializing(talk: TransactionTalk) -> None:
    for version in range(6):
        talk.ask(f"no name, version {version}", init(""), version)
        talk.ask(f"no time, version {version}", init("tx", 0), version)
        talk.ask(f"too much time, version {version}", init("tx", 900_001), version)
    talk.ask("less than no time", init("tx", -1), 5)
    talk.ask("a producer id alone", init("tx", producer_id=5), 5)
    talk.ask("an epoch alone", init("tx", producer_epoch=5), 5)
    talk.ask("a past of nobody", init("tx", producer_id=4000, producer_epoch=5), 5)
    talk.ask("nobody came", describe("no"), 0)
    one = Producer(talk, "one")
    talk.ask("with its past", one.init(one.producer_id, 0), 5)
    talk.ask("the same once more", one.init(one.producer_id, 0), 5)
    talk.ask("with its new past", one.init(one.producer_id, 1), 5)
    talk.ask("with a past too old", one.init(one.producer_id, 0), 5)
    talk.ask("with a past to come", one.init(one.producer_id, 9), 5)
    talk.ask("with the past of a stranger", one.init(one.producer_id + 1000, 2), 5)
    talk.ask("with a past too old, version 3", one.init(one.producer_id, 0), 3)
    talk.ask("described", describe("one"), 0)


def adding(talk: TransactionTalk) -> None:
    one = twice_begun(talk, "one")
    for version in (0, 1, 2, 3):
        for what, fields in WRONG.items():
            talk.ask(f"added {what}, version {version}", one.add(**fields), version)
        nobody = one.add()
        nobody.v3_and_below_transactional_id = "nobody"
        talk.ask(f"added by nobody, version {version}", nobody, version)
        talk.ask(f"added, no such topic, version {version}", one.add("no"), version)
        talk.ask(f"added, no such partition, version {version}", one.add("t", 7), version)
    for version in (4, 5):
        for what, fields in WRONG.items():
            talk.ask(f"added in a batch {what}, version {version}", one.in_batch(**fields), version)
            talk.ask(f"verified {what}, version {version}", one.in_batch(verifies=True, **fields), version)
        talk.ask(f"verified outside, version {version}", one.in_batch(verifies=True), version)
        talk.ask(f"added in a batch, no such topic, version {version}", one.in_batch("no"), version)
    talk.ask("nothing has changed", describe("one"), 0)
    talk.ask("added", one.add(), 3)
    talk.ask("added again", one.add(), 3)
    talk.ask("verified", one.in_batch(verifies=True), 5)
    talk.ask("verified another partition", one.in_batch("two", 1, verifies=True), 5)
    talk.ask("described", describe("one"), 0)


def writing(talk: TransactionTalk) -> None:
    one = twice_begun(talk, "one")
    talk.ask("written without being added", one.write(), 11)
    talk.ask("written without being added, version 9", one.write(), 9)
    for what, fields in WRONG.items():
        talk.ask(f"joined {what}", one.write(**fields), 12)
        talk.ask(f"written {what}", one.write(**fields), 11)
    talk.ask("written without a name", one.write(named=False), 12)
    talk.ask("nothing has changed", describe("one"), 0)
    talk.ask("joined by a gap", one.write(skips=5), 12)
    one.ends("aborted after the gap", commits=False)
    talk.ask("joined", one.write(), 12)
    one.sequence = 1
    talk.ask("a gap", one.write(skips=5), 12)
    talk.ask("no such partition", one.write(partition=7), 12)
    one.ends("committed")
    talk.ask("written late", one.write(ahead=-1), 12)
    talk.ask("written late, version 11", one.write(ahead=-1), 11)
    talk.ask("described", describe("one"), 0)


def committing(talk: TransactionTalk) -> None:
    one = twice_begun(talk, "one")
    for what, fields in WRONG.items():
        talk.ask(f"group added {what}", one.add_group(**fields), 4)
        for version in (0, 3, 4, 5):
            talk.ask(f"offset {what}, version {version}", one.commit_offset(**fields), version)
    talk.ask("group added, version 0, in an older epoch", one.add_group(ahead=-1), 0)
    talk.ask("group without a name added", one.add_group(""), 4)
    for version in (3, 4):
        talk.ask(f"offset of a group outside, version {version}", one.commit_offset(), version)
    talk.ask("nothing has changed", describe("one"), 0)
    told = talk.ask("a member", join(), 9)
    member = talk.ask("it joins", join(told.member_id), 9)
    talk.ask("it syncs", sync(member), 5)
    talk.ask("group added", one.add_group(), 4)
    generation = member.generation_id
    members: dict[str, dict[str, Any]] = {
        "of an older generation": {"generation_id": generation - 1, "member_id": member.member_id},
        "of a later generation": {"generation_id": generation + 1, "member_id": member.member_id},
        "of a stranger": {"generation_id": generation, "member_id": "stranger"},
        "of another instance": {
            "generation_id": generation,
            "member_id": member.member_id,
            "group_instance_id": "other",
        },
        "of nobody, with a generation": {"generation_id": generation},
    }
    for what, fields in members.items():
        for version in (3, 5):
            talk.ask(f"offset {what}, version {version}", one.commit_offset(**fields), version)
    mine = {"generation_id": generation, "member_id": member.member_id}
    talk.ask("offset, no such topic", one.commit_offset(topic="no", **mine), 5)
    talk.ask("offset, no such partition", one.commit_offset(partition=7, **mine), 5)
    talk.ask("offset, long metadata", one.commit_offset(metadata="x" * 4097, **mine), 5)
    talk.ask("offset, a group that is not there", one.commit_offset("no", generation_id=1, member_id="m"), 5)
    talk.ask("offset, a group without members", one.commit_offset("empty"), 5)
    talk.ask("nobody has committed", offsets("g", stable=True), 8)
    talk.ask("offset", one.commit_offset(**mine), 5)
    talk.ask("not stable", offsets("g", stable=True), 8)
    talk.ask("as before", offsets("g", stable=False), 8)
    one.ends("committed")
    talk.ask("stable", offsets("g", stable=True), 8)
    talk.ask("offset late", one.commit_offset(ahead=-1, **mine), 5)


def ending(talk: TransactionTalk) -> None:
    nobody = EndTxnRequest(transactional_id="nobody", producer_id=1, producer_epoch=0, committed=True)
    for version in range(6):
        one = twice_begun(talk, f"v{version}")
        talk.ask(f"nobody ends, version {version}", nobody, version)
        for what, fields in WRONG.items():
            talk.ask(f"ended {what}, version {version}", one.end(**fields), version)
        talk.ask(f"committed before it began, version {version}", one.end(), version)
        talk.ask(f"nothing has changed, version {version}", describe(one.name), 0)
    for version in range(5):
        one = twice_begun(talk, f"a{version}")
        talk.ask(f"aborted before it began, version {version}", one.end(commits=False), version)
        talk.ask(f"added, version {version}", one.add(), 3)
        one.ends(f"committed, version {version}", version=version)
        talk.ask(f"committed again, version {version}", one.end(), version)
        talk.ask(f"aborted after that, version {version}", one.end(commits=False), version)
        talk.ask(f"ended late, version {version}", one.end(ahead=-1), version)


def ending_renewed(talk: TransactionTalk) -> None:
    one = twice_begun(talk, "one")
    one.ends("aborted before it began", commits=False)
    talk.ask("joined", one.write(), 12)
    for what, fields in WRONG.items():
        talk.ask(f"ended {what}", one.end(**fields), 5)
    one.ends("committed")
    talk.ask("committed again", one.end(ahead=-1), 5)
    talk.ask("aborted after that", one.end(commits=False, ahead=-1), 5)
    talk.ask("ended long ago", one.end(ahead=-2), 5)
    talk.ask("committed without anything", one.end(), 5)
    talk.ask("added late", one.add(ahead=-1), 3)
    talk.ask("group added late", one.add_group(ahead=-1), 4)
    talk.ask("described", describe("one"), 0)


def fencing(talk: TransactionTalk) -> None:
    one = Producer(talk, "one")
    talk.ask("joined", one.write(), 12)
    talk.ask("a successor must wait", one.init(), 5)
    talk.settled("one")
    successor = talk.patiently("the successor", one.init(), 5)
    assert successor.producer_epoch > one.epoch
    one.sequence = 1
    talk.ask("the zombie writes", one.write(), 12)
    talk.ask("the zombie adds", one.add(), 3)
    talk.ask("the zombie adds a group", one.add_group(), 4)
    talk.ask("the zombie commits an offset", one.commit_offset(), 5)
    talk.ask("the zombie commits", one.end(), 5)
    talk.ask("the zombie aborts", one.end(commits=False), 5)
    talk.ask("the zombie commits, version 1", one.end(), 1)
    talk.ask("the zombie adds, version 1", one.add(), 1)
    talk.ask("the zombie begins anew", one.init(one.producer_id, one.epoch), 5)
    talk.ask("described", describe("one"), 0)


def looking(talk: TransactionTalk) -> None:
    one = Producer(talk, "one")
    talk.ask("joined", one.write(), 12)
    talk.ask("described", describe("one", "no", ""), 0)
    talk.ask("described: nothing", describe(), 0)
    for version in range(3):
        talk.ask(f"listed, version {version}", list_those(), version)
    talk.ask("listed: ongoing", list_those("Ongoing"), 2)
    talk.ask("listed: empty", list_those("Empty"), 2)
    talk.ask("listed: unheard of", list_those("Unheard", "Ongoing"), 2)
    talk.ask("listed: in small letters", list_those("ongoing"), 2)
    talk.ask("listed: of a stranger", list_those(producers=(4000,)), 2)
    talk.ask("listed: by pattern", list_those(pattern="o.*"), 2)
    talk.ask("listed: by a pattern of nobody", list_those(pattern="x.*"), 2)
    talk.ask("listed: by a piece of a name", list_those(pattern="n"), 2)
    talk.ask("listed: by no pattern", list_those(pattern=""), 2)
    talk.ask("listed: by a wrong pattern", list_those(pattern="["), 2)
    talk.ask("producers", producers_of("t", 0), 0)
    talk.ask("producers of no partition", producers_of("t", 7), 0)
    talk.ask("producers of no topic", producers_of("no", 0), 0)


def marking(talk: TransactionTalk) -> None:
    """Markers by hand, as ``kafka-transactions abort`` writes them."""
    one = twice_begun(talk, "one")
    talk.ask("joined", one.write(), 12)
    wrong: dict[str, dict[str, Any]] = {
        "no such topic": {"topic": "no"},
        "no such partition": {"partition": 7},
        "a coordinator of long ago": {"coordinator_epoch": -1},
        "in an older epoch": {"producer_epoch": one.epoch - 1},
    }
    for what, fields in wrong.items():
        talk.ask(f"marked, {what}", mark(one, **fields), 1)
    talk.ask("still open", producers_of("t", 0), 0)
    talk.ask("marked", mark(one), 1)
    talk.ask("ended there", producers_of("t", 0), 0)
    talk.ask("of nobody", mark(one, producer_id=4000), 1)


TRANSACTION_DIALOGUES: Final[dict[str, Callable[[TransactionTalk], None]]] = {
    f"transactions_{dialogue.__name__}": dialogue
    for dialogue in (
        initializing,
        adding,
        writing,
        committing,
        ending,
        ending_renewed,
        fencing,
        looking,
        marking,
    )
}
