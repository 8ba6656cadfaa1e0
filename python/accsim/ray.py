"""Audits of whole fleets on Ray: a manifest's rows spread over the nodes of a cluster, and put together as one machine would.

It needs Ray Data (``pip install accsim[ray]``), this package on every node, and the manifest and its relative paths on a
file system that all nodes share; rows may also name objects of a store (``s3://bucket/run``), which each node fetches for itself.

>>> import accsim.ray  # doctest: +SKIP
>>> found = accsim.ray.audit_manifest("runs.csv", output="results.parquet", format="parquet")  # doctest: +SKIP
>>> found.exit_code, found.lost_rows  # doctest: +SKIP
(0, [])
"""

from __future__ import annotations

import importlib
import math
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from . import _accsim
from ._auditing import target_flags
from ._command import FAILED, AccsimError, PathLike, flag, message
from ._target import Target

__all__ = ["FleetAudit", "audit_manifest"]

_FIRST_TRIES = 3
"""How often Ray starts a task whose worker dies, before its rows are looked at one by one."""

_TRIES_ALONE = 2
"""The same for a row alone, and for the command of a row that dies by itself."""

_FAN_IN = 16
"""Parts that one task merges."""

_CODES = (0, 1, FAILED, 3)


@dataclass(frozen=True)
class FleetAudit:
    """What came of a manifest."""

    exit_code: int
    """0: every point is consistent; 1: one is not; 2: a row failed; 3: one cannot be decided."""
    table: bytes
    """The result in the format that was asked for, byte for byte as ``accsim audit --manifest`` writes it."""
    messages: str
    """Failures and notes by row."""
    lost_rows: list[int]
    """Rows, from 1, that took the process with them that audited them, each time. They stand in the result as failures."""


@dataclass(frozen=True)
class _Work:
    """What every task is told."""

    manifest: str
    flags: list[str]
    folder: str
    """The folder that relative paths start from, on every node."""
    program: list[str]
    timeout_s: float | None

    def words(self, index: int, of: int) -> list[str]:
        return ["audit", "--manifest", self.manifest, "--shard", f"{index}/{of}", "--partial", "--quiet", *self.flags]

    def part(self, index: int, of: int, tries: int) -> tuple[bytes, str]:
        """The part of some rows, or why there is none. The command has a process of its own: what kills it kills no worker."""
        why = ""
        for _ in range(tries):
            try:
                done = subprocess.run(
                    [*self.program, *self.words(index, of)],
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=self.timeout_s,
                )
            except subprocess.TimeoutExpired:
                return b"", f"the audit took longer than {self.timeout_s:g} s"
            if done.returncode in _CODES:
                if done.stdout:
                    return done.stdout, ""
                raise AccsimError(message(done.stderr))
            died = -done.returncode
            why = f"was ended by signal {died}" if died > 0 else f"ended with code {done.returncode}"
        return b"", f"the process that audited it {why}"

    def failure(self, row: int, of: int, why: str) -> bytes:
        """The part of a row that is given up."""
        code, out, err = _accsim.run([*self.words(row, of), f"--failure={why}"])
        if code not in _CODES or not out:
            raise AccsimError(message(err))
        return out


def audit_manifest(
    manifest: PathLike,
    target: Target | float | None = None,
    *,
    output: PathLike | None = None,
    format: Literal["text", "csv", "json", "parquet"] = "csv",
    env: PathLike | None = None,
    recipe: PathLike | None = None,
    expect_real: bool = False,
    engine: Literal["auto", "sglang", "vllm", "trtllm", "atom", "tilert"] | None = None,
    margin: str | float | None = None,
    confidence: float | None = None,
    decode_log_interval: int | None = None,
    since: str | None = None,
    until: str | None = None,
    point_by: Literal["path", "dir", "worker"] | None = None,
    replay: Literal["auto", "off", "require"] | None = None,
    random_seed: int | None = None,
    golden_dir: PathLike | None = None,
    rows_per_task: int = 32,
    num_cpus: float = 1,
    timeout_s: float | None = 3600.0,
    program: list[str] | None = None,
) -> FleetAudit:
    """Audit the runs that a manifest lists, on the Ray cluster at hand, and merge what the nodes found.

    ``manifest``: CSV or JSON lines, as for ``accsim audit --manifest``; its columns go before ``target`` and the other flags
    about how to judge, which are those of :func:`accsim.audit`. Each task audits ``rows_per_task`` rows with ``num_cpus`` CPUs
    into a part of a few kilobytes a row; parts are merged in a tree. The result is the one that one process would print.

    A worker or node that is lost costs time only: its task runs again elsewhere. Rows whose task is lost again and again are
    audited one by one, and one that takes its process with it each time, or ``timeout_s`` seconds, becomes a failure of its row:
    nothing is tried for ever. A file that cannot be read is a failure of its row at once.

    ``program``: the command that stands for ``accsim`` on the nodes; this Python's own by default.

    Raises :class:`accsim.AccsimError` for a manifest or a flag that cannot be used.
    """
    ray: Any = _ray()
    path = os.fspath(manifest)
    if path == "-":
        raise AccsimError("a manifest on standard input cannot be read on several nodes; name a file")
    if rows_per_task < 1:
        raise ValueError("rows_per_task is at least 1")
    try:
        most = _lines(path)
    except OSError as error:
        raise AccsimError(f"cannot read {path}: {error.strerror}") from None
    work = _Work(
        manifest=path,
        flags=[
            *flag("threads", max(1, math.floor(num_cpus))),
            *flag("golden-dir", golden_dir),
            *target_flags(target),
            *flag("env", env),
            *flag("recipe", recipe),
            *flag("expect-real", expect_real),
            *flag("engine", engine),
            *flag("margin", margin),
            *flag("confidence", confidence),
            *flag("decode-log-interval", decode_log_interval),
            *flag("since", since),
            *flag("until", until),
            *flag("point-by", point_by),
            *flag("replay", replay),
            *flag("random-seed", random_seed),
        ],
        folder=os.getcwd(),
        program=program or [sys.executable, "-m", "accsim"],
        timeout_s=timeout_s,
    )
    # A flag or a manifest that cannot be used is refused here, before any task.
    _accept(work, most)
    of = max(1, math.ceil(most / rows_per_task))
    parts, missing = _audited(ray, work, range(1, of + 1), of, _FIRST_TRIES, 1, num_cpus)
    kept = [parts]
    lost: list[int] = []
    rows = sorted(row for shard in missing for row in range(shard, most + 1, of))
    if rows:
        alone, gone = _audited(ray, work, rows, most, _TRIES_ALONE, _TRIES_ALONE, num_cpus)
        kept.append(alone)
        failed = [{"index": row, "part": work.failure(row, most, why), "why": ""} for row, why in sorted(gone.items())]
        if failed:
            kept.append(ray.data.from_items(failed))
        lost = sorted(gone)
    golden = flag("golden-dir", os.path.abspath(golden_dir) if golden_dir is not None else None)
    together = [bytes(row["part"]) for row in _merged(kept, num_cpus, golden).take_all()]
    code, table, messages = _finish(together, output, format, golden)
    return FleetAudit(code, table, messages, lost)


