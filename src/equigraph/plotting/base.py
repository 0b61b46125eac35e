"""Base classes of the displays: axes, titles and saving."""

from __future__ import annotations

import io
import os
import textwrap
from pathlib import Path
from typing import Any, Self

from equigraph._utils.files import atomic_path
from equigraph.exceptions import ParameterError, require
from equigraph.plotting.style import look

_DATES = {"svg": "Date", "pdf": "CreationDate"}
_NOTEBOOK_DPI = 100


def new_figure(size: tuple[float, float]) -> Any:
    """Return a figure of some inches, made without pyplot."""
    figure = require("matplotlib.figure", extra="plot", purpose="Drawing a picture")
    return figure.Figure(figsize=size, layout="constrained")


class Display:
    """Base class of the displays.

    Attributes set by ``plot``
    --------------------------
    ax_ : matplotlib.axes.Axes
        Where it was drawn.
    figure_ : matplotlib.figure.Figure
        The figure it is in.
    """

    ax_: Any
    figure_: Any
    _size = (7.4, 5.0)  # of a new figure, in inches
    _is_part = False  # whether it was drawn on axes of the user's

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own, made without pyplot.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.
        """
        with look():
            self._draw(self._axes(ax, self._size))
        return self

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str], *, dpi: int = 150) -> None:
        """Write the picture; the suffix says the format, such as ``.png``, ``.svg`` or ``.pdf``.

        Parameters
        ----------
        path : path-like
            The file; it is complete or not there.
        dpi : int, default=150
            Dots per inch of a pixel format.

        Raises
        ------
        ParameterError
            If the suffix is not a format that matplotlib writes.
        """
        if not hasattr(self, "figure_"):
            self.plot()
        suffix = Path(path).suffix.lstrip(".").lower()
        known = self.figure_.canvas.get_supported_filetypes()
        if suffix not in known:
            endings = ", ".join(f".{name}" for name in sorted(known))
            raise ParameterError(f"{Path(path).name!r} has no known format: expected a name in {endings}.")
        with atomic_path(path) as partial:
            self._write(partial, suffix, dpi)

    def _repr_png_(self) -> bytes | None:
        """Return the picture for a notebook; None on axes of the user's, whose figure pyplot shows."""
        if not hasattr(self, "figure_"):
            self.plot()
        if self._is_part:
            return None
        buffer = io.BytesIO()
        self._write(buffer, "png", _NOTEBOOK_DPI)
        return buffer.getvalue()

    def _write(self, target: Any, suffix: str, dpi: int) -> None:
        """Write the picture to a path or a buffer."""
        # Without the date, so that the same plot gives the same file.
        metadata = {_DATES[suffix]: None} if suffix in _DATES else None
        with look():
            self.figure_.savefig(
                target, format=suffix, dpi=dpi, bbox_inches="tight", pad_inches=0.15, metadata=metadata
            )

    def _axes(self, ax: Any, size: tuple[float, float]) -> Any:
        """Set ``ax_`` and ``figure_`` to the given axes, or to those of a new figure.

        A figure of the user's without a layout engine gets one that leaves room for legends, titles and second axes, so
        that several plots do not overlap.
        """
        self._is_part = ax is not None
        self.ax_ = ax if self._is_part else new_figure(size).add_subplot()
        self.figure_ = self.ax_.figure
        root = self.ax_.get_figure(root=True)
        if root is not None and root.get_layout_engine() is None:
            root.set_layout_engine("constrained")
        return self.ax_

    def _set_title(self, ax: Any, text: str, **options: Any) -> None:
        """Write a title; above axes of the user's it is wrapped to their width."""
        title = ax.set_title(text, **options)
        if self._is_part:
            letters = ax.get_window_extent().width / ax.figure.dpi * 72 / (0.62 * title.get_fontsize())
            # Line breaks of the text are kept.
            width = max(12, int(letters))
            title.set_text("\n".join(textwrap.fill(one, width) for one in text.split("\n")))


class LabelsDisplay(Display):
    """Base class of the displays of a graph and labels; further options are those of the class."""

    def __init__(self, adjacency: Any, labels: Any, **options: Any):
        raise NotImplementedError

    @classmethod
    def from_estimator(cls, model: Any, graph: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw the labels of a fitted estimator on the graph it was fitted to."""
        return cls(graph, model.labels_, **options).plot(ax)

    @classmethod
    def from_result(cls, result: Any, graph: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw a `ClusteringResult` on the graph that was clustered."""
        return cls(graph, result.labels, **options).plot(ax)

    @classmethod
    def from_predictions(cls, graph: Any, labels: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw any labels."""
        return cls(graph, labels, **options).plot(ax)
