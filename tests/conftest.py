"""Fixtures shared by the whole suite."""

import contextlib
import gc
import importlib.util
import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from equigraph._utils.compilation import announce

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# What tests skip without; on CI its absence is a failure.
OPTIONAL = (
    "anywidget",
    "distributed",
    "igraph",
    "justhtml",
    "leidenalg",
    "matplotlib",
    "networkit",
    "networkx",
    "odf",
    "openpyxl",
    "pandas",
    "playwright",
    "polars",
    "pooch",
    "pyarrow",
    "sknetwork",
    "starlette",
    "torch",
    "torch_geometric",
    "tqdm",
    "uvicorn",
    "vieclus",
    "xlwt",
)

ABSENT = [name for name in OPTIONAL if importlib.util.find_spec(name) is None]


def pytest_sessionstart(session):
    """Refuse to run on CI without a package that tests would silently skip for."""
    if os.environ.get("CI") and ABSENT:
        raise pytest.UsageError(f"not installed, so tests would be skipped: {', '.join(ABSENT)}")


def pytest_collection_finish(session):
    """Leave what was imported and collected, all of which stays to the end, out of every search for garbage."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """Skip where a fixture needs a package that is not there."""
    yield from _skipping()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Skip where a test does."""
    yield from _skipping()


def _skipping():
    try:
        yield
    except ImportError as error:
        missing = str(getattr(error.__cause__ or error, "name", None)).partition(".")[0]
        if missing not in ABSENT:
            raise
        pytest.skip(f"{missing} is not installed")


@pytest.fixture(scope="session", autouse=True)
def no_compile_notice():
    """Count the notice of the compiler as said: whether a loop is in the cache must not decide about a test."""
    with contextlib.redirect_stderr(None):
        announce()


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_is_heard():
    """Take SIGINT as a terminal sends it: a shell that starts tests in the background has them ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_dir():
    """Return the folder with the real graphs, or skip; on CI a missing folder is a failure."""
    value = os.environ.get("EQUIGRAPH_DATA")
    if value and (Path(value) / "manifest.json").exists():
        return Path(value)
    message = "the real graphs are not here: set EQUIGRAPH_DATA to the folder that holds manifest.json"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def room():
    """Return the classroom as a graph, with the names of the pupils and their gender."""
    import equigraph as eg

    return eg.as_graph(eg.datasets.make_classroom())


@pytest.fixture(scope="session")
def parse():
    """Read a page with a strict parser: any error of HTML is an error here."""
    html = pytest.importorskip("justhtml")

    def parse(path):
        return html.JustHTML(path.read_text(encoding="utf-8"), sanitize=False, strict=True)

    return parse


@pytest.fixture(scope="session")
def browser():
    """Start the browser of the system, or skip; on CI its absence is a failure."""
    api = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if found is None:
        message = f"there is no browser to look at pages: expected one of {', '.join(_BROWSERS)}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    with api.sync_playwright() as driver:
        # Containers run as root, where the sandbox of the browser does not start.
        one = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield one
        one.close()


@pytest.fixture(scope="session")
def dask_workers():
    """Give a client of two worker processes, which all tests of a run share: to start them takes seconds."""
    pytest.importorskip("distributed")
    import dask

    from equigraph.stores.dask_rows import dask_client

    # A worker that was killed and is not back within this time is given up for good; 15 s are few on a busy machine.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "60s"})
    with patient, dask_client("dask", n_workers=2) as client:
        yield client


# How long an example takes says how busy the machine is.
settings.register_profile(
    "suite", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# The same examples for every planted fault; that there is one that fails is enough.
settings.register_profile(
    "mutation", settings.get_profile("suite"), derandomize=True, phases=(Phase.explicit, Phase.generate)
)
settings.load_profile("mutation" if "MUTANT_UNDER_TEST" in os.environ else "suite")

# mutmut asks for a private name that pytest has given up.
if "MUTANT_UNDER_TEST" in os.environ and not hasattr(pytest.Item, "_nodeid"):
    pytest.Item._nodeid = property(lambda item: item.nodeid)
