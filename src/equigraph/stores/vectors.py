"""Fixed-width vectors for compiled loops: a few columns of a row that stay in registers.

numba neither keeps small arrays in registers nor turns short loops over columns into vector instructions by itself.
These operations do both, on any processor that LLVM knows. Widths are multiples of `UNIT` bytes, given as a literal
number of units, so that float32 and float64 rows of one width need no code of their own.
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

from equigraph.stores.panels import UNIT as UNIT

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


def _vector_of(dtype, units):
    if not isinstance(units, types.IntegerLiteral):
        raise RequireLiteralValue("the number of units of a vector must be a constant")
    return Vector(dtype, units.literal_value * UNIT // (dtype.bitwidth // 8))


def _address(context, builder, array_type, array, row, column):
    """Return the address of an entry of a two-dimensional array whose rows are contiguous, as an integer."""
    struct = context.make_array(array_type)(context, builder, array)
    pitch = cgutils.unpack_tuple(builder, struct.strides, 2)[0]
    itemsize = ir.Constant(row.type, array_type.dtype.bitwidth // 8)
    offset = builder.add(builder.mul(row, pitch), builder.mul(column, itemsize))
    return builder.add(builder.ptrtoint(struct.data, row.type), offset)


def _load(context, builder, vector, array_type, arguments):
    address = _address(context, builder, array_type, *arguments[:3])
    pointer = builder.inttoptr(address, _llvm_type(vector).as_pointer())
    return builder.load(pointer, align=array_type.dtype.bitwidth // 8)


def _splat(builder, scalar, vector):
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, _INT32(0))
    lanes = ir.Constant(ir.VectorType(_INT32, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, undefined, lanes)


@intrinsic
def load(typingctx, array, row, column, units):
    """Return the entries of a row from a column on."""
    vector = _vector_of(array.dtype, units)

    def codegen(context, builder, signature, arguments):
        return _load(context, builder, vector, array, arguments)

    return vector(array, types.intp, types.intp, units), codegen


@intrinsic
def load_like(typingctx, array, row, column, like):
    """Return as many entries of a row, from a column on, as another vector has."""
    vector = Vector(array.dtype, like.count)

    def codegen(context, builder, signature, arguments):
        return _load(context, builder, vector, array, arguments)

    return vector(array, types.intp, types.intp, like), codegen


@intrinsic
def store(typingctx, array, row, column, value):
    """Write a vector into a row from a column on."""

    def codegen(context, builder, signature, arguments):
        address = _address(context, builder, array, *arguments[:3])
        pointer = builder.inttoptr(address, arguments[3].type.as_pointer())
        builder.store(arguments[3], pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, value), codegen


@intrinsic
def prefetch(typingctx, array, row, column):
    """Ask for the cache line of an entry, without waiting for it."""

    def codegen(context, builder, signature, arguments):
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, _INT32, _INT32, _INT32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        address = builder.inttoptr(_address(context, builder, array, *arguments), pointer)
        # For reading, into all caches, as data.
        builder.call(function, [address, _INT32(0), _INT32(3), _INT32(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), codegen


@intrinsic
def splat(typingctx, scalar, units):
    """Return a vector of equal entries."""
    vector = _vector_of(scalar, units)

    def codegen(context, builder, signature, arguments):
        return _splat(builder, arguments[0], _llvm_type(vector))

    return vector(scalar, units), codegen


@intrinsic
def add_multiple(typingctx, total, factor, value):
    """Return ``total + factor * value``, rounded once where the processor can; the factor may be a number."""
    is_vector = isinstance(factor, Vector)

    def codegen(context, builder, signature, arguments):
        total_, factor_, value_ = arguments
        if not is_vector:
            factor_ = _splat(builder, factor_, value_.type)
        # Not the fma of LLVM: without such an instruction that is a slow library call.
        fused = ("contract",)
        return builder.fadd(total_, builder.fmul(factor_, value_, flags=fused), flags=fused)

    return total(total, factor if is_vector else total.dtype, value), codegen


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
