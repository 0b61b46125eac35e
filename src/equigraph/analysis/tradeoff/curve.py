"""The `TradeoffCurve` class: the result of a sweep of the dial."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.hooks import hook
from equigraph._utils.notebook import page_of
from equigraph._utils.parameters import Real, check_known, check_parameters
from equigraph._utils.records import plain, write_csv, write_json
from equigraph.analysis.tradeoff.contents import (
    CURVE,
    CURVE_FILES,
    DIVERGED,
    KIND,
    RUN,
    TradeoffPoint,
    contents_of,
    curve_parts,
    index_of,
    scores_of,
)
from equigraph.analysis.tradeoff.selection import choose, hypervolume, pareto_front
from equigraph.exceptions import InfeasibleError
from equigraph.graph.groups import AttributeOptions
from equigraph.graph.groups.attributes import Features
from equigraph.metrics.notions import Notion, get_notion
from equigraph.metrics.summary import score_name
from equigraph.results.features import Featured, attribute_entries, group_columns
from equigraph.results.formats import Stored
from equigraph.results.persistence import OutputFolder, read_stored, refusing_damage

Of = Literal["labels", "means"]


@dataclass(frozen=True, eq=False, repr=False)
class TradeoffCurve(Featured):
    """Labels from the most cohesive to the fairest, with what is needed to repeat the sweep.

    Attributes
    ----------
    points : tuple of TradeoffPoint
        One for each value of the dial, ascending; or, with ``spacing="reached"``, points of the front that are evenly
        spaced in the fairness reached.
    front : tuple of TradeoffPoint
        The non-dominated labels of all restarts, by Q and the measure of the notion, in ascending order of the measure.
    spacing : {"dial", "reached"}
        What the points are spaced in.
    node_names : ndarray of shape (n_nodes,)
        Names of the nodes, as given.
    sensitive_features : ndarray of shape (n_nodes,) or dict of columns
        Groups as given; None for a node without one. A dict if there are several attributes.
    method : str
        Name of the estimator.
    parameters : dict
        Its parameters, but for the dial and the seed.
    n_clusters : int or None
        Number of clusters asked for; None if the method chooses it.
    notion : str or Notion
        The notion of fairness. A curve read from a folder has the names of a custom notion, but not its score.
    seeds : tuple of int
        One per restart.
    seconds : float
        Time of the sweep.
    stopped : bool
        Whether a callback ended the sweep, so that values or restarts are missing.
    versions : dict
        Versions of Python, of equigraph and of its numerical dependencies.
    input_hash : str
        SHA-256 of graph, names and groups.
    source : dict or None
        Origin of the graph, as set by commands: the command, the folder it ran in, the file and the options of reading.
    attribute : str or None
        Name of the attribute that the groups come from; of several all names.
    attribute_options : AttributeOptions
        Weights of the attributes, and numbers of bins.
    """

    points: tuple[TradeoffPoint, ...]
    front: tuple[TradeoffPoint, ...]
    spacing: Literal["dial", "reached"]
    node_names: NDArray
    sensitive_features: Features
    method: str
    parameters: Mapping[str, Any]
    n_clusters: int | None
    notion: str | Notion
    seeds: tuple[int, ...]
    seconds: float
    stopped: bool
    versions: Mapping[str, str]
    input_hash: str
    source: Mapping[str, Any] | None = None
    attribute: str | None = None
    attribute_options: AttributeOptions = AttributeOptions()  # noqa: RUF009 (it cannot change)

    @property
    def measure(self) -> str:
        """Name of the score that belongs to the notion, such as NB."""
        return get_notion(self.notion).measure

    def attribute_measures(self) -> dict[str, str]:
        """Return the names of the notion's scores for several attributes; empty for a single one."""
        if len(self.features) < 2:
            return {}
        return {name: score_name(self.measure, name) for name in self.features}

    @property
    def fairness(self) -> NDArray[np.float64]:
        """Values of the dial of the points."""
        return np.array([point.fairness for point in self.points])

    def candidates(self) -> tuple[TradeoffPoint, ...]:
        """Return the front, and the points that are not on it."""
        return (*self.front, *(point for point in self.points if point not in self.front))

    def points_with(self, point: TradeoffPoint) -> tuple[TradeoffPoint, ...]:
        """Return the points, with a point of the front inserted in order if it is not among them."""
        if point in self.points:
            return self.points
        shown = (*self.points, point)
        return tuple(sorted(shown, key=lambda one: (one.fairness, one.scores[self.measure])))

    def values(self, name: str, *, of: Of = "labels") -> NDArray[np.float64]:
        """Return one score along the points: of the labels, or the means over the restarts.

        Raises
        ------
        ParameterError
            If there is no such score.
        """
        check_known("of", of, ("labels", "means"))
        values = scores_of(self.points, name)
        return values if of == "labels" else np.array([point.means[name] for point in self.points])

    def front_values(self, name: str) -> NDArray[np.float64]:
        """Return one score of the labels along the front."""
        return scores_of(self.front, name)

    def table(self) -> dict[str, NDArray]:
        """Return one row per point.

        The columns are fairness (the dial), the scores of the labels, ``<score>_mean`` and ``<score>_std`` over the
        restarts, stability, sizes (one text, separated by blanks), seed, n_restarts, status and on_front.
        """
        # A point as good as one of the front is on the front, even if it is another object.
        front = {self._place(point) for point in self.front}
        rows = []
        for point in self.points:
            row: dict[str, Any] = {"fairness": point.fairness, **point.scores}
            for name in point.scores:
                row |= {f"{name}_mean": point.means[name], f"{name}_std": point.spreads[name]}
            row |= {"stability": point.stability, "sizes": " ".join(map(str, point.sizes.tolist()))}
            row |= {"seed": point.seed, "n_restarts": point.n_restarts, "status": point.status or ""}
            rows.append({**row, "on_front": self._place(point) in front})
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def _place(self, point: TradeoffPoint) -> tuple[float, float]:
        return round(point.scores["Q"], 12), round(point.scores[self.measure], 12)

    def pareto(self, x: str = "Q", y: str | None = None, *, of: Of = "labels") -> NDArray[np.intp]:
        """Return the indices of the points that no other point dominates.

        Parameters
        ----------
        x, y : str
            Names of two scores; by default Q and the measure of the notion.
        of : {"labels", "means"}, default="labels"
            Scores of the labels, or means over the restarts.

        Returns
        -------
        ndarray of int
            Ascending. Of equal points all are kept.
        """
        return pareto_front(self.values(x, of=of), self.values(y or self.measure, of=of))

    def hypervolume(
        self,
        x: str = "Q",
        y: str | None = None,
        *,
        reference: tuple[float, float] = (0.0, 0.0),
        of: Of = "labels",
    ) -> float:
        """Return the hypervolume of the points and the front; larger is better.

        Parameters
        ----------
        x, y : str
            Names of two scores; by default Q and the measure of the notion.
        reference : tuple of two floats, default=(0, 0)
            Reference point; it must be the same for curves that are compared.
        of : {"labels", "means"}, default="labels"
            Scores of all labels, which are the best of the restarts, or of the points the means over the restarts.

        Returns
        -------
        float
            The area.
        """
        across, up = (self.values(name, of=of) for name in (x, y or self.measure))
        if of == "labels":
            across, up = (scores_of(self.candidates(), name) for name in (x, y or self.measure))
        return hypervolume(across, up, reference)

    def at_least(self, fairness: float) -> TradeoffPoint:
        """Return the most cohesive labels of the front whose fairness, by the measure of the notion, is at least this.

        Raises
        ------
        InfeasibleError
            If there are none; the message gives the highest fairness found.

        Examples
        --------
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> curve = eg.tradeoff_curve(
        ...     room.adjacency, sensitive_features=room.sensitive_features, n_clusters=3, random_state=0
        ... )
        >>> curve.at_least(0.9).scores["NB"] >= 0.9
        True
        """
        check_parameters("at_least", {"fairness": Real(low=0, high=1)}, {"fairness": fairness})
        return self.select(min_fairness=fairness)

    def select(
        self,
        rule: Literal["product", "intersection", "knee"] | None = None,
        *,
        min_fairness: float | None = None,
        max_quality_loss: float | None = None,
        x: str = "Q",
        y: str | None = None,
    ) -> TradeoffPoint:
        """Return one point of the front, by exactly one rule on the scores of the labels.

        Only "intersection" looks at ``points``, and returns one of them: it is defined along a sweep. Points whose fit
        diverged are left out.

        Parameters
        ----------
        rule : {"product", "intersection", "knee"}, optional
            "product": the largest product of x and y, that is, of the rectangle that the point covers.
            "intersection", the paper's: x and y are min-max scaled over the sweep, and the value nearest to
            their first crossing is taken; where they only touch, the value with the smallest gap. A measure
            that never changes counts as 1 everywhere.
            "knee": the point of the front, min-max scaled, that stands out most from the straight line between
            its ends.
        min_fairness : float in [0, 1], optional
            The point of largest x among those whose y is at least this.
        max_quality_loss : float in [0, 1], optional
            The point of largest y among those whose x is at most this fraction below the largest x of the curve.
        x, y : str
            Names of two scores; by default Q and the measure of the notion.

        Returns
        -------
        TradeoffPoint
            One of ``front``, or of ``points``. Equal candidates: the one with the lower dial.

        Raises
        ------
        ParameterError
            If not exactly one rule is given, or it is unknown or out of range.
        InfeasibleError
            If no point reaches ``min_fairness``, or every fit diverged.
        """
        points = self.points if rule == "intersection" else self.candidates()
        points = tuple(point for point in points if point.status != DIVERGED)
        if not points:
            raise InfeasibleError(
                "Every fit of the curve diverged: lower the values of fairness, or use another method."
            )
        names = (x, y or self.measure)
        across, up = (scores_of(points, name) for name in names)
        return points[choose(across, up, rule, min_fairness, max_quality_loss, names=names)]

    def plot(
        self,
        kind: Literal["twin", "front"] = "twin",
        *,
        select: TradeoffPoint | str | None = None,
        compare: Any = None,
        ax: Any = None,
    ) -> Any:
        """Draw the curve; see `equigraph.plotting.TradeoffDisplay`.

        Parameters
        ----------
        kind : {"twin", "front"}, default="twin"
            Q and the measure of the notion over the dial, or against each other.
        select : TradeoffPoint or rule, optional
            The point to mark; by default that of the rule "intersection" on the twin chart, "product" on the front.
        compare : Comparison or mapping from name to (Q, measure), optional
            Methods to mark on the front.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.

        Returns
        -------
        TradeoffDisplay
            With ``ax_`` and ``figure_``.
        """
        return hook("TradeoffDisplay")(self, kind=kind, select=select, compare=compare).plot(ax)

    def labels_table(self, point: TradeoffPoint) -> dict[str, NDArray]:
        """Return the columns node, cluster and group (``group[name]`` for several) of one point."""
        return {"node": self.node_names, "cluster": point.labels, **group_columns(self)}

    def labels_to_csv(self, point: TradeoffPoint, path: str | os.PathLike[str]) -> None:
        """Write the columns node, cluster and group of one point as csv."""
        write_csv(path, self.labels_table(point))

    def summary(self) -> dict[str, Any]:
        """Return everything but the per-node arrays, ready for JSON."""
        return {
            "method": self.method,
            "n_nodes": int(self.node_names.size),
            "n_clusters": self.n_clusters,
            "n_ungrouped": 0 if self.groups is None else self.groups.n_ungrouped,
            **attribute_entries(self),
            "notion": get_notion(self.notion).name,
            "measure": self.measure,
            "hypervolume": self.hypervolume(),
            "spacing": self.spacing,
            "points": [point.summary() for point in self.points],
            "front": [{"point": index_of(point, self.points), **point.summary()} for point in self.front],
            **{name: plain(getattr(self, name)) for name in RUN},
        }

    def content(self) -> dict[str, Any]:
        """Return `summary`, the names of the nodes, and the labels of each point in their order.

        ``front_labels`` are those of the front, None if they are labels of a point.
        """
        return {
            **self.summary(),
            "nodes": [str(name) for name in self.node_names.tolist()],
            "labels": [point.labels.tolist() for point in self.points],
            "front_labels": [None if one in self.points else one.labels.tolist() for one in self.front],
        }

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write `content` as JSON."""
        write_json(path, self.content())

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        select: TradeoffPoint | Literal["product", "intersection", "knee"] = "product",
        force: bool = False,
        raw: bool = False,
    ) -> None:
        """Write curve.csv, curve.json and labels.csv (of one point), all of them or none.

        An older result of equigraph in the folder is replaced as a whole; other files stay.

        Parameters
        ----------
        folder : path-like
            The folder, which may be new.
        select : TradeoffPoint or rule, default="product"
            The point whose labels go to labels.csv; those of all points and of the front are in curve.json.
        force : bool, default=False
            Whether files of these names that equigraph did not write, or that were changed since, may be replaced.
        raw : bool, default=False
            Whether names in csv files are written as they are, even those that a spreadsheet would run as formulas.

        Raises
        ------
        ParameterError
            If the folder cannot be written, another run is writing to it, or other files are in the way.
        OutputError
            If the disk is full; the folder is then as it was.
        """
        point = self.select(select) if isinstance(select, str) else select
        with OutputFolder(folder) as out:
            out.write(KIND, contents_of(self, point), raw=raw, force=force)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Return the curve that `save`, or ``equigraph tradeoff``, wrote into a folder.

        Only numbers and texts are read: no pickle, no code. Names and groups that are integers, floats, booleans or
        texts keep their type; others are read as texts.

        Raises
        ------
        InputError
            If it is not such a folder, or a file of it is missing, damaged or changed.

        Examples
        --------
        >>> import tempfile
        >>> import equigraph as eg
        >>> room = eg.datasets.make_classroom()
        >>> curve = eg.tradeoff_curve(
        ...     room.adjacency,
        ...     estimator=eg.FairLouvain(n_clusters=3),
        ...     sensitive_features=room.sensitive_features,
        ...     fairness=[0, 1],
        ...     random_state=0,
        ... )
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     curve.save(folder)
        ...     eg.TradeoffCurve.load(folder).fairness.tolist()
        [0.0, 1.0]
        """
        return cls.from_stored(read_stored(folder, CURVE_FILES))

    @classmethod
    def from_stored(cls, stored: Stored) -> Self:
        """Return the curve whose files were read from a folder."""
        with refusing_damage(stored.folder / CURVE):
            curve = cls(**curve_parts(stored))
            _ = curve.attributes  # encode the groups now, so that errors are raised here
            return curve

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        graph: Any = None,
        select: TradeoffPoint | Literal["product", "intersection", "knee"] = "product",
    ) -> None:
        """Write one self-contained HTML page that explains the curve and one of its points.

        Parameters
        ----------
        path : path-like
            The file, such as ``report.html``; it is complete or not there.
        graph : graph, optional
            The graph of the curve; by default the one that it holds. A curve that was read from a folder holds
            none: then there is no drawing and no share of links within clusters, and the page says so.
        select : TradeoffPoint or rule, default="product"
            The point to explain, or the rule that picks it.

        Raises
        ------
        GraphError
            If the graph is not the one of the curve.
        """
        hook("write_report")(self, path, graph=graph, select=select)

    def __repr__(self) -> str:
        ends = f"front of {len(self.front)}"
        if self.spacing == "dial":
            ends = f"fairness {self.points[0].fairness:g} to {self.points[-1].fairness:g}"
        found = [int(point.scores["n_nonempty"]) for point in self.points]
        clusters = f"{min(found)}" if min(found) == max(found) else f"{min(found)} to {max(found)}"
        asked = "" if self.n_clusters is None or min(found) == self.n_clusters else f" of {self.n_clusters}"
        ranges = ", ".join(
            f"{name} {self.values(name).min():.3f} to {self.values(name).max():.3f}"
            for name in ("Q", self.measure)
        )
        stopped = ", stopped early" if self.stopped else ""
        return (
            f"TradeoffCurve({self.method}, {len(self.points)} points, {ends}, {clusters}{asked} clusters, "
            f"{ranges}{stopped})"
        )

    def _repr_html_(self) -> str:
        """Return the table of the points, for a notebook."""
        names = dict.fromkeys(
            name for name in ("Q", "B", "NB", self.measure) if name in self.points[0].scores
        )
        rows = [
            [point.fairness, *(point.scores[name] for name in names), point.sizes.tolist()]
            for point in self.points
        ]
        return page_of(repr(self), ["dial", *names, "sizes"], rows)