def _ray() -> Any:
    try:
        ray = importlib.import_module("ray")
        importlib.import_module("ray.data")
    except ImportError as error:
        raise ImportError("accsim.ray needs Ray Data: pip install 'accsim[ray]'") from error
    return ray


def _lines(path: str) -> int:
    """At least as many as there are rows."""
    lines = 1
    with open(path, "rb") as file:
        while held := file.read(1 << 20):
            lines += held.count(b"\n")
    return lines


def _accept(work: _Work, most: int) -> None:
    """Refuse what no task could use: a row number behind the last one has no rows, so nothing is audited here."""
    code, out, err = _accsim.run([*work.words(most + 1, most + 1), "--failure=none"])
    if code not in _CODES or not out:
        raise AccsimError(message(err))


def _audited(
    ray: Any, work: _Work, indices: Any, of: int, starts: int, tries: int, num_cpus: float
) -> tuple[Any, dict[int, str]]:
    """The parts of shards, and those shards that have none, each with why."""
    wanted = list(indices)

    def audit(batch: dict[str, Any]) -> dict[str, list[Any]]:
        index = int(batch["index"][0])
        part, why = work.part(index, of, tries)
        return {"index": [index], "part": [part], "why": [why]}

    shards = ray.data.from_items([{"index": index} for index in wanted], override_num_blocks=len(wanted))
    parts = shards.map_batches(audit, batch_size=1, num_cpus=num_cpus, max_retries=starts - 1)
    # A task whose worker died each time is no reason to give up the others. Ray Data by itself starts it for ever.
    parts.context.max_errored_blocks = -1
    parts = parts.materialize()
    said = {int(row["index"]): str(row["why"]) for row in parts.select_columns(["index", "why"]).iter_rows()}
    lost = f"the worker that audited it was lost {starts} times"
    missing = {index: said.get(index, lost) for index in wanted if said.get(index, lost)}
    return parts.filter(lambda row: not row["why"]), missing


def _merged(kept: list[Any], num_cpus: float, golden: list[str]) -> Any:
    """At most as many parts as one task merges."""

    def merge(batch: dict[str, Any]) -> dict[str, list[bytes]]:
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = _accsim.run(["merge", "--partial", "--quiet", *golden, "--", *_written(batch["part"], folder)])
        if code != 0:
            raise AccsimError(message(err))
        return {"part": [out]}

    parts = kept[0].union(*kept[1:]) if len(kept) > 1 else kept[0]
    parts = parts.select_columns(["part"]).materialize()
    while (count := parts.count()) > _FAN_IN:
        # As many as come to equal shares.
        share = math.ceil(count / math.ceil(count / _FAN_IN))
        merged = parts.repartition(math.ceil(count / share))
        # A merge that is lost again and again ends the whole: nothing is left out in silence.
        merged = merged.map_batches(merge, batch_size=None, num_cpus=num_cpus, max_retries=_FIRST_TRIES)
        parts = merged.materialize()
    return parts


def _written(parts: Any, folder: str) -> list[str]:
    paths = [Path(folder) / f"{number}.json" for number in range(len(parts))]
    for path, part in zip(paths, parts):
        path.write_bytes(part)
    return [os.fspath(path) for path in paths]


def _finish(parts: list[bytes], output: PathLike | None, format: str, golden: list[str]) -> tuple[int, bytes, str]:
    """The table of all parts, written to the output where there is one."""
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "result")
        code, _, err = _accsim.run(["merge", *golden, f"--format={format}", "-o", result, "--", *_written(parts, folder)])
        if not os.path.exists(result):
            raise AccsimError(message(err))
        table = Path(result).read_bytes()
    if output is not None:
        # Beside it first: nobody reads half a table.
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(os.path.abspath(output)), delete=False) as file:
            file.write(table)
        os.chmod(file.name, 0o666 & ~_umask())
        os.replace(file.name, output)
    return code, table, err.decode("utf-8", "replace")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
