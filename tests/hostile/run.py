"""Fit one method to one hostile matrix, and say what is wrong with the outcome."""

import copy
import math
import pickle
import random
import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import equigraph as eg
from equigraph.exceptions import EquigraphError, EquigraphWarning
from equigraph.methods import METHODS

QUICK = {
    "fair-partition": {"effort": 0.1},
    "dmon": {"epochs": 20},
    "dfnmf": {"max_iter": 60, "pretrain_iter": 10},
    "nmtf": {"max_iter": 100},
    "ifair-nmtf": {"max_iter": 100},
    "sym-nmf": {"max_iter": 100},
}


def fitted(method, case):
    """Fit the method; numpy's warnings are errors, those that are meant for people are not."""
    model = METHODS[method].load()(n_clusters=case.n_clusters, random_state=0, **QUICK.get(method, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for category in (EquigraphWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", category)
        return model.fit(case.matrix, sensitive_features=case.groups)


def faults(method, case):
    """Return everything that is wrong, which should be nothing."""
    before = pickle.dumps((_parts(case.matrix), _parts(case.groups)))
    states = pickle.dumps((random.getstate(), np.random.get_state()))  # noqa: NPY002
    found = list(_outcome(method, case))
    if pickle.dumps((_parts(case.matrix), _parts(case.groups))) != before:
        found.append("the input was changed")
    if pickle.dumps((random.getstate(), np.random.get_state())) != states:  # noqa: NPY002
        found.append("a global random state was changed")
    return found


def _outcome(method, case):
    try:
        model = fitted(method, case)
    except EquigraphError as error:
        text = str(error)
        if "\n" in text or len(text) > 500 or not text.endswith("."):
            yield f"no sentence: {text!r}"
        return
    except BaseException as error:
        yield f"{type(error).__name__}: {error}"
        return
    labels = model.labels_
    if labels.dtype.kind != "i" or labels.min() < 0 or labels.max() >= case.n_clusters:
        yield f"labels {labels!r}"
    for name in ("membership_", "interaction_", "objective_history_", "embedding_", "eigenvalues_"):
        if not _is_finite(getattr(model, name, 0.0)):
            yield f"{name} is not finite"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", EquigraphWarning)
        scores = eg.metrics.evaluate(case.matrix, labels, sensitive_features=case.groups)
    yield from (f"{name} is {value}" for name, value in scores.items() if not math.isfinite(value))


def _is_finite(value):
    return bool(np.isfinite(value.data if sparse.issparse(value) else np.asarray(value)).all())


def _parts(given):
    """Return a deep copy that pickles the same as long as nothing is changed."""
    if sparse.issparse(given) and hasattr(given, "indptr"):
        return [copy.deepcopy(part) for part in (given.data, given.indices, given.indptr)]
    return copy.deepcopy(given)
