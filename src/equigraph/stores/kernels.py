"""Compiled loops over the rows of a graph: products with panels, and updates of a membership.

Import this module only where the loops are about to run: it loads the compiler. All loops are functions of arrays that
release the GIL, so that threads, blocks on disk and remote workers use the same ones. Sums are accumulated in the order
of rows and entries: a row of a product is the same, to the bit, whatever the number of tiles.

Rows of a few columns are vectors, which stay in registers: numba neither keeps small arrays there nor turns short loops
over columns into vector instructions by itself. The operations below do both, on any processor that LLVM knows. The
number of columns is a constant of the loop.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.errors import RequireLiteralValue
from numba.extending import intrinsic as numba_intrinsic
from numba.extending import register_model

from equigraph._utils.compilation import compiled

_INT32 = ir.IntType(32)
# The stubs of numba count the typing context among the arguments of a call.
intrinsic: Any = numba_intrinsic


class Vector(types.Type):
    """The type of a vector: element type and number of elements."""

    def __init__(self, dtype: Any, count: int):
        self.dtype, self.count = dtype, count
        super().__init__(name=f"Vector({dtype}, {count})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    """A vector is a vector of LLVM."""

    def __init__(self, dmm: Any, fe_type: Any):
        super().__init__(dmm, fe_type, _llvm_type(fe_type))


def _llvm_type(vector):
    element = ir.DoubleType() if vector.dtype == types.float64 else ir.FloatType()
    return ir.VectorType(element, vector.count)


def _vector_of(dtype, width):
    if not isinstance(width, types.IntegerLiteral):
        raise RequireLiteralValue("the width of a vector must be a constant")
    return Vector(dtype, width.literal_value)


def _pointer(context, builder, array_type, arguments, vector):
    """Return a pointer to an entry of a two-dimensional array whose rows are contiguous."""
    array, row, column = arguments[:3]
    struct = context.make_array(array_type)(context, builder, array)
    pitch = cgutils.unpack_tuple(builder, struct.strides, 2)[0]
    itemsize = ir.Constant(row.type, array_type.dtype.bitwidth // 8)
    offset = builder.add(builder.mul(row, pitch), builder.mul(column, itemsize))
    address = builder.add(builder.ptrtoint(struct.data, row.type), offset)
    return builder.inttoptr(address, vector.as_pointer())


def _splat(builder, scalar, vector):
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, _INT32(0))
    lanes = ir.Constant(ir.VectorType(_INT32, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, undefined, lanes)


@intrinsic
def load(typingctx, array, row, column, width):
    """Return the entries of a row from a column on."""
    vector = _vector_of(array.dtype, width)

    def codegen(context, builder, signature, arguments):
        pointer = _pointer(context, builder, array, arguments, _llvm_type(vector))
        return builder.load(pointer, align=array.dtype.bitwidth // 8)

    return vector(array, types.intp, types.intp, width), codegen


@intrinsic
def store(typingctx, array, row, column, value):
    """Write a vector into a row from a column on."""

    def codegen(context, builder, signature, arguments):
        pointer = _pointer(context, builder, array, arguments, arguments[3].type)
        builder.store(arguments[3], pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, value), codegen


@intrinsic
def zeros(typingctx, array, width):
    """Return a vector of zeros of the type of an array."""
    vector = _vector_of(array.dtype, width)

    def codegen(context, builder, signature, arguments):
        return ir.Constant(_llvm_type(vector), None)

    return vector(array, width), codegen


@intrinsic
def add_multiple(typingctx, total, factor, value):
    """Return ``total + factor * value`` for a number and two vectors, rounded once where the processor can."""

    def codegen(context, builder, signature, arguments):
        factors = _splat(builder, arguments[1], arguments[2].type)
        # Not the fma of LLVM: without such an instruction that is a slow library call.
        fused = ("contract",)
        return builder.fadd(arguments[0], builder.fmul(factors, arguments[2], flags=fused), flags=fused)

    return total(total, total.dtype, value), codegen


def _entrywise(instruction, summary):
    def operation(typingctx, left, right):
        def codegen(context, builder, signature, arguments):
            return getattr(builder, instruction)(*arguments)

        return left(left, right), codegen

    operation.__doc__ = summary
    return intrinsic(operation)


add = _entrywise("fadd", "Return the sum of two vectors.")
subtract = _entrywise("fsub", "Return the difference of two vectors.")
multiply = _entrywise("fmul", "Return the product of two vectors, entry by entry.")
divide = _entrywise("fdiv", "Return the quotient of two vectors, entry by entry.")


@intrinsic
def at_least(typingctx, value, least):
    """Return the larger of each entry and a number; NaN stays NaN."""

    def codegen(context, builder, signature, arguments):
        floor = _splat(builder, arguments[1], arguments[0].type)
        return builder.select(builder.fcmp_unordered(">", arguments[0], floor), arguments[0], floor)

    return value(value, value.dtype), codegen


@intrinsic
def square_root(typingctx, value):
    """Return the square root of each entry."""

    def codegen(context, builder, signature, arguments):
        vector = arguments[0].type
        name = f"llvm.sqrt.v{vector.count}{vector.element.intrinsic_name}"
        kind = ir.FunctionType(vector, [vector])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)

    return value(value), codegen


@intrinsic
def widen(typingctx, value):
    """Return the vector in double precision."""
    wide = Vector(types.float64, value.count)

    def codegen(context, builder, signature, arguments):
        return arguments[0] if wide == value else builder.fpext(arguments[0], _llvm_type(wide))

    return wide(value), codegen


@cache
def add_product(width):
    """Return a loop that adds to ``out`` the product of a range of rows with ``width`` columns of a panel.

    The panel begins at the node ``first_row``, the columns at ``column``. The entries of row i are those from
    ``starts[i]`` to ``stops[i]``; if ``data`` is None, all weights are ``scale``.
    """

    @compiled
    def add_rows(starts, stops, indices, data, scale, first_row, panel, column, out):
        for row in range(starts.size):
            total = load(out, row, column, width)
            for p in range(starts[row], stops[row]):
                weight = scale if data is None else panel.dtype.type(data[p])
                total = add_multiple(
                    total, weight, load(panel, np.intp(indices[p]) - first_row, column, width)
                )
            store(out, row, column, total)

    return add_rows


@cache
def gram_rows(width):
    """Return a loop that adds left'right, of ``width`` columns each, to ``sums`` in double precision."""

    @compiled
    def add_gram(left, right, sums):
        for row in range(left.shape[0]):
            values = widen(load(right, row, 0, width))
            for a in range(width):
                store(sums, a, 0, add_multiple(load(sums, a, 0, width), np.float64(left[row, a]), values))

    return add_gram


