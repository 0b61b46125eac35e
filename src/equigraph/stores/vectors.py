"""Rows of a few columns as one value that compiled loops keep in registers.

numba neither keeps small arrays in registers nor turns short loops over columns into vector instructions by itself.
These operations do both, on any processor that LLVM knows. The number of columns is a constant of the loop.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.errors import RequireLiteralValue
from numba.extending import intrinsic as numba_intrinsic
from numba.extending import register_model

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
