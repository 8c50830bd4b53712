"""What is changed in an honest model file before it is sealed again.

A mutation takes the parts and a generator, changes the parts in place and returns what it did, or
None where there is nothing of its kind to change.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np

from fuzz import array_mutations, boosted_mutations, json_mutations
from fuzz.sealed import Parts

Mutation = Callable[[Parts, np.random.Generator], str | None]


def mutate(parts: Parts, kind: str, seed: int, number: int) -> str:
    """Change the parts as the number says, mostly in one place; the same for the same seed."""
    rng = np.random.default_rng([seed, number, zlib.crc32(kind.encode())])
    done: list[str] = []
    wanted = int(rng.choice([1, 1, 1, 1, 2, 3]))
    while len(done) < wanted:
        chosen = MUTATIONS[rng.choice(len(MUTATIONS), p=_SHARES)][1]
        what = chosen(parts, rng)
        if what is not None:
            done.append(what)
    return "; ".join(done)


def _manifest(parts: Parts, rng: np.random.Generator) -> str | None:
    if not isinstance(parts.manifest, dict):
        return None
    how = int(rng.integers(5))
    if how == 0:
        parts.manifest = json_mutations.odd_value(rng)
        return f"manifest is {parts.manifest!r:.60}"
    if how == 1:
        parts.manifest["format"] = json_mutations.odd_value(rng)
        return f"format {parts.manifest['format']!r:.60}"
    if how == 2:
        parts.manifest["modules"] = [json_mutations.odd_value(rng) for _ in range(3)]
        return f"modules {parts.manifest['modules']!r:.80}"
    if how == 3:
        key = str(rng.choice(list(parts.manifest)))
        del parts.manifest[key]
        return f"manifest without {key}"
    return _prefixed("manifest: ", json_mutations.change(parts.manifest, rng))


def _tree(parts: Parts, rng: np.random.Generator) -> str | None:
    if isinstance(parts.tree, bytes):
        return None
    return json_mutations.change(parts.tree, rng, len(parts.arrays))


def _tree_text(parts: Parts, rng: np.random.Generator) -> str | None:
    """The text of the tree damaged, not its values."""
    if isinstance(parts.tree, bytes):
        return None
    deep = int(rng.choice([50, 70, 900, 100_000]))
    texts = {
        "nested lists": b"[" * deep + b"]" * deep,
        "nested objects": b'{"$tuple":[' * deep + b"1" + b"]}" * deep,
        "nothing": b"",
        "no JSON": b"\xff\xfe{}",
        "a number": b"1" * 5000,
    }
    name = str(rng.choice(list(texts)))
    parts.tree = texts[name]
    return f"model.json is {name} ({deep})"


def _archive(parts: Parts, rng: np.random.Generator) -> str | None:
    names = ["manifest.json", "model.json", *(f"{i}.npy" for i in range(len(parts.arrays)))]
    name = str(rng.choice(names))
    how = int(rng.integers(5))
    if how == 0:
        parts.compressed.add(name)
        return f"{name} compressed"
    if how == 1:
        parts.members[name] = None
        return f"without {name}"
    if how == 2:
        parts.members[name] = rng.bytes(int(rng.choice([0, 1, 7, 200])))
        return f"{name} is random bytes"
    if how == 3:
        parts.members["../../outside.npy"] = b"x"
        return "a member outside of the archive"
    number, place = int(rng.integers(1, 256)), float(rng.random())
    cut = bool(rng.random() < 0.2)

    def damage(body: bytes) -> bytes:
        if cut:
            return body[: int(place * len(body))]
        # Where the archive lists its members, more often than not.
        at = len(body) - 1 - int(place**3 * min(len(body) - 1, 2000))
        return body[:at] + bytes([body[at] ^ number]) + body[at + 1 :]

    parts.damage = damage
    return f"archive {'cut' if cut else 'damaged'} at {place:.4f}"


def _prefixed(prefix: str, what: str | None) -> str | None:
    return None if what is None else prefix + what


#: Each mutation with how often it is taken.
MUTATIONS: list[tuple[float, Mutation]] = [
    (6, array_mutations.values),
    (3, array_mutations.dtype),
    (4, array_mutations.shape),
    (2, array_mutations.exchange),
    (1, array_mutations.header),
    (12, _tree),
    (0.3, _tree_text),
    (1, _manifest),
    (1, _archive),
    (5, boosted_mutations.nodes),
    (1.5, boosted_mutations.text),
    (2, boosted_mutations.settings),
]
_SHARES = np.array([share for share, _ in MUTATIONS]) / sum(share for share, _ in MUTATIONS)