@cache
def update_rows(width):
    """Return a loop that writes the next H, of ``width`` columns, into ``out`` and adds its sums to ``totals``."""

    @compiled
    def update(H, AH, codes, tables, floor, out, totals):
        right, middle, positive, negative, own = tables
        HH, sums, squares, moved = totals
        for row in range(H.shape[0]):
            old, numerator, denominator = load(H, row, 0, width), zeros(H, width), zeros(H, width)
            for a in range(right.shape[0]):
                numerator = add_multiple(numerator, AH[row, a], load(right, a, 0, width))
                denominator = add_multiple(denominator, H[row, a], load(middle, a, 0, width))
            group = np.intp(codes[row])
            numerator = add(numerator, load(negative, group, 0, width))
            above = add(load(positive, group, 0, width), multiply(load(own, group, 0, width), old))
            denominator = add(denominator, at_least(above, H.dtype.type(0)))
            ratio = divide(numerator, at_least(denominator, H.dtype.type(floor)))
            # Two square roots are several times as fast as a power.
            new = multiply(square_root(square_root(ratio)), old)
            store(out, row, 0, new)
            step, wide = widen(subtract(new, old)), widen(new)
            store(moved, 0, 0, add(load(moved, 0, 0, width), multiply(step, step)))
            store(sums, group, 0, add(load(sums, group, 0, width), wide))
            store(squares, group, 0, add(load(squares, group, 0, width), multiply(wide, wide)))
            for a in range(right.shape[0]):
                store(HH, a, 0, add_multiple(load(HH, a, 0, width), np.float64(out[row, a]), wide))

    return update
