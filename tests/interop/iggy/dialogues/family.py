"""A family of dialogues: what stands at their beginning, which requests follow, and in which words.

A pool belongs to a field, or to that of one request (``CREATE_TOPIC.name``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tests.interop.dialogues.words import ODD_CHANCES, Pool
from tests.interop.iggy.dialogues.commands import COMMANDS
from tests.interop.iggy.dialogues.step import NO_DAMAGE, Damage, Step

STEPS = 25
"""Of a dialogue behind its beginning: long enough for one answer to depend on another."""
PLACES = 400
BYTES = (0, 1, 2, 3, 4, 5, 127, 200, 255)
"""What stands where it should not: kinds, lengths, half a character."""
CODES = (0, 2, 13, 40, 99, 206, 606, 70_000)
"""Nobody serves them."""


@dataclass(frozen=True)
class Family:
    name: str
    kinds: Mapping[str, int]
    """How often each is asked, compared with the others."""
    words: Mapping[str, Pool]
    beginnings: Sequence[Sequence[Step]] = ((),)
    """One of them stands before the rest."""
    peers: int = 1
    damage_chance: float = 0.02
    has_wrong_bytes: bool = False
    """Damage may be anywhere in a body. So nothing in it may be named by its number, which differs."""

    def dialogue(self, seed: int, steps: int = STEPS) -> list[Step]:
        random = Random(f"{self.name} {seed}")
        made = list(random.choice(self.beginnings))
        kinds, weights = list(self.kinds), list(self.kinds.values())
        for _ in range(steps):
            name = random.choices(kinds, weights)[0]
            odd_chance = random.choice(ODD_CHANCES)
            values = {each: self._word(random, name, each, odd_chance) for each in COMMANDS[name].fields}
            damage = self._damage(random) if random.random() < self.damage_chance else NO_DAMAGE
            made.append(Step(name, values, random.randrange(self.peers), damage))
        return made

    def _word(self, random: Random, command: str, field: str, odd_chance: float) -> object:
        pool = self.words.get(f"{command}.{field}") or self.words[field]
        return random.choice(pool.odd if pool.odd and random.random() < odd_chance else pool.likely)

    def _damage(self, random: Random) -> Damage:
        match random.randrange(5 if self.has_wrong_bytes else 3):
            case 0:
                return Damage(cut=random.randrange(1, 20))
            case 1:
                return Damage(extra=random.randbytes(random.randrange(1, 12)))
            case 2:
                return Damage(code=random.choice(CODES))
            case count:
                wrong = [(random.randrange(PLACES), random.choice(BYTES)) for _ in range(count - 2)]
                return Damage(wrong=tuple(wrong))
