"""What an engine must be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ._command import PathLike, document, flag
from ._decode import decode
from ._target import Target, ThinkingMode, positional

Engine = Literal["sglang", "vllm", "trtllm", "atom", "tilert"]


@dataclass(frozen=True)
class SettingsTarget:
    """The target that settings hold; all but the lengths are ``None`` where it is not golden."""

    golden: bool
    curve: str | None
    model: str | None
    method: str | None
    thinking: ThinkingMode | None
    draft_length: int | None
    accept_length: float
    max_accept_length: int
    source: str


@dataclass(frozen=True)
class Setting:
    """One setting."""

    kind: Literal["env", "arg", "json"]
    """A variable, an argument of the command line, or a key of vLLM's ``--speculative-config``."""
    name: str
    value: str


@dataclass(frozen=True)
class Cleared:
    """A setting that an evaluation run must not have."""

    kind: Literal["env", "arg", "json"]
    name: str
    instead: str | None = None
    """The value to give in its place, where leaving it out is not enough."""


@dataclass(frozen=True)
class EngineWarning:
    """What the engine's version would do otherwise."""

    code: str
    message: str


@dataclass(frozen=True)
class Settings:
    """What an engine must be told to hold a target."""

    engine: Engine
    engine_version: str | None
    target: SettingsTarget
    settings: list[Setting]
    unset: list[Cleared]
    """What an evaluation run must clear."""
    warnings: list[EngineWarning]

    @property
    def environment(self) -> dict[str, str]:
        """The variables, as ``subprocess`` takes them; empty for engines that have none (vLLM, ATOM)."""
        return self._of("env")

    @property
    def arguments(self) -> list[str]:
        """The arguments of the server's command line, name and value one after another."""
        return [word for pair in self._of("arg").items() for word in pair]

    @property
    def speculative_config(self) -> dict[str, str | float]:
        """The keys for vLLM's ``--speculative-config``, lengths as numbers."""
        return {name: _number(value) for name, value in self._of("json").items()}

    def _of(self, kind: str) -> dict[str, str]:
        return {setting.name: setting.value for setting in self.settings if setting.kind == kind}


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def settings(
    target: Target,
    engine: Engine,
    *,
    engine_version: str | None = None,
    algorithm: str | None = None,
    eagle_topk: int | None = None,
    overlap: bool | None = None,
    two_model: bool = False,
    golden_dir: PathLike | None = None,
) -> Settings:
    """The settings with which an engine simulates a target, in the engine's own unit.

    Without ``engine_version`` the newest known release is meant. ``algorithm`` (of a :class:`Length`), ``eagle_topk``,
    ``overlap`` and ``two_model`` say how the server drafts, where warnings depend on it.

    >>> import accsim
    >>> told = accsim.settings(accsim.Cell("dsv41flash", "dspark", 5), "sglang", engine_version="0.5.16")
    >>> told.environment["SGLANG_SIMULATE_ACC_LEN"]
    '3.51'
    >>> [warning.code for warning in told.warnings]
    ['dspark-rounds-target', 'token-mode-unsupported']
    """
    options, words = positional(target)
    args = [
        "env",
        "--json",
        *flag("golden-dir", golden_dir),
        *flag("engine", engine),
        *flag("engine-version", engine_version),
        *flag("algorithm", algorithm),
        *flag("eagle-topk", eagle_topk),
        *flag("overlap", None if overlap is None else "on" if overlap else "off"),
        *flag("two-model", two_model),
        *options,
    ]
    return decode(Settings, document([*args, "--", *words]))
