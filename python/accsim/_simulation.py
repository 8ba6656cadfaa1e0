"""What a run would show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ._columns import Distribution
from ._command import PathLike, document, flag
from ._decode import decode
from ._settings import Engine
from ._target import Target, ThinkingMode, positional

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

Method = Literal[
    "match-expected",
    "multinomial",
    "clamped-short",
    "rounded",
    "per-request",
    "constant",
    "per-position",
    "geometric",
    "real",
]


@dataclass(frozen=True)
class SimulationTarget:
    """The target that is simulated; all but the lengths are ``None`` where it is not golden."""

    golden: bool
    curve: str | None
    thinking: ThinkingMode | None
    draft_length: int | None
    accept_length: float
    max_accept_length: int


@dataclass(frozen=True)
class Law:
    """How accept lengths are drawn."""

    method: str
    accept_length: float
    max_accept_length: int


@dataclass(frozen=True)
class Exact:
    """The accept length of one draw, exactly; in tokens a verify step."""

    mean: float
    variance: float
    pmf: Distribution
    """Probability by accept length."""


@dataclass(frozen=True)
class Sample:
    """What was drawn."""

    seed: int
    steps: int
    """Verify steps of each rank."""
    batch: int
    ranks: int
    ranks_share_draws: bool
    replicates: int
    draws: int
    mean: float | None
    variance: float | None
    histogram: Distribution
    """Draws by accept length."""


@dataclass(frozen=True)
class LogLine:
    """The accept length that one decode line prints."""

    interval: int
    """Verify steps a line."""
    sd: float
    low95: float
    """Mean - 1.96 sd."""
    high95: float
    """Mean + 1.96 sd."""
    values: Distribution
    """Probability by printed value, down to one in 10^12."""


@dataclass(frozen=True)
class Note:
    """What else there is to know."""

    code: str
    message: str


@dataclass(frozen=True)
class EngineBehaviour:
    """What the engine's version does with the target, where ``engine`` names one."""

    name: str
    version: str | None
    algorithm: str | None
    outcome: str
    reason: str | None
    """Why there is no law."""
    source: str
    """Where that is known from."""
    ranks_draw_alike: bool | None
    notes: list[Note]
    code: str | None = None
    """The warning of :func:`settings` for it."""


@dataclass(frozen=True)
class Replicates:
    """How the means of several runs scatter."""

    count: int
    mean_sd: float
    exact_mean_sd: float
    mean_min: float
    mean_max: float


@dataclass(frozen=True)
class Simulation:
    """What a run would show. ``law``, ``exact``, ``sample`` and ``line`` are ``None`` where a server draws from no law."""

    target: SimulationTarget
    law: Law | None
    exact: Exact | None
    sample: Sample | None
    line: LogLine | None
    engine: EngineBehaviour | None = None
    replicates: Replicates | None = None
    """With several replicates: how their means scatter."""
    random_seed: int | None = None
    lines: list[float] = field(default_factory=list)
    """With ``random_seed``: the values that the server's decode lines will print."""

    def lines_numpy(self) -> NDArray[numpy.float64]:
        """:attr:`lines` as an array. Needs numpy."""
        import numpy as np

        return np.array(self.lines, dtype=np.float64)


def simulate(
    target: Target | None = None,
    *,
    method: Method | None = None,
    rates: Sequence[float] | None = None,
    conditional_rates: Sequence[float] | None = None,
    algorithm: str | None = None,
    num_steps: int | None = None,
    block_size: int | None = None,
    engine: Engine | None = None,
    engine_version: str | None = None,
    steps: int | None = None,
    batch: int | None = None,
    ranks: int | None = None,
    ranks_share_draws: bool | None = None,
    seed: int | None = None,
    random_seed: int | None = None,
    replicates: int | None = None,
    decode_log_interval: int | None = None,
    lines: int | None = None,
    golden_dir: PathLike | None = None,
) -> Simulation:
    """Draw accept lengths from an engine's law, and say what its log would show. The same arguments, the same result.

    ``target`` is left out where ``rates`` (unconditional, of each draft position) or ``conditional_rates`` say it.
    ``random_seed`` is a SGLang server's own seed: :attr:`Simulation.lines` is then what its log prints.

    >>> import accsim
    >>> made = accsim.simulate(accsim.Length(3.51, 6), steps=1000)
    >>> made.exact.pmf
    {3.0: 0.49, 4.0: 0.51}
    >>> accsim.simulate(accsim.Length(3.51, 6), random_seed=7).lines[:4]
    [3.6, 3.45, 3.58, 3.65]
    """
    options, words = positional(target) if target is not None else ([], [])
    shared = None if ranks_share_draws is None else str(ranks_share_draws).lower()
    args = [
        "simulate",
        "--json",
        *flag("golden-dir", golden_dir),
        *flag("method", method),
        *flag("rates", rates),
        *flag("conditional-rates", conditional_rates),
        *flag("algorithm", algorithm),
        *flag("num-steps", num_steps),
        *flag("block-size", block_size),
        *flag("engine", engine),
        *flag("engine-version", engine_version),
        *flag("steps", steps),
        *flag("batch", batch),
        *flag("ranks", ranks),
        *flag("ranks-share-draws", shared),
        *flag("seed", seed),
        *flag("random-seed", random_seed),
        *flag("replicates", replicates),
        *flag("decode-log-interval", decode_log_interval),
        *flag("lines", lines),
        *options,
    ]
    return decode(Simulation, document([*args, "--", *words]))
