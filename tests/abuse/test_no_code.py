"""Nothing that a client sends is ever code (S16): a ban on the words for it, and settings that look like it.

Where one of these words is needed, it is on the list below with its reason; a new one fails here first.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import trivium
from tests.abuse.city import City
from trivium.core.config.broker import BROKER
from trivium.messages.api import ApiKey

SOURCE: Final = Path(trivium.__file__).parent
FILES: Final = sorted(SOURCE.rglob("*.py"))

NEVER: Final = {
    "pickle",
    "cPickle",
    "_pickle",
    "cloudpickle",
    "dill",
    "marshal",
    "shelve",
    "jsonpickle",
    "yaml",
    "code",
    "codeop",
    "runpy",
    "imp",
    "telnetlib",
    "xmlrpc",
}
"""Modules that turn bytes into behaviour."""

CALLS: Final = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "import_module",
    "urlopen",
    "system",
    "popen",
    "spawn",
}
OUR_OWN: Final = {
    ("messages/codegen/source.py", "exec"): "codecs are made from our own classes",
    ("messages/codegen/source.py", "compile"): "codecs are made from our own classes",
    ("messages/schema.py", "exec"): "constructors are made from our own classes",
    ("messages/schema.py", "compile"): "constructors are made from our own classes",
    ("core/commands/command.py", "exec"): "constructors are made from our own classes",
    ("protocols/kafka/error_codes.py", "exec"): "made from our own classes",
    ("protocols/kafka/error_codes.py", "compile"): "made from our own classes",
    ("messages/api/__init__.py", "import_module"): "the name of a member of our enumeration",
    ("protocols/kafka/apis/__init__.py", "import_module"): "the name of a member of our enumeration",
    ("cli/lazy_group.py", "import_module"): "the name of a command of ours",
    ("testing/world/profiles/__init__.py", "import_module"): "the name of a profile of ours",
    ("records/kernel/__init__.py", "import_module"): "the name of our own compiled form",
    ("server/bearer_tokens.py", "urlopen"): "the operator's own URL",
}
SUBPROCESSES: Final = {"spark/launch/java.py"}
"""Who may start programs: the one that finds Java, from the operator's environment."""


SUSPICIOUS: Final = re.compile(rf"\b({'|'.join(NEVER | CALLS)}|subprocess|shell)\b")
"""Files without any of these words need no closer look."""


def inside(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def called(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield node.func.id
            elif isinstance(node.func, ast.Attribute) and node.func.attr != "compile":  # patterns have one
                yield node.func.attr


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def findings(path: str, text: str) -> list[str]:
    """What may not be in this file."""
    if not SUSPICIOUS.search(text):
        return []
    tree = ast.parse(text)
    modules = {name.partition(".")[0] for name in imported(tree)}
    found = [f"{path} imports {name}" for name in sorted(modules & NEVER)]
    if "subprocess" in modules and path not in SUBPROCESSES:
        found.append(f"{path} imports subprocess")
    used = {name for name in called(tree) if name in CALLS}
    found += [f"{path} calls {name}" for name in sorted(used) if (path, name) not in OUR_OWN]
    if re.search(r"shell\s*=\s*True", text):
        found.append(f"{path} uses a shell")
    return found


def test_no_file_turns_data_into_code() -> None:
    assert len(FILES) > 300
    assert [each for path in FILES for each in findings(inside(path), path.read_text())] == []


def test_exceptions_are_still_needed() -> None:
    """A reason that nobody needs any more is an open door for the next one."""
    unused = [
        (path, name)
        for path, name in OUR_OWN
        if name not in set(called(ast.parse((SOURCE / path).read_text())))
    ]
    assert unused == []


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from marshal import loads",
        "import yaml.constructor",
        "eval('1')",
        "import builtins\nbuiltins.exec('x')",
        "import os\nos.system('x')",
        "from importlib import import_module\nimport_module(name)",
        "import subprocess",
        "run('x', shell = True)",
    ],
)
def test_ban_finds_what_is_planted(text: str) -> None:
    assert findings("core/planted.py", text)


# -- settings that look like code, paths or addresses ---------------------------------------------

LOOKS_LIKE_CODE: Final = sorted(
    name
    for name in BROKER
    if re.search(r"class|url|dir|path|file|location|reporter|policy|provider|login", name)
)
TRIED: Final = ["org.evil.Gadget", "http://127.0.0.1:1/", "/elsewhere"]
BROKERS: Final = 4


INERT: Final = {
    "config.providers",
    "metric.reporters",
    "principal.builder.class",
    "ssl.engine.factory.class",
    "ssl.provider",
}
"""Kafka lets an administrator change these while it runs. Here they are words that nobody reads."""
COMPARED: Final = {"cordoned.log.dirs"}
"""It is held against the directories that there are, and nothing is opened by it."""


def is_set(city: City, name: str, value: str, broker: str = "") -> bool:
    """Whether root may do that to all brokers or to this one: root, who may do everything."""
    configs = [{"name": name, "config_operation": 0, "value": value}]
    resources = [{"resource_type": BROKERS, "resource_name": broker, "configs": configs}]
    return not city.kafka.say(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, {"resources": resources}).errors


def test_no_client_sets_classes_paths_or_addresses_of_the_broker(city: City) -> None:
    """Such settings are read at a start, from the operator's own file."""
    assert len(LOOKS_LIKE_CODE) > 50
    taken = {
        name
        for name in LOOKS_LIKE_CODE
        for value in TRIED
        for broker in ("", str(city.node.cluster.node_id))
        if is_set(city, name, value, broker)
    }
    assert taken == INERT | COMPARED
    for path in FILES:
        if not inside(path).startswith(("core/config/", "server/configuration/")):
            text = path.read_text()
            assert [name for name in INERT if f'"{name}"' in text] == [], path


def test_value_of_a_setting_is_never_looked_up_somewhere(city: City) -> None:
    """CVE-2024-31141: in Kafka's clients a value may name a file or a variable to be read in its place."""
    tried = [
        "${file:/etc/passwd:root}",
        "${env:HOME}",
        "${directory:/etc:passwd}",
        "${jndi:ldap://127.0.0.1/x}",
    ]
    for value in tried:
        assert is_set(city, "metric.reporters", value)
        asked = {"resource_type": BROKERS, "resource_name": "", "configuration_keys": ["metric.reporters"]}
        answered = city.kafka.say(ApiKey.DESCRIBE_CONFIGS, 4, {"resources": [asked]})
        assert [config.value for result in answered.message.results for config in result.configs] == [value]
