"""Times and scores over the history of the repository, from benchmarks/history.json."""

import json
from pathlib import Path

import matplotlib.pyplot as plt

TITLES = {
    "classroom": "default method, 30 nodes",
    "curve": "whole curve, 30 nodes",
    "lastfm": "default method, 7,624 nodes",
    "ifair-nmtf": "IFairNMTF, 2,000 nodes",
    "scores": "all scores, 100,000 nodes",
    "reading": "reading 27,000 edges",
    "yardstick": "yardstick: the machine",
}


def root():
    """Return the folder of the repository: the nearest one above that has benchmarks."""
    return next(folder for folder in Path.cwd().resolve().parents if (folder / "benchmarks").is_dir())


rows = json.loads((root() / "benchmarks" / "history.json").read_text())
places = {row["commit"]: place for place, row in enumerate(rows)}
figure, grid = plt.subplots(4, 2, figsize=(9, 10), sharex=True, layout="constrained")
axes = grid.ravel()
for axis, (case, title) in zip(axes, TITLES.items(), strict=False):
    known = [row for row in rows if case in row["cases"]]
    x = [places[row["commit"]] for row in known]
    y = [row["cases"][case]["seconds"] for row in known]
    axis.plot(x, y, "o-", color="grey" if case == "yardstick" else "C0")
    axis.annotate(f"{y[-1]:.3g} s", (x[-1], y[-1]), xytext=(0, 6), textcoords="offset points", ha="right")
    axis.set_ylim(0, 1.25 * max(y))
    axis.set_title(title, fontsize=10, loc="left")
    axis.set_ylabel("CPU s")
for case, marker in (("classroom", "s"), ("lastfm", "o"), ("ifair-nmtf", "^")):
    known = [row for row in rows if "score" in row["cases"].get(case, {})]
    axes[-1].plot(
        [places[row["commit"]] for row in known],
        [row["cases"][case]["score"] for row in known],
        f"{marker}-",
        label=TITLES[case],
    )
axes[-1].set_title("what was found: mean of cohesion and fairness", fontsize=10, loc="left")
axes[-1].set_ylim(0, 1)
axes[-1].legend(fontsize=8, loc="lower center")
labels = [f"{row['commit']}\n{row['date'][5:10]} {row['date'][11:16]}" for row in rows]
for axis in grid[-1]:
    axis.set_xticks(range(len(rows)), labels, fontsize=7, rotation=45)
