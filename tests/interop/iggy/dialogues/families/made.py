"""Steps at the beginning of a dialogue."""

from tests.interop.iggy.dialogues.step import Step
from tests.interop.iggy.dialogues.values import Batch, Message

FOR_EVER = (1 << 64) - 1


def login(username: str = "iggy", password: str = "iggy", peer: int = 0) -> Step:
    values = {"username": username, "password": password, "version": "0.10.0", "context": ""}
    return Step("LOGIN_USER", values, peer)


def stream(name: str) -> Step:
    return Step("CREATE_STREAM", {"name": name})


def topic(place: str, name: str, partitions: int = 1) -> Step:
    options = {"compression": 1, "expiry": FOR_EVER, "size_limit": FOR_EVER, "replication": 1}
    return Step("CREATE_TOPIC", {"stream": place, "partitions": partitions, **options, "name": name})


def group(place: str, where: str, name: str) -> Step:
    return Step("CREATE_CONSUMER_GROUP", {"stream": place, "topic": where, "name": name})


def sent(place: str, where: str, partition: int, *payloads: bytes) -> Step:
    values = {"stream": place, "topic": where, "partitioning": (2, partition)}
    return Step("SEND_MESSAGES", {**values, "batch": Batch(tuple(map(Message, payloads)))})
