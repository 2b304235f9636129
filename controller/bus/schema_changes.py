"""What a change of the schemas breaks for those who rely on the older ones.

Within a major version fields are only added, and never required: whoever reads by the older schema reads on,
and what was written by it is still read. Anything else needs a new major version, which is a new `type`. So
does a new type for wallets, because they stop on what they don't know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from controller.bus.schema import BUS_ID, DEFS, Schema
from controller.table.events import Audience

BOUNDS = ("type", "const", "pattern", "minimum", "maximum", "exclusiveMaximum")
LENGTHS = ("minLength", "maxLength", "minItems", "maxItems")
INSIDE = ("items", "additionalProperties", "propertyNames")


class _Pair(NamedTuple):
    """The same thing in both documents, and where it is."""

    where: str
    old: Any
    new: Any

    def at(self, step: str, old: Any, new: Any) -> _Pair:
        return _Pair(f"{self.where}{step}", old, new)


def breaking_changes(old: Schema, new: Schema) -> list[str]:
    """Return what `new` breaks of `old`, a line each; both are documents of `bus_schemas`.

    A new major version, which stands in `$id`, breaks nothing: its types have other names. Raises ValueError
    for an `$id` that is not of this bus, and what comes of a document of another make.
    """
    for name in (old["$id"], new["$id"]):
        if not name.startswith(BUS_ID):
            raise ValueError(f"$id: got {name!r}, expected {BUS_ID}<version>")
    return [] if old["$id"] != new["$id"] else list(dict.fromkeys(_Comparison(old, new).run()))


class _Comparison:
    def __init__(self, old: Schema, new: Schema) -> None:
        self._old: Mapping[str, Schema] = old["$defs"]
        self._new: Mapping[str, Schema] = new["$defs"]
        self._roots = [_name(root) for root in old["anyOf"]]
        self._done: set[tuple[str, str]] = set()

    def run(self) -> Iterator[str]:
        for root in self._roots:
            if root in self._new:
                yield from self._compare(_Pair(root, self._old[root], self._new[root]))
            else:
                yield f"{root}: is gone"
        for root in self._new:
            yield from self._hearers(root)

    def _hearers(self, root: str) -> Iterator[str]:
        """An audience goes on hearing what it heard, and wallets hear nothing new: they would stop on it."""
        old, new = (set(side.get(root, {}).get("x-audiences", ())) for side in (self._old, self._new))
        for audience in sorted(old - new):
            yield f"{root}: is not told to {audience} any more"
        if Audience.SETTLEMENT in new - old:
            yield f"{root}: is new in {Audience.SETTLEMENT}, where wallets stop on it"

    def _compare(self, pair: _Pair) -> Iterator[str]:
        where, old, new = pair
        if not (isinstance(old, dict) and isinstance(new, dict)):
            if old != new:
                yield f"{where}: was {old}, is {new}"
            return
        if ("$ref" in old) != ("$ref" in new):
            yield f"{where}: was {_shape(old)}, is {_shape(new)}"
            return
        if "$ref" in old:
            yield from self._compare_named(pair)
        yield from _bounds(pair)
        yield from self._fields(pair)
        yield from self._branches(pair)
        for word in INSIDE:
            if word in old or word in new:
                yield from self._compare(pair.at("[]", old.get(word), new.get(word)))
        for word in ("prefixItems", "allOf"):
            parts = (old.get(word, ()), new.get(word, ()))
            if len(parts[0]) != len(parts[1]):
                yield f"{where}: had {len(parts[0])} parts, has {len(parts[1])}"
            for was, is_ in zip(*parts, strict=False):
                yield from self._compare(pair.at("", was, is_))

    def _compare_named(self, pair: _Pair) -> Iterator[str]:
        """Compare what is referred to, each pair of definitions once."""
        old, new = _name(pair.old), _name(pair.new)
        if (old, new) not in self._done:
            self._done.add((old, new))
            yield from self._compare(pair.at("", self._old[old], self._new[new]))

    def _fields(self, pair: _Pair) -> Iterator[str]:
        old, new = pair.old.get("properties", {}), pair.new.get("properties", {})
        needed = set(pair.old.get("required", ())), set(pair.new.get("required", ()))
        for name, field in old.items():
            if name not in new:
                yield f"{pair.where}.{name}: is gone"
                continue
            yield from self._compare(pair.at(f".{name}", field, new[name]))
            if (name in needed[0]) != (name in needed[1]):
                was, is_ = ("required", "optional") if name in needed[0] else ("optional", "required")
                yield f"{pair.where}.{name}: was {was}, is {is_}"
        for name in sorted(needed[1] - set(old)):
            yield f"{pair.where}.{name}: is new and required; give it a default"

    def _branches(self, pair: _Pair) -> Iterator[str]:
        """Compare alternatives. Another kind of object, such as one more command, may be added."""
        old, new = (self._by_kind(side.get("anyOf", ()), known) for side, known in self._sides(pair))
        for kind, branch in old.items():
            if kind not in new:
                yield f"{pair.where}: {kind} is gone"
            else:
                yield from self._compare(pair.at("", branch, new[kind]))
        for kind in new:
            if kind not in old and not (old and kind.startswith("object ")):
                yield f"{pair.where}: {kind} is new"

    def _sides(self, pair: _Pair) -> tuple[tuple[Schema, Mapping[str, Schema]], ...]:
        return (pair.old, self._old), (pair.new, self._new)

    def _by_kind(self, branches: Any, known: Mapping[str, Schema]) -> dict[str, Schema]:
        return {_kind(branch, known): branch for branch in branches}


def _bounds(pair: _Pair) -> Iterator[str]:
    """Yield changes of what a single value may be. Words may be added to an enumeration."""
    for word in (*BOUNDS, *LENGTHS):
        if pair.old.get(word) != pair.new.get(word):
            yield f"{pair.where}: {word} was {pair.old.get(word)}, is {pair.new.get(word)}"
    if pair.old.get("default") != pair.new.get("default"):
        yield f"{pair.where}: absent meant {pair.old.get('default')}, means {pair.new.get('default')}"
    if ("enum" in pair.old) != ("enum" in pair.new):
        yield f"{pair.where}: was {_shape(pair.old)}, is {_shape(pair.new)}"
    for gone in sorted(set(pair.old.get("enum", ())) - set(pair.new.get("enum", ()))):
        yield f"{pair.where}: the word {gone} is gone"


def _kind(branch: Schema, known: Mapping[str, Schema]) -> str:
    """Return what tells an alternative from the others: its type, and for an object its own constant word."""
    if "$ref" not in branch:
        return str(branch.get("type"))
    named = known[_name(branch)]
    words = [
        field["enum"][0] for field in named.get("properties", {}).values() if len(field.get("enum", ())) == 1
    ]
    return f"{named.get('type', 'word')} {' '.join(words)}".strip()


def _shape(schema: Schema) -> str:
    return "an object of its own" if "$ref" in schema else str(schema.get("type", "words"))


def _name(reference: Schema) -> str:
    return str(reference["$ref"]).removeprefix(DEFS)
