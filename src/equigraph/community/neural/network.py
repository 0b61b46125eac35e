r"""The network of DMoN, its loss and its training, as functions on tensors.

PyTorch is imported here: import this file only where it is needed.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from equigraph.community.neural.dmon import DMoN, propagate, self_loop_scale
from equigraph.exceptions import ParameterError


class TorchGraph(NamedTuple):
    """Graph for the model: one sparse matrix and two vectors, normalised by 2m, the sum of all degrees."""

    weights: Tensor  # A / 2m, sparse; float32 then copes with weights of any scale
    degrees: Tensor  # d / 2m; they sum to 1
    scale: Tensor  # inverse square roots of the degrees of A + I
    total: float  # 2m


def torch_graph(adjacency: sparse.csr_array, *, dtype: torch.dtype, device: torch.device) -> TorchGraph:
    """Copy a graph that has at least one edge to PyTorch."""
    total = float(adjacency.sum(dtype=np.float64))
    degrees = np.asarray(adjacency.sum(axis=1, dtype=np.float64)).ravel() / total
    with warnings.catch_warnings():
        # PyTorch warns once per process, and callers cannot do anything about it.
        warnings.filterwarnings(
            "ignore", message="Sparse CSR tensor support is in beta", category=UserWarning
        )
        weights = torch.sparse_csr_tensor(
            torch.from_numpy(adjacency.indptr.copy()),
            torch.from_numpy(adjacency.indices.copy()),
            torch.from_numpy(adjacency.data.astype(np.float64) / total).to(dtype),
            size=adjacency.shape,
            check_invariants=False,
        ).to(device)
    return TorchGraph(
        weights=weights,
        degrees=torch.from_numpy(degrees[:, None]).to(device, dtype),
        scale=torch.from_numpy(self_loop_scale(adjacency)).to(device, dtype),
        total=total,
    )


class SymmetricProduct(torch.autograd.Function):
    """``A @ Y`` for a constant symmetric sparse A; its gradient is again a product with A."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, columns: Tensor) -> Tensor:
        """Return the product."""
        ctx.matrix = matrix
        return matrix @ columns

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[None, Tensor]:
        """Return the gradient with respect to the columns."""
        return None, SymmetricProduct.apply(ctx.matrix, gradients[0].contiguous())


def soft_modularity(graph: TorchGraph, membership: Tensor, resolution: float = 1.0) -> Tensor:
    r"""Return :math:`\mathrm{tr}(C^\top A C) / 2m - \gamma \|C^\top d\|^2 / (2m)^2`."""
    expected = (membership * graph.degrees).sum(dim=0).square().sum()
    # The gradient of the trace is 2 A C: with A C held constant, twice the sum has that gradient without a product.
    inside = (membership * (graph.weights @ membership.detach())).sum()
    return 2 * inside - inside.detach() - resolution * expected


def collapse_term(membership: Tensor) -> Tensor:
    r"""Return :math:`\sqrt k / n \, \|\sum_i C_i\|_2 - 1`: 0 for equal soft sizes, at most sqrt(k) - 1."""
    n_nodes, n_clusters = membership.shape
    return membership.sum(dim=0).norm() * (n_clusters**0.5 / n_nodes) - 1


def dmon_loss(graph: TorchGraph, membership: Tensor, *, null_model: str, collapse: float) -> Tensor:
    """Return minus the soft modularity plus the weighted collapse term.

    "google" counts the edges twice, as the published code does: half the modularity at resolution 1/2.
    """
    if null_model == "google":
        cohesion = soft_modularity(graph, membership, resolution=0.5) / 2
    else:
        cohesion = soft_modularity(graph, membership)
    return collapse * collapse_term(membership) - cohesion


class Layer(NamedTuple):
    """Weights of a graph convolution: a kernel (f x u), one skip weight and one bias per channel (u)."""

    kernel: Tensor
    skip: Tensor | None
    bias: Tensor


class Network(NamedTuple):
    """All weights: the layers, then the assignment head (u x k, k)."""

    layers: tuple[Layer, ...]
    head: Tensor
    head_bias: Tensor

    def tensors(self) -> list[Tensor]:
        """Return all trainable tensors."""
        hidden = [weights for layer in self.layers for weights in layer if weights is not None]
        return [*hidden, self.head, self.head_bias]


def new_network(
    n_features: int,
    hidden: Sequence[int],
    n_clusters: int,
    *,
    skip: bool,
    generator: torch.Generator,
    dtype: torch.dtype,
    device: torch.device,
) -> Network:
    """Draw the initial weights: Glorot-uniform as in Keras, except for an orthogonal head."""

    def trained(drawn: Tensor) -> Tensor:
        return drawn.to(dtype=dtype, device=device).requires_grad_()

    layers = []
    for n_inputs, width in zip([n_features, *hidden[:-1]], hidden, strict=True):
        kernel = trained(_glorot((n_inputs, width), n_inputs + width, generator))
        bias = trained(_glorot((width,), 2 * width, generator))
        weight = trained(_glorot((width,), 2 * width, generator)) if skip else None
        layers.append(Layer(kernel, weight, bias))
    head = trained(_orthogonal(hidden[-1], n_clusters, generator))
    return Network(tuple(layers), head, trained(torch.zeros(n_clusters)))


