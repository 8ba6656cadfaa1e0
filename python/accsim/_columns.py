"""Tables and distributions: dicts, and arrays for those who have numpy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


class Columns(dict[str, list[Any]]):
    """A table as a dict of columns of one length, as ``pandas.DataFrame`` and ``polars.DataFrame`` take it.

    What a row lacks is ``None``.
    """

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Columns:
        """The table of rows; its columns are all their names, in the order in which they appear."""
        columns = cls()
        count = 0
        for row in rows:
            for name, value in row.items():
                if name not in columns:
                    columns[name] = [None] * count
                columns[name].append(value)
            count += 1
            for column in columns.values():
                if len(column) < count:
                    column.append(None)
        return columns

    @property
    def height(self) -> int:
        """The number of rows."""
        return len(next(iter(self.values()), []))

    def numpy(self) -> dict[str, NDArray[Any]]:
        """The columns as arrays: numbers as floats with NaN for what is missing, unless all are whole and there;
        truth values as ``bool`` where all are there; everything else as objects. Needs numpy.
        """
        import numpy as np

        return {name: _array(np, column) for name, column in self.items()}


def _array(np: Any, column: list[Any]) -> Any:
    there = [value for value in column if value is not None]
    kinds = {type(value) for value in there}
    if there and kinds == {bool} and len(there) == len(column):
        return np.array(column, dtype=bool)
    if there and kinds <= {int, float}:
        if kinds == {int} and len(there) == len(column):
            if max(there) < 2**63 and min(there) >= -(2**63):
                return np.array(column, dtype=np.int64)
        else:
            return np.array([float("nan") if value is None else value for value in column], dtype=np.float64)
    array = np.empty(len(column), dtype=object)
    array[:] = column
    return array


class Distribution(dict[float, float]):
    """Probability by value, or count by value, in the order of the values."""

    @classmethod
    def of(cls, document: Mapping[str, float]) -> Distribution:
        """Of a JSON object, whose keys are text."""
        return cls(sorted((float(value), share) for value, share in document.items()))

    def numpy(self) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """Values and probabilities (or counts) as two arrays. Needs numpy."""
        import numpy as np

        return np.array(list(self), dtype=np.float64), np.array(list(self.values()), dtype=np.float64)
