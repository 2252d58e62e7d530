"""The fixtures, from a project that has Trivium installed and no conftest."""

import subprocess
import sys

import pytest

from trivium.testing.pytest_plugin import topic_name

pytest_plugins = ["pytester"]

USER_TESTS = """
import pytest

def test_fresh(trivium_broker):
    assert trivium_broker.topics() == {}
    trivium_broker.produce("t", ["a"])

def test_fresh_again(trivium_broker):
    assert trivium_broker.topics() == {}

@pytest.mark.parametrize("word", ["a/b", "ü"])
def test_shared(word, trivium_session_broker, trivium_topic):
    assert trivium_session_broker.records(trivium_topic) == []
    trivium_session_broker.produce(trivium_topic, [word])
    assert len(trivium_session_broker.topics()) == {"a/b": 1, "ü": 2}[word]
"""


def test_fixtures_are_there_without_a_conftest(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(USER_TESTS)
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=4)


def test_settings_are_overridden_like_any_fixture(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        @pytest.fixture(scope="session")
        def trivium_settings():
            return {"num.partitions": 3}

        def test_settings(trivium_broker, trivium_session_broker, trivium_topic):
            trivium_broker.create_topic("t")
            assert trivium_broker.topics() == {"t": 3}
            assert trivium_session_broker.topics() == {trivium_topic: 3}
    """)
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_plugin_imports_nothing_of_the_broker_until_a_test_wants_one() -> None:
    script = "import trivium.testing.pytest_plugin, sys; print(*sys.modules, sep='\\n')"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    ours = [module for module in ended.stdout.split() if module.startswith("trivium.")]
    assert ours == ["trivium.testing", "trivium.testing.pytest_plugin"]


@pytest.mark.parametrize(
    ("test", "topic"),
    [
        ("test_a", "test_a"),
        ("test_a[x/y-ü]", "test_a-x-y"),
        ("[]", "topic"),
        ("t" * 300, "t" * 200),
    ],
)
def test_topic_is_named_after_the_test_in_letters_that_kafka_allows(test: str, topic: str) -> None:
    assert topic_name(test) == topic
