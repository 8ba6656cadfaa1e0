"""Throughput at other accept lengths."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from . import _accsim
from ._columns import Columns
from ._command import FAILED, AccsimError, PathLike, Paths, flag, message, parsed, path_list
from ._decode import decode


@dataclass(frozen=True)
class Level:
    """What was measured at one number of running requests."""

    running_req: int
    accept_length: float
    gen_throughput_tps: float
    """Tokens a second, with the interval from ``low`` to ``high``."""
    low: float
    high: float
    step_ms: float | None
    """Milliseconds a verify step."""
    prefill_share: float | None
    """Share of the time that prefill takes."""
    context_tokens: float | None
    """Mean context of a request, in tokens."""
    lines: int
    busy_ranks: int = 1
    """Data-parallel ranks that had requests."""


@dataclass(frozen=True)
class Baseline:
    """What the logs or the model hold."""

    draft_length: int | None
    """``None`` where nothing tells it."""
    ranks: int
    step_law: str
    """``fitted``, or why no law of the step time was fitted."""
    missing: list[str]
    """Runs that would tell what these do not."""
    left_out_median: float | None
    """Median error, as a share, at a batch that was left out of the fit."""
    left_out_largest: float | None
    levels: list[Level]


@dataclass(frozen=True)
class Prediction:
    """Throughput at one accept length and number of running requests."""

    accept_length: float
    draft_length: int | None
    running_req: int
    gen_throughput_tps: float
    """Tokens a second, with the interval from ``low`` to ``high``."""
    low: float
    high: float
    queued_req: int
    """Requests that wait, as the server runs no more."""
    lines_low: float
    """The interval of the lines alone, without the error of the model."""
    lines_high: float
    band: Literal["lines", "lines and model error"]
    """What ``low`` and ``high`` hold."""
    basis: Literal["measured", "ratio", "interpolated", "extrapolated"]
    """What the number stands on."""
    factor_low: float | None
    factor_high: float | None
    tpot_ms: float
    """Milliseconds per output token of a request."""
    e2e_s: float | None
    """Seconds of a whole request."""
    step_ms: float | None
    prefill_share: float | None
    queue_s: float | None = None
    """Seconds of it in the queue."""
    concurrency: int | None = None
    """Requests in flight over all ranks, where they were asked for."""
    gen_throughput_tps_per_gpu: float | None = None
    speedup: float | None = None
    """Over the runs without speculation, where ``base`` names them."""
    speedup_basis: str | None = None
    break_even_accept_length: float | None = None
    break_even_reachable: bool | None = None
    """Whether a step can have that length."""


@dataclass(frozen=True)
class Predictions:
    """What was measured, and what follows."""

    baseline: Baseline
    predictions: list[Prediction]
    refused: list[str] = field(default_factory=list)
    """Questions without an answer, and why."""

    def columns(self) -> Columns:
        """The predictions as a table: ``pandas.DataFrame(predictions.columns())``."""
        return Columns.of(dataclasses.asdict(one) for one in self.predictions)


def predict(
    paths: Paths,
    accept_length: float | Sequence[float],
    *,
    running_req: int | Sequence[int] | None = None,
    concurrency: int | Sequence[int] | None = None,
    base: PathLike | None = None,
    isl: str | int | None = None,
    osl: str | int | None = None,
    gpus: int | None = None,
    draft_length: int | None = None,
    role: Literal["both", "decode"] | None = None,
    decode_log_interval: int | None = None,
) -> Predictions:
    """Tokens a second at other accept lengths, from logs or from one model of ``accsim throughput calibrate``.

    ``running_req`` and ``concurrency`` are batches of a rank and requests in flight over all ranks; without either, those
    of the logs. ``isl`` and ``osl`` are input and output tokens of a request, a number or a range ``"A-B"``.

    What the evidence cannot answer is no exception as long as something can be: it stands in :attr:`Predictions.refused`.

    >>> import accsim
    >>> seen = accsim.predict("tests/data/h200/e3k3_al299.log", 2.0, running_req=16)
    >>> [(round(one.gen_throughput_tps), one.basis) for one in seen.predictions]
    [(3135, 'ratio')]
    """
    args = [
        "throughput",
        "predict",
        "--json",
        *flag("accept-length", _several(accept_length)),
        *flag("running-req", _several(running_req)),
        *flag("concurrency", _several(concurrency)),
        *flag("base", base),
        *flag("isl", isl),
        *flag("osl", osl),
        *flag("gpus", gpus),
        *flag("draft-length", draft_length),
        *flag("role", role),
        *flag("decode-log-interval", decode_log_interval),
    ]
    code, out, err = _accsim.run([*args, "--", *path_list(paths)])
    if code == FAILED or not out:
        raise AccsimError(message(err))
    lines = err.decode("utf-8", "replace").splitlines()
    refused = [line.removeprefix("refused: ") for line in lines if line.startswith("refused: ")]
    return decode(Predictions, {**parsed(out), "refused": refused})


def _several(value: object) -> object:
    """Anything with elements (an array too) as a list; a text is itself."""
    return list(value) if hasattr(value, "__iter__") and not isinstance(value, str) else value
