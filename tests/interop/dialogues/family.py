"""A family of dialogues: what stands at their beginning, which requests follow, and in which words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.interop.dialogues.step import Step
from tests.interop.dialogues.words import Chance, Versions, Words

from trivium.messages.schema import Request

STEPS = 25
"""Of a dialogue behind its beginning: long enough for one answer to depend on another."""
CUT_CHANCE = 0.02
"""Of a request: its end is missing."""
CUT_MAX = 20
STRANGE_CHANCE = 0.01
"""That it comes in a version, or as a request, that nobody serves."""


@dataclass(frozen=True)
class Family:
    name: str
    kinds: Mapping[type[Request], int]
    """How often each is asked, compared with the others."""
    words: Words
    beginnings: Sequence[Sequence[Step]] = ((),)
    """One of them stands before the rest."""
    peers: int = 1
    is_whole: bool = False
    """No request ends a connection by its form: what that sets off is a matter of moments."""
    extra: Mapping[type[Request], Words] = field(default_factory=dict)
    """Words of one request that mean something else in others."""

    def dialogue(self, seed: int, versions: Versions, steps: int = STEPS) -> list[Step]:
        random = Random(f"{self.name} {seed}")
        made = list(random.choice(self.beginnings))
        kinds, weights = list(self.kinds), list(self.kinds.values())
        for _ in range(steps):
            kind = random.choices(kinds, weights)[0]
            chance = Chance(random, {**self.words, **self.extra.get(kind, {})})
            version = chance.version(kind, versions)
            request, peer = chance.request(kind, version), random.randrange(self.peers)
            cut = random.randrange(1, CUT_MAX) if random.random() < CUT_CHANCE else 0
            header = None
            if random.random() < STRANGE_CHANCE:
                header = random.choice(((kind.API_KEY, 99), (kind.API_KEY, -1), (999, 0)))
            if self.is_whole:
                cut, header = 0, None
            made.append(Step(request, version, peer, cut, header))
        return made
