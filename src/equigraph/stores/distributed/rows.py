"""What the rows of a block offer to a function that works on them, and who brings function and rows together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Panels:
    """Named arrays for the rows ``range(low, high)``; made when a first block puts something into them."""

    def __init__(self, low: int, high: int):
        self.low, self.high = low, high
        self.arrays: dict[str, NDArray] = {}
        self._lock = threading.Lock()

    def view(self, name: str, low: int, high: int) -> NDArray:
        """Return the rows of a panel from `low` to `high`, without a copy."""
        return self.arrays[name][low - self.low : high - self.low]

    def room(self, name: str, low: int, high: int, shape: tuple[int, ...], dtype: Any) -> NDArray:
        """Return rows to write to; a panel of another shape or type is replaced as a whole."""
        with self._lock:
            array = self.arrays.get(name)
            if array is None or array.shape[1:] != shape or array.dtype != dtype:
                # Zeros cost nothing until they are touched, and what a block leaves out is then at least defined.
                self.arrays[name] = np.zeros((self.high - self.low, *shape), dtype=dtype)
        return self.view(name, low, high)

    def keep(self, names: Iterable[str]) -> None:
        """Discard all other panels."""
        self.arrays = {name: self.arrays[name] for name in names if name in self.arrays}


class Rows:
    """The rows ``range(low, high)`` of one block, as a function sees them."""

    def __init__(self, panels: Panels, low: int, high: int):
        self.low, self.high = low, high
        self._panels = panels

    def get(self, name: str) -> NDArray:
        """Return these rows of a panel; writing to them changes the panel."""
        return self._panels.view(name, self.low, self.high)

    def room(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray:
        """Return these rows of a panel to write to; `shape` is that of one row."""
        return self._panels.room(name, self.low, self.high, shape, np.dtype(dtype))

    def put(self, name: str, values: NDArray) -> None:
        """Store these rows of a panel."""
        self.room(name, values.shape[1:], values.dtype)[...] = values


class RowStore(Protocol):
    """A graph in row blocks, with panels that have one row per node, wherever both live.

    Functions that are handed over are called with the `Rows` of one block and the arguments. What they return comes
    back in the order of the blocks; sums taken in that order do not depend on who computed them.
    """

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""

    @property
    def n_entries(self) -> int:
        """Number of stored entries."""

    def place(self, name: str, panel: NDArray) -> None:
        """Distribute the rows of a panel."""

    def collect(self, name: str) -> NDArray:
        """Return a whole panel."""

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call a function on the rows of every block."""

    def multiply(
        self,
        source: str,
        target: str,
        *,
        then: Callable[..., Any] | None = None,
        arguments: Sequence[Any] = (),
    ) -> list[Any]:
        """Store A times a panel as another panel, and call a function on the rows of every block.

        The function must leave the source alone: other blocks may still need its rows.
        """

    def tally(self, source: str, n_labels: int) -> NDArray[np.float64]:
        """Return the total weight between every two clusters of a panel of labels."""

    def walk(
        self,
        visit: Callable[..., None],
        state: Sequence[NDArray],
        *arguments: Any,
        needed: Callable[[Sequence[NDArray], int, int], bool] | None = None,
    ) -> Sequence[NDArray]:
        """Visit the blocks one after the other, each with the state that the blocks before have left; return the last.

        ``visit(rows, block, state, *arguments)`` changes the arrays of the state in place. As the order is that of the
        rows wherever they are kept, so is the result. A block of which ``needed(state, low, high)`` is false is not
        read.
        """

    def gather(self, visit: Callable[..., Any], *arguments: Any) -> Iterable[Any]:
        """Give what ``visit(rows, block, *arguments)`` returns for every block, in their order."""

    def checkpoint(
        self, names: Sequence[str], products: Sequence[tuple[str, str]] = ()
    ) -> dict[str, NDArray]:
        """Discard all panels but these and products (source, target) of them.

        Returns the panels where they had to be brought here.
        """

    def without_workers(self) -> RowStore:
        """Return a store of the same graph that needs no other process."""

    def close(self) -> None:
        """Discard all panels."""


def in_order(parts: Sequence[NDArray]) -> NDArray:
    """Return the sum of the parts, added in their order."""
    return sum(parts[1:], np.array(parts[0], dtype=np.float64))
