"""Golden accept lengths for LLM inference benchmarks: engine settings, and an audit of server logs against them.

Three jobs: write a recipe (:func:`golden_length`, :func:`settings`), sign off a run (:func:`audit`), look ahead
(:func:`simulate`, :func:`predict`). :func:`records` gives what the readers found, :func:`run` every other command.

>>> import accsim
>>> accsim.golden_length("glm5.2", "mtp", 3)
2.99
>>> accsim.settings(accsim.Cell("glm5.2", "mtp", 3), "sglang").environment["SGLANG_SIMULATE_ACC_LEN"]
'2.99'
>>> accsim.audit("tests/data/h200/e3k3_al299.log", accsim.Cell("glm5.2", "mtp", 3)).verdict
'consistent'

Nothing uses the network. Lengths are tokens a verify step, the target model's own included.
"""

from ._accsim import __version__
from ._audit import (
    AcceptLen,
    Audit,
    AuditTarget,
    CudaGraph,
    Dispersion,
    FailedRow,
    Finding,
    GenThroughput,
    Injected,
    Line,
    Margin,
    Mechanism,
    Place,
    Point,
    Pooled,
    QueueReq,
    Rank,
    Replay,
    ReplayedLine,
    RivalCell,
    RunningReq,
    Server,
    SkippedLines,
    Slip,
    Verdict,
)
from ._auditing import UnreadableError, audit
from ._columns import Columns, Distribution
from ._command import AccsimError, Completed, run
from ._prediction import Baseline, Level, Prediction, Predictions, predict
from ._records import records
from ._settings import Cleared, Engine, EngineWarning, Setting, Settings, SettingsTarget, settings
from ._simulation import (
    EngineBehaviour,
    Exact,
    Law,
    LogLine,
    Method,
    Note,
    Replicates,
    Sample,
    Simulation,
    SimulationTarget,
    simulate,
)
from ._target import (
    Cell,
    Curve,
    GoldenCell,
    Length,
    LookupWarning,
    Target,
    Thinking,
    ThinkingMode,
    curves,
    golden_cell,
    golden_length,
)

__all__ = [
    "AcceptLen",
    "AccsimError",
    "Audit",
    "AuditTarget",
    "Baseline",
    "Cell",
    "Cleared",
    "Columns",
    "Completed",
    "CudaGraph",
    "Curve",
    "Dispersion",
    "Distribution",
    "Engine",
    "EngineBehaviour",
    "EngineWarning",
    "Exact",
    "FailedRow",
    "Finding",
    "GenThroughput",
    "GoldenCell",
    "Injected",
    "Law",
    "Length",
    "Level",
    "Line",
    "LogLine",
    "LookupWarning",
    "Margin",
    "Mechanism",
    "Method",
    "Note",
    "Place",
    "Point",
    "Pooled",
    "Prediction",
    "Predictions",
    "QueueReq",
    "Rank",
    "Replay",
    "ReplayedLine",
    "Replicates",
    "RivalCell",
    "RunningReq",
    "Sample",
    "Server",
    "Setting",
    "Settings",
    "SettingsTarget",
    "Simulation",
    "SimulationTarget",
    "SkippedLines",
    "Slip",
    "Target",
    "Thinking",
    "ThinkingMode",
    "UnreadableError",
    "Verdict",
    "__version__",
    "audit",
    "curves",
    "golden_cell",
    "golden_length",
    "predict",
    "records",
    "run",
    "settings",
    "simulate",
]