def assign(
    network: Network,
    inputs: tuple[Tensor, Tensor],
    graph: TorchGraph,
    *,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return the soft assignment C, whose rows sum to 1, from node features and their average over neighbourhoods."""
    first, *others = network.layers
    # The average over neighbours and the kernel commute, so the first layer needs no product with the graph.
    hidden = _activate(first, *(columns @ first.kernel for columns in inputs))
    for layer in others:
        own = hidden @ layer.kernel
        hidden = _activate(layer, own, neighbourhood_average(graph, own))
    logits = torch.addmm(network.head_bias, hidden, network.head)
    if dropout > 0:
        kept = torch.rand(logits.shape, generator=generator, dtype=torch.float32) >= dropout
        logits = logits * kept.to(logits.device) / (1 - dropout)
    return torch.softmax(logits, dim=1)


def neighbourhood_average(graph: TorchGraph, columns: Tensor) -> Tensor:
    """Return the product with the normalised graph with self-loops, computed from the stored matrix."""
    scaled = graph.scale * columns
    return graph.scale * (graph.total * SymmetricProduct.apply(graph.weights, scaled) + scaled)


def train(
    model: DMoN,
    adjacency: sparse.csr_array,
    columns: NDArray[np.float64],
    seed: int,
    notify: Callable[[str, int, int, float], bool],
) -> tuple[NDArray, list[float], str]:
    """Train a network on the whole graph; return C, the loss of every epoch and the status.

    ``model`` has the options, ``columns`` are the node features. After a divergence C is that of the last finite
    weights.
    """
    place: dict[str, Any] = {"dtype": getattr(torch, model.dtype), "device": _device_of(model.device)}
    hidden = [model.hidden] if isinstance(model.hidden, (int, np.integer)) else list(model.hidden)
    generator = torch.Generator().manual_seed(seed)
    averages = propagate(adjacency, columns)
    inputs = torch.from_numpy(columns).to(**place), torch.from_numpy(averages).to(**place)
    history: list[float] = []
    status = "max_iter"
    # The caller may have disabled gradients, which is a global setting.
    with _one_thread(), torch.enable_grad():
        network = new_network(
            columns.shape[1], hidden, model.n_clusters, skip=model.skip, generator=generator, **place
        )
        graph = torch_graph(adjacency, **place)
        tensors = network.tensors()
        optimizer = torch.optim.Adam(tensors, model.learning_rate, eps=1e-7)  # as in Keras
        finite = [tensor.detach().clone() for tensor in tensors]
        for epoch in range(1, model.epochs + 1):
            membership = assign(network, inputs, graph, dropout=model.dropout, generator=generator)
            loss = dmon_loss(graph, membership, null_model=model.null_model, collapse=model.collapse)
            value = float(loss.detach())
            if not math.isfinite(value):
                status = "diverged"
                break
            finite = [tensor.detach().clone() for tensor in tensors]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history.append(value)
            if notify("training", epoch, model.epochs, value):
                status = "stopped"
                break
        with torch.no_grad():
            result = assign(network, inputs, graph)
            if status == "diverged" or not bool(torch.isfinite(result).all()):
                status = "diverged"
                for tensor, kept in zip(tensors, finite, strict=True):
                    tensor.copy_(kept)
                result = assign(network, inputs, graph)
    return np.ascontiguousarray(result.cpu().numpy()), history, status


def _device_of(name: str) -> torch.device:
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise ParameterError(
            "DMoN: device='cuda' was asked for, and PyTorch finds no GPU: use 'auto' or 'cpu'."
        )
    return torch.device("cuda" if available and name != "cpu" else "cpu")


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit PyTorch to one thread: the order of summation must not depend on the machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _activate(layer: Layer, own: Tensor, average: Tensor) -> Tensor:
    summed = average + layer.bias
    return torch.selu(summed if layer.skip is None else torch.addcmul(summed, own, layer.skip))


def _glorot(shape: tuple[int, ...], fans: int, generator: torch.Generator) -> Tensor:
    bound = math.sqrt(6 / fans)
    return (2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1) * bound


def _orthogonal(n_rows: int, n_columns: int, generator: torch.Generator) -> Tensor:
    """Draw a matrix with orthonormal columns (rows if it is wide), uniformly."""
    tall = (max(n_rows, n_columns), min(n_rows, n_columns))
    Q, R = torch.linalg.qr(torch.randn(tall, generator=generator, dtype=torch.float64))
    Q = Q * torch.where(R.diagonal() < 0, -1.0, 1.0)
    return Q if n_rows >= n_columns else Q.T.contiguous()
