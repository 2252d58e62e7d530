"""Streams: what there is, making and renaming them, and taking them away with everything in them."""

from dataclasses import replace

from trivium.core.access import Operation
from trivium.core.all_done import AllDone
from trivium.core.caller import Caller
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.streams import (
    DEFAULT_STREAM,
    CreateStream,
    DeleteStream,
    DescribedStream,
    DescribeStream,
    ListedStreams,
    ListStreams,
    PurgeStream,
    UpdateStream,
)
from trivium.core.faults import Fault, Refused
from trivium.core.refusing import refusing
from trivium.core.streams.finding import Finding
from trivium.core.streams.measuring import Measuring
from trivium.core.streams.names import is_name
from trivium.core.streams.registry import Registry, Stream, new_id, stream_change, stream_removed
from trivium.core.streams.topic_changes import TopicChanges
from trivium.core.trivium_log import TriviumLog


class StreamDirectory:
    def __init__(
        self,
        registry: Registry,
        finding: Finding,
        measuring: Measuring,
        topics: TopicChanges,
        log: TriviumLog,
    ) -> None:
        self._registry = registry
        self._finding = finding
        self._measuring = measuring
        self._topics = topics
        self._log = log
        self.routes: Routes = {
            DescribeStream: refusing(self.describe),
            ListStreams: refusing(self.list_streams),
            CreateStream: refusing(self.create),
            UpdateStream: refusing(self.update),
            DeleteStream: refusing(self.delete),
            PurgeStream: refusing(self.purge),
        }

    # -- looking ---------------------------------------------------------------------------------

    def describe(self, command: DescribeStream, caller: Caller, reply: Reply[DescribedStream]) -> None:
        stream = self._finding.stream(command.stream, caller, Operation.DESCRIBE)
        topics = self._measuring.topics(stream)
        reply(DescribedStream(None, self._measuring.stream(stream, topics), topics))

    def list_streams(self, command: ListStreams, caller: Caller, reply: Reply[ListedStreams]) -> None:
        reply(ListedStreams(None, [self._measuring.stream(stream) for stream in self._finding.streams()]))

    # -- making ----------------------------------------------------------------------------------

    def create(self, command: CreateStream, caller: Caller, reply: Reply[DescribedStream]) -> None:
        self._finding.streams()
        self._check_new_name(command.name)
        registry = self._registry
        stream_id = new_id(
            command.stream_id, registry.next_stream_id, registry.streams, Fault.STREAM_ID_EXISTS
        )
        changes = self._registry.stream_added(command.name, stream_id, self._topics.now_us())

        def done(fault: Fault | None) -> None:
            stream = self._registry.streams.get(stream_id)
            if fault is not None or stream is None:
                reply(DescribedStream(fault or Fault.UNKNOWN_STREAM))
            else:
                reply(DescribedStream(None, self._measuring.stream(stream)))

        self._log.commit(changes, done)

    def _check_new_name(self, name: str) -> None:
        if not is_name(name):
            raise Refused(Fault.INVALID_STREAM_NAME, "The name of a stream has 1 to 255 bytes.")
        if self._registry.stream(name) is not None:
            raise Refused(Fault.STREAM_EXISTS)

    def update(self, command: UpdateStream, caller: Caller, reply: Reply[Fault | None]) -> None:
        stream = self._finding.stream(command.stream, caller, Operation.ALTER)
        if command.name == stream.name:
            reply(None)
            return
        self._check_new_name(command.name)
        _check_not_default(stream)
        self._log.commit([stream_change(replace(stream, name=command.name))], reply)

    # -- taking away -----------------------------------------------------------------------------

    def delete(self, command: DeleteStream, caller: Caller, reply: Reply[Fault | None]) -> None:
        stream = self._finding.stream(command.stream, caller, Operation.DELETE)
        _check_not_default(stream)
        all_done = AllDone(reply)
        self._topics.remove(list(stream.topics.values()), all_done.begin())
        # Its topics are struck out by now, unless that could not be written.
        self._log.commit(stream_removed(stream), all_done.begin())
        all_done.all_begun()

    def purge(self, command: PurgeStream, caller: Caller, reply: Reply[Fault | None]) -> None:
        stream = self._finding.stream(command.stream, caller, Operation.DELETE)
        all_done = AllDone(reply)
        for topic in list(stream.topics.values()):
            self._topics.empty(topic, all_done.begin())
        all_done.all_begun()


def _check_not_default(stream: Stream) -> None:
    if stream.name == DEFAULT_STREAM:
        raise Refused(
            Fault.STREAM_IS_PERMANENT,
            f"Topics that are in no other stream are in {DEFAULT_STREAM}: it cannot go, nor be renamed.",
        )
