"""JSON documents to dataclasses."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from typing import Any, TypeVar

T = TypeVar("T")


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def decode(kind: type[T], value: Any) -> T:
    """The dataclass of a document. Fields that it does not know are passed over: documents may gain some.

    A field with a default may be absent.
    """
    found: T = _decode(kind, value, kind.__name__)
    return found


def _decode(kind: Any, value: Any, place: str) -> Any:
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        if value is None:
            return None
        (kind,) = (part for part in typing.get_args(kind) if part is not type(None))
        return _decode(kind, value, place)
    if origin is list:
        (inner,) = typing.get_args(kind)
        return [_decode(inner, part, f"{place}[{index}]") for index, part in enumerate(value)]
    if origin is dict:
        key, inner = typing.get_args(kind)
        return {key(name): _decode(inner, part, f"{place}[{name}]") for name, part in value.items()}
    if isinstance(kind, type) and issubclass(kind, dict):
        return kind.of(value)  # type: ignore[attr-defined]
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = _hints(kind)
        fields = {}
        for field in dataclasses.fields(kind):
            if field.name in value:
                fields[field.name] = _decode(hints[field.name], value[field.name], f"{place}.{field.name}")
            elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
                raise TypeError(f"{place} lacks {field.name}")
        return kind(**fields)
    if kind is float:
        return float(value)
    return value
