r"""The loss of DMoN, and products with a symmetric sparse matrix that autograd can walk back.

PyTorch is imported here: import this file only where it is needed.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from equigraph.community.neural.features import self_loop_scale


@dataclass(frozen=True)
class TorchGraph:
    """A graph as the model needs it: one sparse matrix and two vectors, for 2m, the sum of all degrees."""

    weights: Tensor  # A / 2m, sparse; float32 then copes with weights of any scale
    degrees: Tensor  # d / 2m; they sum to 1
    scale: Tensor  # inverse square roots of the degrees of A + I
    total: float  # 2m


def torch_graph(adjacency: sparse.csr_array, *, dtype: torch.dtype, device: torch.device) -> TorchGraph:
    """Copy a graph that has at least one edge to PyTorch."""
    total = float(adjacency.sum(dtype=np.float64))
    degrees = np.asarray(adjacency.sum(axis=1, dtype=np.float64)).ravel() / total
    with warnings.catch_warnings():
        # Said once per process by PyTorch itself; nothing that a caller could act on.
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
        scale=torch.from_numpy(self_loop_scale(adjacency)[:, None]).to(device, dtype),
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


class QuadraticForm(torch.autograd.Function):
    """``tr(C' A C)`` for a constant symmetric sparse A; ``A C`` is kept, so the gradient needs no product."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, columns: Tensor) -> Tensor:
        """Return the trace."""
        product = matrix @ columns
        ctx.save_for_backward(product)
        return (columns * product).sum()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Any) -> tuple[None, Tensor]:
        """Return the gradient with respect to the columns."""
        (product,) = ctx.saved_tensors
        return None, 2 * gradients[0] * product


def soft_modularity(graph: TorchGraph, membership: Tensor, resolution: float = 1.0) -> Tensor:
    r"""Return :math:`\mathrm{tr}(C^\top A C) / 2m - \gamma \|C^\top d\|^2 / (2m)^2`."""
    expected = (membership * graph.degrees).sum(dim=0).square().sum()
    return QuadraticForm.apply(graph.weights, membership) - resolution * expected


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
