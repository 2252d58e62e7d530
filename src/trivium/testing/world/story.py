"""What the clients of a world did, as operations for the checker of ``testing.history``."""

from trivium.testing.history.operation import Act, Operation, Outcome, Protocol


class Begun:
    """An operation whose outcome is not known yet."""

    __slots__ = ("_act", "_invoke", "_process", "_story")

    def __init__(self, story: "Story", process: str, act: Act) -> None:
        self._story = story
        self._process = process
        self._act = act
        self._invoke = story.tick()

    def ok(self, act: Act | None = None) -> None:
        self._end(Outcome.OK, act)

    def fail(self) -> None:
        self._end(Outcome.FAIL)

    def unknown(self) -> None:
        self._end(Outcome.UNKNOWN)

    def _end(self, outcome: Outcome, act: Act | None = None) -> None:
        story = self._story
        story.operations.append(
            Operation(
                self._process,
                Protocol.KAFKA,
                outcome,
                self._invoke,
                story.tick(),
                self._act if act is None else act,
                len(story.operations) + 1,
            )
        )


class Story:
    """Operations in the order of their ends. Their times are turns of a counter: no two are the same."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.begun = 0
        self._now = 0

    def tick(self) -> int:
        self._now += 1
        return self._now

    def begin(self, process: str, act: Act) -> Begun:
        self.begun += 1
        return Begun(self, process, act)
