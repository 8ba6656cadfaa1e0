"""What the readers find in logs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from . import _accsim
from ._columns import Columns
from ._command import FAILED, AccsimError, Paths, flag, message, path_list


def records(
    paths: Paths,
    kind: str | Sequence[str] | None = "decode",
    *,
    threads: int | None = None,
) -> Columns:
    """The records of logs as a table, one row a record: ``pandas.DataFrame(records(...))``, ``polars.DataFrame(...)``.

    ``kind`` is one kind or several (``decode``, ``prefill``, ``server_args``, ``spec``, ``counters``, ...), ``None`` all
    but ``rejected``. Units are in the names: ``gen_throughput_tps`` is tokens a second. All records are held in memory.

    >>> import accsim
    >>> table = accsim.records("tests/data/h200/e3k3_al299.log")
    >>> table.height, table["accept_len"][:3], table["running_req"][:3]
    (86, [2.98, 3.0, 3.0], [1, 1, 1])
    """
    kinds = kind if kind is None or isinstance(kind, str) else ",".join(kind)
    args = ["records", "--quiet", *flag("kind", kinds), *flag("threads", threads), "--", *path_list(paths)]
    code, out, err = _accsim.run(args)
    if code == FAILED:
        raise AccsimError(message(err))
    return Columns.of(_row(line) for line in out.splitlines())


def _row(line: bytes) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(line)
    return row
