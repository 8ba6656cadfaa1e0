"""Command lines: how calls become them, and what comes of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Union

from . import _accsim

PathLike = Union[str, "os.PathLike[str]"]
Paths = Union[PathLike, Iterable[PathLike]]

# Exit code of a command that was not carried out.
FAILED = 2


class AccsimError(Exception):
    """A request that could not be carried out; the message says what was found, and what is possible.

    An unknown curve, a cell that was never measured, a file that cannot be read, an argument that does not fit.
    """

    __module__ = "accsim"


@dataclass(frozen=True)
class Completed:
    """What came of a command line."""

    exit_code: int
    """0: every check holds; 1: one does not; 2: not carried out; 3: cannot be decided."""
    stdout: str
    """The result."""
    stderr: str
    """Messages: notes, warnings, errors."""


def run(args: Iterable[PathLike]) -> Completed:
    """Run any command of ``accsim`` in this process, and return what it prints.

    >>> import accsim
    >>> accsim.run(["curves", "lookup", "glm5.2", "mtp", "3"]).stdout
    '2.99\\n'
    """
    code, out, err = _accsim.run([os.fspath(arg) for arg in args])
    return Completed(code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def document(args: list[str]) -> dict[str, Any]:
    """The JSON document of a command that either succeeds or fails."""
    code, out, err = _accsim.run(args)
    if code == FAILED or not out:
        raise AccsimError(message(err))
    return parsed(out)


def parsed(out: bytes) -> dict[str, Any]:
    """A document as Python has it."""
    found: dict[str, Any] = json.loads(out)
    return found


def message(err: bytes) -> str:
    """What an error says, without the word itself."""
    text = err.decode("utf-8", "replace").strip()
    return text.removeprefix("error: ") or "accsim printed no result"


def flag(name: str, value: object) -> list[str]:
    """``--name=value``; nothing for ``None`` and ``False``, the name alone for ``True``."""
    if value is None or value is False:
        return []
    if value is True:
        return [f"--{name}"]
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, (list, tuple)):
        value = ",".join(str(part) for part in value)
    return [f"--{name}={value}"]


def path_list(paths: Paths) -> list[str]:
    """One path or several, as strings."""
    if isinstance(paths, (str, os.PathLike)):
        return [os.fspath(paths)]
    found = [os.fspath(path) for path in paths]
    if not found:
        raise ValueError("no path was given")
    return found
