"""The network, its loss and its training against naive dense formulas, and hand-written gradients against autograd."""

import numpy as np
import pytest

from tests.reference.stored import random_graph

torch = pytest.importorskip("torch", reason="needs the extra 'neural'")

from equigraph.community.neural.dmon import propagate  # noqa: E402
from equigraph.community.neural.network import (  # noqa: E402
    SymmetricProduct,
    assign,
    dmon_loss,
    new_network,
    soft_modularity,
    torch_graph,
)

DOUBLE = {"dtype": torch.float64, "device": torch.device("cpu")}


def soft(n, k, seed=1):
    C = np.random.default_rng(seed).random((n, k))
    return C / C.sum(axis=1, keepdims=True)


def dense_loss(A, C, *, null_model, collapse):
    """Return the loss with every matrix written out; "google" divides by 2 once more in both places."""
    A = A.toarray()
    d = A.sum(axis=1)
    edges = A.sum() if null_model == "google" else A.sum() / 2
    B = A - np.outer(d, d) / (2 * edges)
    n, k = C.shape
    return -np.trace(C.T @ B @ C) / (2 * edges) + collapse * (
        np.sqrt(k) / n * np.linalg.norm(C.sum(axis=0)) - 1
    )


@pytest.mark.parametrize("null_model", ["paper", "google"])
@pytest.mark.parametrize("collapse", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e9])
def test_loss_is_the_dense_formula(null_model, collapse, scale):
    A = random_graph(14, weighted=True, density=0.4) * scale
    C = soft(14, 3)
    got = dmon_loss(torch_graph(A, **DOUBLE), torch.from_numpy(C), null_model=null_model, collapse=collapse)
    assert float(got) == pytest.approx(dense_loss(A, C, null_model=null_model, collapse=collapse), abs=1e-12)


def test_gradients_by_finite_differences():
    graph = torch_graph(random_graph(14, weighted=True, density=0.4), **DOUBLE)
    C = torch.from_numpy(soft(14, 3)).requires_grad_()
    assert torch.autograd.gradcheck(lambda columns: SymmetricProduct.apply(graph.weights, columns), (C,))
    assert torch.autograd.gradcheck(lambda columns: soft_modularity(graph, columns), (C,))


@pytest.fixture
def case():
    rng = np.random.default_rng(3)
    A = random_graph(12, weighted=True, density=0.5)
    X = rng.standard_normal((12, 4))
    inputs = torch.from_numpy(X), torch.from_numpy(propagate(A, X))
    return A, X, inputs, torch_graph(A, **DOUBLE)


def dense_normalised(A):
    looped = A.toarray() + np.eye(A.shape[0])
    scale = 1 / np.sqrt(looped.sum(axis=1))
    return scale[:, None] * looped * scale


def naive_assign(network, X, A):
    hidden = X
    for layer in network.layers:
        Y = hidden @ layer.kernel.detach().numpy()
        own = 0 if layer.skip is None else Y * layer.skip.detach().numpy()
        Z = own + dense_normalised(A) @ Y + layer.bias.detach().numpy()
        hidden = 1.0507009873554805 * np.where(Z > 0, Z, 1.6732632423543772 * np.expm1(np.minimum(Z, 0)))
    logits = hidden @ network.head.detach().numpy() + network.head_bias.detach().numpy()
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def draw(hidden, *, k=3, skip=True, seed=0, n_features=4):
    generator = torch.Generator().manual_seed(seed)
    return new_network(n_features, hidden, k, skip=skip, generator=generator, **DOUBLE)


@pytest.mark.parametrize("hidden", [[8], [8, 6], [5, 7, 3]])
@pytest.mark.parametrize("skip", [True, False])
def test_network_is_the_naive_one(case, hidden, skip):
    A, X, inputs, graph = case
    network = draw(hidden, skip=skip)
    with torch.no_grad():
        network.head_bias.add_(torch.arange(3))
    got = assign(network, inputs, graph).detach().numpy()
    np.testing.assert_allclose(got, naive_assign(network, X, A), atol=1e-12)


@pytest.mark.parametrize(("width", "k"), [(16, 5), (3, 5), (5, 5)])
def test_head_is_orthogonal(width, k):
    head = draw([width], k=k).head.detach().numpy()
    assert head.shape == (width, k)
    gram = head.T @ head if width >= k else head @ head.T
    np.testing.assert_allclose(gram, np.eye(min(width, k)), atol=1e-12)


def test_dropout_zeroes_logits_and_keeps_their_mean(case):
    _, _, inputs, graph = case
    network = draw([8])
    plain = torch.log(assign(network, inputs, graph)).detach()
    generator = torch.Generator().manual_seed(1)
    dropped = [torch.log(assign(network, inputs, graph, dropout=0.5, generator=generator)) for _ in range(40)]
    # Two logits that are both dropped are equal after the softmax: this happens in a quarter of the cases.
    equal = torch.stack([(one[:, 0] - one[:, 1]).abs() < 1e-12 for one in dropped]).double().mean()
    assert 0.18 < float(equal) < 0.32
    means = torch.stack([one[:, 0] - one[:, 1] for one in dropped]).mean(dim=0).detach()
    assert float((means - (plain[:, 0] - plain[:, 1])).abs().mean()) < 0.25
