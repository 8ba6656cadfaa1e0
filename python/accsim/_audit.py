"""What an audit finds: the dataclasses follow ``docs/schema/audit.schema.json`` field by field."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal

from ._columns import Columns
from ._target import ThinkingMode

Verdict = Literal["consistent", "inconsistent", "insufficient", "unauditable"]


@dataclass(frozen=True)
class Place:
    """A line of a file."""

    file: str | None
    line: int
    """From 1."""


@dataclass(frozen=True)
class AuditTarget:
    """What points were meant to show."""

    source: Literal["golden", "explicit", "recipe", "env", "log"]
    """Who set it."""
    curve: str | None
    thinking: ThinkingMode | None
    draft_length: int | None
    accept_length: float
    """Tokens a verify step, the target model's own included."""
    max_accept_length: int


@dataclass(frozen=True)
class SkippedLines:
    """Lines that count for nothing, by the reason."""

    truncated: int
    duplicate: int
    lookalike: int
    idle: int
    not_finite: int
    out_of_scope: int


@dataclass(frozen=True)
class Rank:
    """The lines of one rank."""

    tags: dict[str, int]
    lines: int
    accept_len: float | None
    """Plain mean of the printed values, in tokens."""
    max_running_req: int | None


@dataclass(frozen=True)
class AcceptLen:
    """Accept lengths in tokens a verify step; all ``None`` when no line has one."""

    mean: float | None
    weighted: float | None
    """Weighed by the running requests."""
    min: float | None
    max: float | None
    ci_low: float | None
    """The interval that decides: from here..."""
    ci_high: float | None
    """...to here."""
    confidence: float | None


@dataclass(frozen=True)
class RunningReq:
    """Running requests of the decode lines."""

    min: int | None
    max: int | None


@dataclass(frozen=True)
class CudaGraph:
    """Decode lines by their graph flag."""

    true: int
    false: int


@dataclass(frozen=True)
class QueueReq:
    """Queued requests of the decode lines."""

    max: int | None


@dataclass(frozen=True)
class GenThroughput:
    """Tokens a second without idle time, the sum over the ranks."""

    median: float | None
    steady_mean: float | None


@dataclass(frozen=True)
class Server:
    """What the first server's own arguments say."""

    speculative_algorithm: str | None
    num_steps: int | None
    num_draft_tokens: int | None
    block_size: int | None
    decode_log_interval: int | None


@dataclass(frozen=True)
class Injected:
    """A setting of the simulation as the log shows it."""

    name: str
    value: str
    evidence: Place


@dataclass(frozen=True)
class Margin:
    """How far the mean may lie from the target."""

    share: float | None
    tokens: float | None
    is_default: bool


@dataclass(frozen=True)
class Line:
    """What one decode line stands for, and what it shows when the target is simulated as it should be."""

    interval: int
    """Verify steps a line."""
    interval_source: Literal["given", "server_args", "inferred", "default", "windows"]
    sd: float | None
    low95: float | None
    high95: float | None
    lo: int | None
    """No line lies below."""
    hi: int | None
    """No line lies above."""


@dataclass(frozen=True)
class RivalCell:
    """A golden cell that the lines cannot tell from the target."""

    curve: str
    thinking: ThinkingMode
    draft_length: int
    accept_length: float


@dataclass(frozen=True)
class Dispersion:
    """Scatter D of the steady lines about the target."""

    d: float
    lines: int
    lower_tail: float
    upper_tail: float


@dataclass(frozen=True)
class Mechanism:
    """Which law wrote the lines."""

    best: str | None
    rejected: list[str]
    log_likelihood: dict[str, float | None]
    cells_not_told_apart: list[RivalCell]
    dispersion: Dispersion | None


@dataclass(frozen=True)
class Pooled:
    """What evidence that comes as sums adds up to (vLLM, ATOM, counters, requests)."""

    windows: int
    accepted: int
    drafted: int
    steps_low: int
    steps_high: int
    draft_length: int | None
    per_position: list[float]
    histogram: list[int]


@dataclass(frozen=True)
class ReplayedLine:
    """A line beside the draws that were recomputed for it."""

    file: str | None
    line: int
    printed: float
    expected: float


