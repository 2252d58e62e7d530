"""Taking steps: what was worked out is written, and then it happens.

The answer to a member waits until everything that it may be based on is durable, also when its own step
changes nothing: nobody is told of an assignment that a crash could undo.
"""

from collections.abc import Callable, Sequence

from trivium.core.access import Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.groups.consumer.group import ConsumerGroup
from trivium.core.groups.consumer.records import Change, encoded
from trivium.core.groups.consumer.replaying import replay
from trivium.core.groups.consumer.rules import ConsumerRules
from trivium.core.groups.consumer.step import Step
from trivium.core.groups.consumer.topic_view import TopicView
from trivium.core.groups.moment import Moment
from trivium.core.internal_topic import KeyedRecord
from trivium.core.ports import Done


class Stepping:
    def __init__(
        self,
        rules: ConsumerRules,
        cluster: Cluster,
        access: Access,
        now: Callable[[], Moment],
        write: Callable[[Sequence[KeyedRecord], Done], None],
        when_durable: Callable[[Done], None],
    ) -> None:
        self.rules = rules
        self._cluster = cluster
        self._access = access
        self.now = now
        self.write = write
        self.when_durable = when_durable

    def view(self, caller: Caller | None = None) -> TopicView:
        """The topics as a caller may see them; without one, as the broker does."""
        cluster, access = self._cluster, self._access
        view = TopicView(
            cluster.image.topics.by_name, cluster.image.topics.by_id, cluster.metadata_offset_end
        )
        if caller is None:
            return view
        return view._replace(
            may_see=lambda name: access.allows(caller, Operation.DESCRIBE, Resource.TOPIC, name)
        )

    def begin(self, group: ConsumerGroup, caller: Caller | None = None) -> Step:
        return Step(group, self.rules, self.view(caller), self.now())

    def take(self, step: Step, done: Done, before: Sequence[KeyedRecord] = ()) -> None:
        """Write what the step has found, ``before`` first, and let it happen. ``Refused`` if it cannot be
        written: then nothing has happened.
        """
        self.apply(step.group, step.records, done, before)
        step.group.seen_metadata_offset = step.topics.metadata_offset

    def apply(
        self, group: ConsumerGroup, records: Sequence[Change], done: Done, before: Sequence[KeyedRecord] = ()
    ) -> None:
        if not records and not before:
            self.when_durable(done)
            return
        self.write([*before, *(encoded(change) for change in records)], done)
        now = self.now()
        for key, value in records:
            replay(group, key, value, now)
