"""Cells that take next to no time; worker processes import this module by its name."""

import os
import signal
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from equigraph.apps.reproduction.cells import Cell
from equigraph.apps.reproduction.experiment import Output, number

title = "A tiny one"


def draw(*, seed):
    """Return a few random numbers."""
    return {"values": np.random.default_rng(seed).random(3).tolist(), "pair": (1, 2)}


def slow(*, place, number, seconds):
    """Leave a mark at the start, with the id of the process, and take a while."""
    mark = Path(place) / f"{number}.{time.time_ns()}"
    mark.write_text(str(os.getpid()), encoding="utf-8")
    time.sleep(seconds)
    return {"number": number}


def fail(*, text):
    """Raise an error."""
    raise ValueError(text)


def die():
    """End the process as the system does when there is no memory left."""
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def threads():
    """Return what the libraries in this process may use."""
    from threadpoolctl import threadpool_info

    return {
        "numba": os.environ["NUMBA_NUM_THREADS"],
        "pools": [pool["num_threads"] for pool in threadpool_info()],
    }


def not_a_number():
    """Return what JSON does not have."""
    return {"value": float("nan")}


def cells(settings):
    """Return three draws."""
    return [
        Cell(f"tiny.{i}", f"{__name__}:draw", {"seed": settings.seed + i})
        for i in range(2 if settings.quick else 3)
    ]


def output(done):
    """Return the sums as a table, and an empty picture."""
    rows = [f"| {cell.key} | {number(sum(result['values']))} |" for cell, result in done]
    page = "\n".join(["Sums of <three> numbers.", "", "| cell | sum |", "|:--|--:|", *rows])
    return Output(page, figures={"dot": Figure()})