@dataclass(frozen=True)
class Slip:
    """Draws that were passed over before a line."""

    file: str | None
    line: int
    draws: int


@dataclass(frozen=True)
class Replay:
    """The server's own random draws, laid against the lines."""

    status: Literal["proved", "other-target", "contradicted", "unavailable"]
    seed: int | None
    target: float | None
    """The accept length that was found."""
    method: str | None
    max_accept_length: int | None
    lines_checked: int
    lines_exact: int
    lines_bounded: int
    steady_lines: int
    steady_exact: int
    first_mismatch: ReplayedLine | None
    first_lines: list[ReplayedLine | None]
    draws: int
    slips: list[Slip]
    log10_chance: float | None
    """Decimal logarithm of the chance of an accident."""
    reason: str | None


@dataclass(frozen=True)
class Finding:
    """A remark."""

    code: str
    severity: Literal["error", "warning", "note"]
    message: str
    """What it means and what to do next."""
    evidence: Place | None
    """A line that shows it."""


@dataclass(frozen=True)
class Point:
    """One run of one server."""

    name: str
    files: list[str]
    engine: str | None
    engine_version: str | None
    decode_lines: int
    spec_lines: int
    """Decode lines with an accept length."""
    skipped_lines: SkippedLines
    steps: int
    """Verify steps of all speculative lines."""
    independent_steps: float
    """Those of them that are independent draws."""
    rank_correlation: float | None
    ranks: list[Rank]
    accept_len: AcceptLen
    running_req: RunningReq
    cuda_graph: CudaGraph
    queue_req: QueueReq
    gen_throughput_tps: GenThroughput
    server: Server
    injected: list[Injected]
    margin: Margin
    line: Line
    mechanism: Mechanism
    findings: list[Finding]
    """The gravest first."""
    verdict: Verdict
    reason: str
    """Why, in a sentence."""
    pooled: Pooled | None = None
    replay: Replay | None = None
    target: AuditTarget | None = None
    """Of an audit of a manifest: what the point was meant to show."""
    row: int | None = None
    """Of an audit of a manifest: the number of the point's row, from 1."""
    labels: dict[str, str] = field(default_factory=dict)
    """Of an audit of a manifest: the row's labels."""


@dataclass(frozen=True)
class FailedRow:
    """A row of a manifest of which something could not be done."""

    row: int | None
    """Its number, from 1; ``None`` for a part that could not be read."""
    path: str
    """Its paths as tables show them, empty where nobody can read them."""
    labels: dict[str, str]
    failures: list[str]
    """What could not be done, and why."""


@dataclass(frozen=True)
class Audit:
    """What an audit finds."""

    target: AuditTarget | None
    """What every point was meant to show; ``None`` without a target, and where the points' targets differ."""
    points: list[Point]
    verdict: Verdict
    """The worst of the points."""
    errors: list[str]
    """What could not be read to its end: the points do not hold all of it."""
    notes: list[str]
    schema_version: int
    verdicts: dict[str, int] = field(default_factory=dict)
    """Of an audit of a manifest: points by verdict."""
    failed_rows: list[FailedRow] = field(default_factory=list)
    """Of an audit of a manifest: rows of which something could not be done. What they say stands in ``errors`` too."""
    document: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The JSON document that this was made of."""

    @property
    def is_consistent(self) -> bool:
        """Whether every point shows its target, and all of every file was read."""
        return self.verdict == "consistent" and not self.errors

    def columns(self) -> Columns:
        """One row a point, as a table: ``pandas.DataFrame(audit.columns())``. Nested names are joined by a dot."""
        return Columns.of(_flat(point) for point in self.points)


def _flat(point: Point) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in dataclasses.asdict(point).items():
        if isinstance(value, dict):
            row.update((f"{name}.{inner}", part) for inner, part in value.items() if not _is_nested(part))
        elif not _is_nested(value):
            row[name] = value
    row["findings"] = " ".join(dict.fromkeys(finding.code for finding in point.findings))
    return row


def _is_nested(value: object) -> bool:
    return isinstance(value, (dict, list))
