"""What a run is meant to show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Union

from ._command import PathLike, document, flag
from ._decode import decode

Thinking = Literal["on", "off"]
ThinkingMode = Literal["thinking_on", "thinking_off", "unstated"]


@dataclass(frozen=True)
class Cell:
    """A golden cell by its name.

    >>> import accsim
    >>> accsim.settings(accsim.Cell("glm5.2", "mtp", 3), "trtllm").environment
    {'TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS': '1.99'}
    """

    prefix: str
    """Model prefix: ``glm5.2``, ``dsv41flash``, ..."""
    method: str
    """Drafting method: ``mtp``, ``eagle3``, ``dspark``, or an alias."""
    draft_length: int
    """Tokens drafted per verify step."""
    thinking: Thinking = "on"
    draft_model: str | None = None
    """Draft model, where the curve depends on it."""
    draft_sample_method: str | None = None
    """How the draft samples, where the curve depends on it: ``probabilistic`` or ``greedy``."""

    def _options(self) -> list[str]:
        return [
            *flag("thinking", self.thinking),
            *flag("draft-model", self.draft_model),
            *flag("draft-sample-method", self.draft_sample_method),
        ]

    def _words(self) -> list[str]:
        return [self.prefix, self.method, str(self.draft_length)]


@dataclass(frozen=True)
class Length:
    """A target that is not golden: the numbers themselves."""

    accept_length: float
    """Tokens per verify step, the target model's own included."""
    max_accept_length: int | None = None
    """Most tokens that one verify step can emit: draft length + 1. An audit can read it from the log."""

    def _options(self) -> list[str]:
        return [
            *flag("accept-length", self.accept_length),
            *flag("max-accept-length", self.max_accept_length),
        ]


Target = Union[Cell, Length]


def positional(target: Target) -> tuple[list[str], list[str]]:
    """Options and words of the commands that take a cell as three words."""
    return target._options(), target._words() if isinstance(target, Cell) else []


@dataclass(frozen=True)
class LookupWarning:
    """What there is to know about a golden cell."""

    code: str
    severity: str
    message: str


@dataclass(frozen=True)
class GoldenCell:
    """A golden cell with its value and where it was measured."""

    curve: str
    model: str
    method: str
    thinking: ThinkingMode
    draft_length: int
    accept_length: float
    """Tokens per verify step, the target model's own included; as committed, with two decimals."""
    max_accept_length: int
    source: str
    warnings: list[LookupWarning]
    """A curve that is provisional or retired, a draft model that was not stated, and the like."""


def golden_cell(
    prefix: str,
    method: str,
    k: int,
    thinking: Thinking = "on",
    *,
    draft_model: str | None = None,
    draft_sample_method: str | None = None,
    golden_dir: PathLike | None = None,
) -> GoldenCell:
    """Look one golden cell up. Nothing is interpolated: a cell that was not measured is an :class:`AccsimError`.

    ``golden_dir`` replaces the compiled-in curves, as the variable ``ACCSIM_GOLDEN_DIR`` does.
    """
    cell = Cell(prefix, method, k, thinking, draft_model, draft_sample_method)
    args = ["curves", "lookup", "--json", *flag("golden-dir", golden_dir), *cell._options(), "--", *cell._words()]
    return decode(GoldenCell, document(args))


def golden_length(
    prefix: str,
    method: str,
    k: int,
    thinking: Thinking = "on",
    *,
    draft_model: str | None = None,
    draft_sample_method: str | None = None,
    golden_dir: PathLike | None = None,
) -> float:
    """The golden accept length of a model prefix, a drafting method and a draft length, in tokens a verify step.

    >>> import accsim
    >>> accsim.golden_length("dsv41flash", "dspark", 5)
    3.51
    >>> accsim.golden_length("dsv4", "mtp", 3, thinking="off")
    2.97
    """
    found = golden_cell(
        prefix,
        method,
        k,
        thinking,
        draft_model=draft_model,
        draft_sample_method=draft_sample_method,
        golden_dir=golden_dir,
    )
    return found.accept_length


@dataclass(frozen=True)
class Curve:
    """A golden curve: which cells it has."""

    curve: str
    model: str
    method: str
    status: str
    """``committed``, ``provisional`` or ``retired``."""
    modes: dict[str, list[int]]
    """Draft lengths by thinking mode."""
    source: str


@dataclass(frozen=True)
class _CurveList:
    curves: list[Curve]


def curves(*, golden_dir: PathLike | None = None) -> list[Curve]:
    """All golden curves.

    >>> import accsim
    >>> [curve.curve for curve in accsim.curves() if curve.method == "eagle3" and curve.status == "committed"]
    ['minimaxm3_eagle3', 'minimaxm3_eagle3_gqa']
    """
    return decode(_CurveList, document(["curves", "list", "--json", *flag("golden-dir", golden_dir)])).curves
