"""The network of DMoN and its training, as functions on tensors.

PyTorch is imported here: import this file only where it is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from equigraph.community.neural.loss import SymmetricProduct, TorchGraph, dmon_loss


@dataclass(frozen=True)
class Inputs:
    """Node features X (n x f) and their average over neighbourhoods, computed once for the first layer."""

    columns: Tensor
    propagated: Tensor


@dataclass(frozen=True)
class Layer:
    """Weights of a graph convolution: a kernel (f x u), one skip weight and one bias per channel (u)."""

    kernel: Tensor
    skip: Tensor | None
    bias: Tensor


@dataclass(frozen=True)
class Network:
    """All weights: the layers, then the assignment head (u x k, k)."""

    layers: tuple[Layer, ...]
    head: Tensor
    head_bias: Tensor

    def tensors(self) -> list[Tensor]:
        """Return everything that is trained."""
        hidden = [w for layer in self.layers for w in (layer.kernel, layer.skip, layer.bias) if w is not None]
        return [*hidden, self.head, self.head_bias]


@dataclass(frozen=True)
class Schedule:
    """How to train; see `DMoN` for the meaning of each."""

    epochs: int
    learning_rate: float
    dropout: float
    null_model: str
    collapse: float


@dataclass
class Training:
    """What training gives: C, the loss of every epoch, and how it ended."""

    membership: NDArray
    history: list[float] = field(default_factory=list)
    status: str = "max_iter"


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
    """Draw the initial weights: all Glorot-uniform, as Keras does, but for an orthogonal head."""

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
    inputs: Inputs,
    graph: TorchGraph,
    *,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return the soft assignment C, whose rows sum to 1."""
    first, *others = network.layers
    # The average over neighbours and the kernel commute, so the first layer needs no product with the graph.
    hidden = _activate(first, inputs.columns @ first.kernel, inputs.propagated @ first.kernel)
    for layer in others:
        own = hidden @ layer.kernel
        hidden = _activate(layer, own, neighbourhood_average(graph, own))
    logits = torch.addmm(network.head_bias, hidden, network.head)
    if dropout > 0:
        kept = torch.rand(logits.shape, generator=generator, dtype=torch.float32) >= dropout
        logits = logits * kept.to(logits.device) / (1 - dropout)
    return torch.softmax(logits, dim=1)


def neighbourhood_average(graph: TorchGraph, columns: Tensor) -> Tensor:
    """Return the product with the normalised graph with self-loops, through the one matrix that is stored."""
    scaled = graph.scale * columns
    return graph.scale * (graph.total * SymmetricProduct.apply(graph.weights, scaled) + scaled)


def train(
    network: Network,
    inputs: Inputs,
    graph: TorchGraph,
    schedule: Schedule,
    *,
    generator: torch.Generator,
    notify: Callable[[str, int, int, float], bool],
) -> Training:
    """Train the network in place, on the whole graph at once; one that diverges has the last finite weights."""
    tensors = network.tensors()
    optimizer = Adam(tensors, schedule.learning_rate)
    history: list[float] = []
    status = "max_iter"
    finite = [tensor.detach().clone() for tensor in tensors]
    # The caller may have switched gradients off, which is global.
    with torch.enable_grad():
        for epoch in range(1, schedule.epochs + 1):
            membership = assign(network, inputs, graph, dropout=schedule.dropout, generator=generator)
            loss = dmon_loss(graph, membership, null_model=schedule.null_model, collapse=schedule.collapse)
            value = float(loss.detach())
            if not math.isfinite(value):
                status = "diverged"
                break
            finite = [tensor.detach().clone() for tensor in tensors]
            optimizer.step(torch.autograd.grad(loss, tensors))
            history.append(value)
            if notify("training", epoch, schedule.epochs, value):
                status = "stopped"
                break
    with torch.no_grad():
        result = assign(network, inputs, graph)
        if status == "diverged" or not bool(torch.isfinite(result).all()):
            status = "diverged"
            for tensor, kept in zip(tensors, finite, strict=True):
                tensor.copy_(kept)
            result = assign(network, inputs, graph)
    return Training(np.ascontiguousarray(result.cpu().numpy()), history, status)


class Adam:
    """Adam with Keras' constants. PyTorch's own pulls in its compiler, seconds of import for ten lines."""

    def __init__(self, tensors: Sequence[Tensor], learning_rate: float):
        self.tensors = tensors
        self.learning_rate = learning_rate
        self.first = [torch.zeros_like(tensor) for tensor in tensors]
        self.second = [torch.zeros_like(tensor) for tensor in tensors]
        self.steps = 0

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor], *, decay: tuple[float, float] = (0.9, 0.999)) -> None:
        """Move against the gradients."""
        self.steps += 1
        slow, fast = (1 - rate**self.steps for rate in decay)
        for tensor, gradient, first, second in zip(
            self.tensors, gradients, self.first, self.second, strict=True
        ):
            first.lerp_(gradient, 1 - decay[0])
            second.lerp_(gradient.square(), 1 - decay[1])
            tensor.addcdiv_(first / slow, (second / fast).sqrt() + 1e-7, value=-self.learning_rate)


def _activate(layer: Layer, own: Tensor, average: Tensor) -> Tensor:
    summed = (
        average + layer.bias if layer.skip is None else torch.addcmul(average + layer.bias, own, layer.skip)
    )
    return torch.selu(summed)


def _glorot(shape: tuple[int, ...], fans: int, generator: torch.Generator) -> Tensor:
    bound = math.sqrt(6 / fans)
    return (2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1) * bound


def _orthogonal(n_rows: int, n_columns: int, generator: torch.Generator) -> Tensor:
    """Return a matrix with orthonormal columns (or rows, where it is wide), uniform among those."""
    tall = (max(n_rows, n_columns), min(n_rows, n_columns))
    Q, R = torch.linalg.qr(torch.randn(tall, generator=generator, dtype=torch.float64))
    Q = Q * torch.where(R.diagonal() < 0, -1.0, 1.0)
    return Q if n_rows >= n_columns else Q.T.contiguous()
