"""A heat map of W: how strongly clusters interact."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph.exceptions import ParameterError
from equigraph.plotting.base import Display
from equigraph.plotting.style import look, text_color

MAX_CLUSTERS = 2000  # a heat map of more is a grey square, and would be held as a dense array
_MAX_VALUES = 15  # more rows than that leave no room for numbers


class InteractionDisplay(Display):
    """Draw the interaction W as a heat map.

    Parameters
    ----------
    interaction : array-like or sparse array of shape (n_clusters, n_clusters)
        W, of at most 2,000 clusters.
    clusters : array-like of shape (n_clusters,), optional
        Names of the clusters; by default 0, 1, 2, ...

    Attributes
    ----------
    ax_, figure_
        Set by `plot`; see `Display`.

    Examples
    --------
    >>> display = InteractionDisplay([[0.9, 0.1], [0.1, 0.7]]).plot()
    >>> [text.get_text() for text in display.ax_.texts]
    ['0.9', '0.1', '0.1', '0.7']
    """

    def __init__(self, interaction: Any, *, clusters: ArrayLike | None = None):
        if len(getattr(interaction, "shape", ())) == 2 and max(interaction.shape) > MAX_CLUSTERS:
            raise ParameterError(
                f"The interaction of {max(interaction.shape):,} clusters cannot be drawn: expected at most "
                f"{MAX_CLUSTERS:,}; draw a part, such as interaction[:20, :20], the largest clusters."
            )
        values = interaction.toarray() if sparse.issparse(interaction) else interaction
        self.interaction: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
        shape = self.interaction.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ParameterError(
                f"The interaction has shape {shape}: expected a square matrix, one row per cluster."
            )
        self.clusters = np.arange(shape[0]) if clusters is None else np.asarray(clusters)
        if self.clusters.shape != shape[:1]:
            raise ParameterError(f"There are {self.clusters.size} cluster names for {shape[0]} clusters.")

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the ``interaction_`` of a fitted estimator."""
        return cls(model.interaction_).plot(ax)

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None) -> Self:
        """Draw the interaction of a `ClusteringResult`."""
        return cls(result.interaction).plot(ax)

    def plot(self, ax: Any = None, *, values: bool | None = None) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.
        values : bool, optional
            Whether to write the numbers; by default up to 15 clusters.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.
        """
        k = self.clusters.size
        side = float(np.clip(1.6 + 0.65 * k, 4, 11))
        with look():
            ax = self._axes(ax, (side + 1.2, side))
            image = ax.imshow(self.interaction, cmap="Blues", vmin=min(0.0, float(self.interaction.min())))
            step = max(1, k // 25)
            ax.set_xticks(range(0, k, step), [str(name) for name in self.clusters[::step].tolist()])
            ax.set_yticks(range(0, k, step), [str(name) for name in self.clusters[::step].tolist()])
            ax.tick_params(length=0)
            ax.set_xlabel("cluster")
            ax.set_ylabel("cluster")
            self._set_title(ax, "Interaction between clusters (W)")
            ax.spines[:].set_visible(False)
            if k <= _MAX_VALUES if values is None else values:
                self._write_values(ax, image)
            bar = ax.figure.colorbar(image, ax=ax, shrink=0.85)
            bar.outline.set_visible(False)
        return self

    def _write_values(self, ax: Any, image: Any) -> None:
        largest = float(np.abs(self.interaction).max())
        for (i, j), value in np.ndenumerate(self.interaction):
            color = text_color(image.cmap(image.norm(value)))
            size = 10 if self.clusters.size <= 8 else 7.5
            # Factors of tiny rounding residue would print as 1e-17.
            text = "≈ 0" if 0 < abs(value) < 1e-3 * largest else f"{value:.2g}"
            ax.text(j, i, text, ha="center", va="center", color=color, fontsize=size)
