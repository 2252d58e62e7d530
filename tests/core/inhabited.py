"""A core with users and streams, on the world of ``fakes``. Passwords are hashed at once, unless held back.

``InhabitedWorld.restart`` makes the tables anew from what the log holds, as a start does.
"""

from collections.abc import Callable
from hashlib import pbkdf2_hmac
from itertools import count
from typing import TypeVar

from tests.core.batches import batch
from tests.core.fakes import World
from trivium.core.access import Access, Anonymous
from trivium.core.broker import Broker
from trivium.core.caller import Caller
from trivium.core.commands.command import Command
from trivium.core.commands.users import LogIn
from trivium.core.fetch import Fetching
from trivium.core.groups.coordinator import GroupCoordinator
from trivium.core.log_directories import LogDirectories
from trivium.core.metadata_access import ScramCredential, ScramMechanism
from trivium.core.ports import Asker, HashedPassword, MachineFacts
from trivium.core.produce import Producing
from trivium.core.streams.registry import Registry
from trivium.core.streams.streams import Streams
from trivium.core.topic_creation import TopicCreation
from trivium.core.topic_deletion import TopicDeletion
from trivium.core.trivium_log import TriviumLog
from trivium.core.users.credentials import ITERATIONS_MIN
from trivium.core.users.directory import UserDirectory
from trivium.core.users.people import Chance, Delegating, Failing, People
from trivium.core.users.scram import credential_of
from trivium.records.batch import iter_batches

R = TypeVar("R")


class FakePasswords:
    """``holds`` keeps results back until ``release``. ``verified`` is what was checked against what, and
    ``remembered`` is what need not be checked again. While it ``is_full`` nobody is taken.
    """

    def __init__(self) -> None:
        self.holds = False
        self.is_full = False
        self.remembered: set[tuple[str | None, str]] = set()
        self.verified: list[str | None] = []
        self._held: list[Callable[[], None]] = []

    def hash(self, password: str, username: str, done: Callable[[HashedPassword], None]) -> None:
        self._soon(lambda: done(HashedPassword(f"hash of {password}", salted(password))))

    def salt(
        self,
        mechanism: ScramMechanism,
        password: str,
        salt: bytes,
        asker: Asker,
        done: Callable[[ScramCredential | None], None],
    ) -> None:
        if self.is_full:
            done(None)
            return
        salted = pbkdf2_hmac(mechanism.hash_name, password.encode(), salt, ITERATIONS_MIN)
        self._soon(lambda: done(credential_of(mechanism, salted, salt, ITERATIONS_MIN)))

    def recalls(self, stored: str | None, password: str, username: str) -> bool:
        return (stored, password) in self.remembered

    def verify(
        self, stored: str | None, password: str, asker: Asker, done: Callable[[bool | None], None]
    ) -> None:
        if self.is_full:
            done(None)
            return
        self.verified.append(stored)
        self._soon(lambda: done(stored == f"hash of {password}"))

    def _soon(self, call: Callable[[], None]) -> None:
        if self.holds:
            self._held.append(call)
        else:
            call()

    def release(self) -> None:
        held, self._held = self._held, []
        for call in held:
            call()


class FakeMachine:
    def facts(self) -> MachineFacts:
        return MachineFacts(process_id=42)


