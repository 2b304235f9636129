"""What the types say of themselves in the published schemas: the docstrings of fields and of words.

A docstring below a field or a word of an enumeration is kept by no interpreter, so the source is read.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from enum import EnumType
from functools import cache
from itertools import pairwise

import msgspec
from msgspec import inspect as types


def named_types(*kinds: object) -> dict[str, type]:
    """Return the structs and enumerations that `kinds` consist of, by name."""
    found: dict[str, type] = {}
    for info in types.multi_type_info(kinds):
        _gather(info, found)
    return found


def docs_below(kind: type) -> dict[str, str]:
    """Return the docstring below each field, or word, by its name in JSON; inherited fields too."""
    found: dict[str, str] = {}
    for ancestor in reversed(kind.__mro__):
        if ancestor.__module__.startswith("controller."):
            found.update(_docs_in(ancestor.__module__).get(ancestor.__name__, {}))
    if isinstance(kind, EnumType):
        return {str(kind[name].value): doc for name, doc in found.items() if name in kind.__members__}
    fields = msgspec.structs.fields(kind)
    return {field.encode_name: found[field.name] for field in fields if field.name in found}


def one_line(doc: str) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join(inspect.cleandoc(doc).partition("\n\n")[0].split())


@cache
def _docs_in(module: str) -> dict[str, dict[str, str]]:
    """Return the docstrings of every class of a module, by the names of class and field."""
    body = ast.parse(inspect.getsource(sys.modules[module])).body
    return {kind.name: dict(_docs_of(kind)) for kind in body if isinstance(kind, ast.ClassDef)}


def _docs_of(kind: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(kind.body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(name)) | ast.Assign(targets=[ast.Name(name)]),
                ast.Expr(ast.Constant(str() as doc)),
            ):
                yield name, inspect.cleandoc(doc)


def _gather(info: types.Type, found: dict[str, type]) -> None:
    match info:
        case types.StructType(cls=kind, fields=fields):
            if found.setdefault(kind.__name__, kind) is not kind:
                raise ValueError(f"two types of the bus have the name {kind.__name__}")
            for field in fields:
                _gather(field.type, found)
        case types.EnumType(cls=kind):
            found[kind.__name__] = kind
        case types.UnionType(types=several) | types.TupleType(item_types=several):
            for one in several:
                _gather(one, found)
        case types.DictType(key_type=key, value_type=value):
            _gather(key, found)
            _gather(value, found)
        case types.VarTupleType(item_type=item):
            _gather(item, found)
        case types.Metadata(type=inner):
            _gather(inner, found)
        case _:
            return
