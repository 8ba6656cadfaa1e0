"""The call of an audit."""

from __future__ import annotations

from typing import Literal

from . import _accsim
from ._audit import Audit
from ._command import FAILED, AccsimError, PathLike, Paths, flag, message, parsed, path_list
from ._decode import decode
from ._target import Cell, Target


class UnreadableError(AccsimError):
    """Part of the evidence could not be read; :attr:`audit` is what the rest shows."""

    __module__ = "accsim"

    def __init__(self, text: str, audit: Audit) -> None:
        """Keep what could be read."""
        super().__init__(text)
        self.audit = audit


def audit(
    paths: Paths,
    target: Target | float | None = None,
    *,
    env: PathLike | None = None,
    recipe: PathLike | None = None,
    expect_real: bool = False,
    engine: Literal["auto", "sglang", "vllm", "trtllm", "atom", "tilert"] | None = None,
    margin: str | float | None = None,
    confidence: float | None = None,
    decode_log_interval: int | None = None,
    since: str | None = None,
    until: str | None = None,
    skip_lines: int | None = None,
    point_by: Literal["path", "dir", "worker", "segment"] | None = None,
    replay: Literal["auto", "off", "require"] | None = None,
    random_seed: int | None = None,
    threads: int | None = None,
    golden_dir: PathLike | None = None,
) -> Audit:
    """Decide whether server logs show the accept length that they were meant to show.

    ``paths``: files, folders, archives; each is one run of one server. ``target``: a golden :class:`Cell`, a
    :class:`Length`, or a number of tokens a verify step. Without one, ``env`` or ``recipe`` name a file that says what
    the run was told; else it is what the log echoes or a file beside it says. ``expect_real`` is for evaluations, which
    must not be simulated. ``margin``: ``"2%"`` of the target (the default) or tokens.

    An inconsistent log is a result, not an exception. What cannot be read raises :class:`UnreadableError`, so that half a
    log never passes for a whole one.

    >>> import accsim
    >>> seen = accsim.audit("tests/data/h200/e3k3_al299.log", accsim.Cell("glm5.2", "mtp", 3))
    >>> seen.verdict, seen.points[0].replay.status, round(seen.points[0].accept_len.mean, 3)
    ('consistent', 'proved', 2.993)
    >>> accsim.audit("tests/data/h200/e3k3_al299.log", 2.5).verdict
    'inconsistent'
    """
    args = [
        "audit",
        "--json",
        *flag("golden-dir", golden_dir),
        *flag("threads", threads),
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
        *flag("skip-lines", skip_lines),
        *flag("point-by", point_by),
        *flag("replay", replay),
        *flag("random-seed", random_seed),
    ]
    code, out, err = _accsim.run([*args, "--", *path_list(paths)])
    if not out:
        raise AccsimError(message(err))
    whole = parsed(out)
    found = decode(Audit, {**whole, "document": whole})
    if code == FAILED:
        raise UnreadableError(message(err), found)
    return found


def target_flags(target: Target | float | None) -> list[str]:
    """A target as the flags of an audit."""
    if isinstance(target, Cell):
        return [
            *flag("model", target.prefix),
            *flag("method", target.method),
            *flag("draft-length", target.draft_length),
            *target._options(),
        ]
    if target is None or isinstance(target, (int, float)):
        return flag("accept-length", target)
    return target._options()
