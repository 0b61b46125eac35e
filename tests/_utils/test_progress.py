"""Time limits, logs and Ctrl-C of everything that works in steps."""

import logging
import os
import signal
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import equigraph as eg
from equigraph._utils.callbacks import interrupt_stops

LONG = {"max_iter": 10**7, "tol": 0, "random_state": 0}
MODELS = {
    "nmtf": eg.NMTF(3, **LONG),
    "ifair": eg.IFairNMTF(3, **LONG),
    "cd": eg.NMTF(3, solver="cd", **LONG),
    "fair": eg.FairNMTF(3, **LONG, n_init=3),
    "sym": eg.SymNMF(3, **LONG),
    "deep": eg.DFNMF(3, layers=(8,), **LONG),
}
models = pytest.mark.parametrize("name", MODELS)


def fit(model):
    room = eg.datasets.make_classroom()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(room.adjacency, sensitive_features=room.sensitive_features)


@models
def test_a_time_limit_stops_and_keeps_the_labels(name):
    model = fit(clone(MODELS[name]).set_params(time_limit=0.2))
    assert model.status_ == "stopped"
    assert np.unique(model.labels_).size > 1


@models
def test_ctrl_c_stops_and_keeps_the_labels(name):
    def interrupt(progress):
        if progress.step == 5:
            os.kill(os.getpid(), signal.SIGINT)

    model = fit(clone(MODELS[name]).set_params(callbacks=interrupt))
    assert model.status_ == "stopped"
    assert np.unique(model.labels_).size > 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_or_unanswered_ctrl_c_is_an_interrupt():
    with pytest.raises(KeyboardInterrupt), interrupt_stops():
        os.kill(os.getpid(), signal.SIGINT)
    with interrupt_stops() as stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert stop(eg.callbacks.Progress("x", 1, 2))
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_verbose_logs_progress(caplog):
    with caplog.at_level(logging.INFO, "equigraph"):
        fit(eg.NMTF(3, max_iter=30, tol=0, verbose=True, random_state=0))
    assert caplog.messages[-1].startswith("factorization: step 30 of 30, objective ")


def test_the_default_number_of_iterations_is_no_reason_for_a_warning():
    data = eg.datasets.make_planted_graph(200, 4, random_state=0)
    model = eg.IFairNMTF(4, random_state=0).fit(data.adjacency, sensitive_features=np.arange(200) % 2)
    assert model.status_ in ("max_iter", "converged")
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        eg.IFairNMTF(4, max_iter=2, random_state=0).fit(data.adjacency, sensitive_features=np.arange(200) % 2)