class InhabitedWorld(World):
    def __init__(self, anonymous: Anonymous = Anonymous.AUTO, **static: str) -> None:
        super().__init__({name.replace("_", "."): value for name, value in static.items()})
        self.passwords = FakePasswords()
        self.failing_delay_ms = self.failing_per_minute_max = 0
        self.company: list[bool] = []
        """What was told of whether the first user is the only one."""
        self._anonymous = anonymous
        self.start()

    def start(self) -> None:
        """Put everything together on what the logs hold."""
        self.cluster.created.clear()
        self.cluster.removed.clear()
        self.cluster.dropped.clear()
        self.users, self.registry = UserDirectory(), Registry(self.image.topics.id_of)
        self.access = Access(self.users, self.registry, self._anonymous)
        tokens, nonces = count(1), count(1)
        ids = count(len(self.image.topics.by_id) + 1000)
        self.topics = TopicCreation(
            self.cluster, self.settings, self.access, lambda: next(ids).to_bytes(16, "big"), self.timers
        )
        self.coordinator = GroupCoordinator(
            self.cluster,
            self.settings,
            self.access,
            self.timers,
            self.topics.new_topic_records,
            lambda: "uuid",
        )
        self.trivium_log = TriviumLog(
            self.cluster, self.topics.new_topic_records, [self.users, self.registry]
        )
        self.streams = Streams(
            self.cluster,
            self.settings,
            self.access,
            self.registry,
            self.trivium_log,
            self.topics,
            lambda: self.coordinator.routes,
            FakeMachine(),
        )
        self.coordinator.spare(self.streams.keeps_offsets)
        self.people = People(
            self.users,
            self.trivium_log,
            self.cluster,
            self.access,
            self.passwords,
            self.clock,
            Chance(
                lambda: f"token-{next(tokens)}",
                lambda: f"nonce-{next(nonces):06}",
                lambda: f"id-{next(tokens)}",
                b"decoy",
            ),
            Delegating("key", lifetime_ms_max=10_000, expiry_ms=1_000),
            Failing(self.timers, self.failing_delay_ms, self.failing_per_minute_max),
            self.streams.clients.session_changed,
            self.company.append,
        )
        self.broker = Broker(
            self.access,
            [
                self.people.routes,
                self.streams.routes,
                self.topics.routes,
                self.coordinator.routes,
                LogDirectories(self.cluster, self.settings).routes,
                TopicDeletion(self.cluster, self.settings, self.access, self.timers).routes,
                Producing(self.cluster, self.access, self.timers).routes,
                Fetching(self.cluster, self.access, self.timers, self.soon, 1 << 20).routes,
            ],
        )

    def restart(self) -> None:
        self.start()
        if self.trivium_log.exists:
            self.streams.enrolment.wake()

    def found(self) -> Caller:
        """Streams are used, and there is a first user: this is it."""
        self.streams.enrolment.wake()
        self.people.founding.found("iggy", "iggy", lambda _fault: None)
        return self.log_in("iggy", "iggy")

    def log_in(self, username: str, password: str) -> Caller:
        """A connection of its own for this user."""
        caller = Caller(protocol="iggy")
        result = self.ask(LogIn(username, password), caller)
        assert result.fault is None, result.fault
        return as_user(caller, result.user_id, username)

    def ask(self, command: Command[R], caller: Caller) -> R:
        """The reply of the broker, rights and all, which comes at once."""
        replies = self.ask_later(command, caller)
        assert len(replies) == 1, f"{command} was answered {len(replies)} times"
        return replies[0]

    def ask_later(self, command: Command[R], caller: Caller) -> list[R]:
        replies: list[R] = []
        self.broker.execute(command, caller, replies.append)
        return replies

    def write(self, topic: str, *values: bytes, partition: int = 0) -> None:
        """Records straight into the log, one batch for each."""
        live = self.cluster.partition(topic, partition)
        for value in values:
            data = bytearray(batch(value))
            live.log.append(data, list(iter_batches(data)), live.leader_epoch)


def salted(password: str) -> dict[ScramMechanism, ScramCredential]:
    """With as few iterations as Kafka allows: tests want to be quick."""
    salt = b"salt of a test"
    return {
        mechanism: credential_of(
            mechanism,
            pbkdf2_hmac(mechanism.hash_name, password.encode(), salt, ITERATIONS_MIN),
            salt,
            ITERATIONS_MIN,
        )
        for mechanism in ScramMechanism
    }


def as_user(caller: Caller, user_id: int, username: str) -> Caller:
    return Caller(
        principal=f"User:{username}", protocol=caller.protocol, user_id=user_id, presence=caller.presence
    )
