"""SCRAM credentials: by whom they are had, and how they change. Records of the metadata log, as with Kafka.

A user of the directory gets them with its password and loses them with itself. Kafka's tools give credentials
to any name; one that is no user of the directory can log in by SCRAM and by nothing else.

Nobody who is only allowed to look after the cluster gets into the skin of another: what a user of the
directory proves itself by is changed by itself, by those who may alter users, and of the first user by itself
alone.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from trivium.core.access import Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.sasl import (
    AlteredScram,
    AlterScramCredentials,
    DescribedScram,
    DescribeScramCredentials,
    ScramDeletion,
    ScramFacts,
    ScramUpsertion,
)
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_access import ScramCredential, ScramMechanism
from trivium.core.ports import Done
from trivium.core.refusing import refusing
from trivium.core.users.directory import UserDirectory
from trivium.core.users.scram import credential_of
from trivium.messages.schema import Message
from trivium.messages.stored.metadata_access import (
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)

ITERATIONS_MIN: Final = 4_096
ITERATIONS_MAX: Final = 16_384
"""Both are Kafka's."""
NAME_BYTES_MAX: Final = 1_024
SALT_BYTES_MAX: Final = 1_024
"""More than any tool makes, and less than a request could carry into memory for ever."""

_RECORD_VERSION: Final = 0
_MECHANISMS: Final = {mechanism.value: mechanism for mechanism in ScramMechanism}

Credentials = Mapping[ScramMechanism, ScramCredential]


class ScramStore:
    def __init__(self, cluster: Cluster, users: UserDirectory, access: Access) -> None:
        self._cluster = cluster
        self._users = users
        self._access = access
        self.routes: Routes = {
            DescribeScramCredentials: self.describe,
            AlterScramCredentials: refusing(self.alter),
        }

    # -- of users of the directory ---------------------------------------------------------------

    def of(self, username: str) -> Credentials:
        return self._cluster.image.scram.by_user.get(username, {})

    def giving(self, username: str, credentials: Credentials, done: Done) -> Done:
        """What follows when the user itself is stored: it gets its credentials, and ``done`` hears of it.

        In this order nobody can prove by SCRAM to be a user that a crash has kept from being made.
        """

        def give(fault: Fault | None) -> None:
            if fault is not None:
                done(fault)
                return
            records = [_record(username, each, credential) for each, credential in credentials.items()]
            try:
                self._commit(records, done)
            except Refused as refused:
                done(refused.fault)

        return give

    def take_away(self, username: str, done: Done) -> None:
        """``Refused`` if nothing can be stored."""
        self._commit([_removal(username, mechanism) for mechanism in self.of(username)], done)

    def _commit(self, records: Sequence[Message], done: Done) -> None:
        if records:
            self._cluster.commit([(record, _RECORD_VERSION) for record in records], done)
        else:
            done(None)

    # -- by Kafka's tools ------------------------------------------------------------------------

    def describe(
        self, command: DescribeScramCredentials, caller: Caller, reply: Reply[list[DescribedScram]]
    ) -> None:
        by_user = self._cluster.image.scram.by_user
        asked = Counter(command.usernames or sorted(by_user))
        reply([self._described(name, count) for name, count in asked.items()])

    def _described(self, username: str, times: int) -> DescribedScram:
        if times > 1:
            sentence = f"Cannot describe SCRAM credentials for the same user twice: {username}"
            return DescribedScram(username, Fault.NAMED_TWICE, sentence)
        found = self.of(username)
        if not found:
            sentence = f"There are no SCRAM credentials for {username}."
            return DescribedScram(username, Fault.RESOURCE_NOT_FOUND, sentence)
        facts = [ScramFacts(each.value, credential.iterations) for each, credential in found.items()]
        return DescribedScram(username, None, None, facts)

    def alter(self, command: AlterScramCredentials, caller: Caller, reply: Reply[list[AlteredScram]]) -> None:
        """All that is asked for a user, or nothing of it; others are not affected."""
        changes: list[ScramDeletion | ScramUpsertion] = [*command.deletions, *command.upsertions]
        times = Counter((change.username, change.mechanism) for change in changes)
        records: dict[str, list[Message]] = {change.username: [] for change in changes}
        refusals: dict[str, AlteredScram] = {}
        for change in changes:
            try:
                if times[change.username, change.mechanism] > 1:
                    raise Refused(Fault.NAMED_TWICE, "A credential may be altered once in a request.")
                records[change.username].append(self._record_for(change, caller))
            except Refused as refused:
                refusals[change.username] = AlteredScram(change.username, refused.fault, refused.message)
        wanted = [record for name, some in records.items() if name not in refusals for record in some]

        def done(fault: Fault | None) -> None:
            reply([refusals.get(name) or AlteredScram(name, fault) for name in records])

        self._commit(wanted, done)

    def _record_for(self, change: ScramDeletion | ScramUpsertion, caller: Caller) -> Message:
        if not 0 < len(change.username.encode()) <= NAME_BYTES_MAX:
            raise Refused(Fault.INVALID_USERNAME, "A username must not be empty, nor longer than 1024 bytes.")
        mechanism = _MECHANISMS.get(change.mechanism)
        if mechanism is None:
            raise Refused(Fault.UNKNOWN_MECHANISM, "There is no such SCRAM mechanism.")
        self._check_right(change.username, caller)
        if isinstance(change, ScramDeletion):
            if mechanism not in self.of(change.username):
                raise Refused(Fault.RESOURCE_NOT_FOUND, "There is no such credential to delete.")
            return _removal(change.username, mechanism)
        if not ITERATIONS_MIN <= change.iterations <= ITERATIONS_MAX:
            raise Refused(
                Fault.INVALID_PASSWORD, f"It takes {ITERATIONS_MIN} to {ITERATIONS_MAX} iterations."
            )
        if (
            not 0 < len(change.salt) <= SALT_BYTES_MAX
            or not 0 < len(change.salted_password) <= SALT_BYTES_MAX
        ):
            raise Refused(Fault.INVALID_PASSWORD, "Salt and salted password must not be empty.")
        credential = credential_of(mechanism, change.salted_password, change.salt, change.iterations)
        return _record(change.username, mechanism, credential)

    def _check_right(self, username: str, caller: Caller) -> None:
        user = self._users.find(username)
        if user is None or user.user_id == caller.user_id:
            return
        is_stranger = caller.user_id is None  # where strangers may alter users, they may do everything
        if (user.is_root and not is_stranger) or not self._access.allows(
            caller, Operation.ALTER, Resource.USER, username
        ):
            raise Refused(Fault.NOT_AUTHORIZED_USER)


def _record(username: str, mechanism: ScramMechanism, credential: ScramCredential) -> Message:
    return UserScramCredentialRecord(
        name=username,
        mechanism=mechanism.value,
        salt=credential.salt,
        stored_key=credential.stored_key,
        server_key=credential.server_key,
        iterations=credential.iterations,
    )


def _removal(username: str, mechanism: ScramMechanism) -> Message:
    return RemoveUserScramCredentialRecord(name=username, mechanism=mechanism.value)
