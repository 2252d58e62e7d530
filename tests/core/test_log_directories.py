"""What lies in the log directories, and moving it."""

from collections.abc import Callable, Sequence

import pytest

from tests.core.fakes import MemoryStorage, World
from trivium.core.commands.placement import DescribeDirectories, RelocatePartitions, Relocation
from trivium.core.faults import Fault, Refused
from trivium.core.log_directories import LogDirectories
from trivium.core.ports import DirectoryFacts, Done, FutureFacts

HERE, THERE, LOST = "/here", "/there", "/lost"


def directories_of(storage: MemoryStorage) -> Sequence[DirectoryFacts]:
    """Everything lies in the first, something is on its way into the second, and the third has failed."""
    return [
        DirectoryFacts(HERE, bytes(16), None, 100, 50, dict.fromkeys(storage.logs, 10)),
        DirectoryFacts(THERE, bytes(16), None, 100, 50, {}, {("a", 1): FutureFacts(5, 3)}),
        DirectoryFacts(LOST, bytes(16), Fault.STORAGE, -1, -1, {}),
    ]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Callable[..., World]:
    monkeypatch.setattr(MemoryStorage, "directories", directories_of)

    def make(**settings: str) -> World:
        made = World({name.replace("_", "."): value for name, value in settings.items()})
        made.add(LogDirectories(made.cluster, made.settings).routes)
        made.create_topic("a", 2)
        return made

    return make


def test_directories_tell_their_partitions_but_not_the_metadata(world: Callable[..., World]) -> None:
    here, there, lost = world().execute(DescribeDirectories(None)).directories
    assert here.sizes == {("a", 0): 10, ("a", 1): 10}
    assert there.arriving == {("a", 1): FutureFacts(5, 3)}
    assert (lost.fault, lost.sizes) == (Fault.STORAGE, {})


def test_directories_tell_only_the_partitions_asked_for(world: Callable[..., World]) -> None:
    here, there, _ = world().execute(DescribeDirectories([("a", 0), ("a", 7)])).directories
    assert (here.sizes, there.arriving) == ({("a", 0): 10}, {})


def test_directory_is_cordoned_by_its_path_or_with_all_others(world: Callable[..., World]) -> None:
    def cordoned(made: World) -> list[bool]:
        return [each.is_cordoned for each in made.execute(DescribeDirectories(None)).directories]

    assert cordoned(world()) == [False, False, False]
    assert cordoned(world(cordoned_log_dirs=THERE)) == [False, True, False]
    assert cordoned(world(cordoned_log_dirs="*")) == [True, True, True]


def move(storage: MemoryStorage, topic: str, partition: int, path: str, done: Done) -> None:
    if path == LOST:
        raise Refused(Fault.STORAGE)
    storage.moved.append((topic, partition, path))


def test_partitions_are_moved_each_for_itself_and_told_of_when_that_has_begun(
    world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MemoryStorage, "move", move)
    made = world()
    command = RelocatePartitions(
        [
            Relocation("a", 0, THERE),
            Relocation("a", 1, LOST),
            Relocation("a", 9, THERE),
            Relocation("missing", 0, THERE),
            Relocation("a", 0, "/nowhere"),
            Relocation("missing", 0, "/nowhere"),
        ]
    )
    assert [part.fault for part in made.execute(command)] == [
        None,
        Fault.STORAGE,
        Fault.UNKNOWN_TOPIC,
        Fault.UNKNOWN_TOPIC,
        Fault.LOG_DIRECTORY_NOT_FOUND,
        Fault.LOG_DIRECTORY_NOT_FOUND,
    ]
    assert made.storage.moved == [("a", 0, THERE)]
