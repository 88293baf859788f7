#include "conversion.hpp"

#include "failure.hpp"

namespace tutti_torch {
namespace {

std::optional<tuttiDataType_t> number_of(c10::ScalarType type) {
  switch (type) {
    case c10::ScalarType::Byte:
      return tuttiUint8;
    case c10::ScalarType::Char:
      return tuttiInt8;
    case c10::ScalarType::Short:
      return tuttiInt16;
    case c10::ScalarType::Int:
      return tuttiInt32;
    case c10::ScalarType::Long:
      return tuttiInt64;
    case c10::ScalarType::UInt16:
      return tuttiUint16;
    case c10::ScalarType::UInt32:
      return tuttiUint32;
    case c10::ScalarType::UInt64:
      return tuttiUint64;
    case c10::ScalarType::Half:
      return tuttiFloat16;
    case c10::ScalarType::BFloat16:
      return tuttiBfloat16;
    case c10::ScalarType::Float8_e4m3fn:
      return tuttiFloat8e4m3;
    case c10::ScalarType::Float8_e5m2:
      return tuttiFloat8e5m2;
    case c10::ScalarType::Float:
      return tuttiFloat32;
    case c10::ScalarType::Double:
      return tuttiFloat64;
    case c10::ScalarType::ComplexFloat:
      return tuttiComplex64;
    case c10::ScalarType::ComplexDouble:
      return tuttiComplex128;
    default:
      return std::nullopt;
  }
}

std::optional<tuttiRedOp_t> operation_of(c10d::ReduceOp::RedOpType op) {
  switch (op) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::PREMUL_SUM:
      return tuttiSum;
    case c10d::ReduceOp::AVG:
      return tuttiAvg;
    case c10d::ReduceOp::PRODUCT:
      return tuttiProd;
    case c10d::ReduceOp::MIN:
      return tuttiMin;
    case c10d::ReduceOp::MAX:
      return tuttiMax;
    case c10d::ReduceOp::BAND:
      return tuttiBand;
    case c10d::ReduceOp::BOR:
      return tuttiBor;
    case c10d::ReduceOp::BXOR:
      return tuttiBxor;
    default:
      return std::nullopt;
  }
}

/// A bool is the byte 0 or 1, and stays one: a sum is true if any operand is, a product if all are.
std::optional<tuttiRedOp_t> operation_on_bools(tuttiRedOp_t op) {
  switch (op) {
    case tuttiSum:
    case tuttiMax:
      return tuttiBor;
    case tuttiProd:
    case tuttiMin:
      return tuttiBand;
    case tuttiBand:
    case tuttiBor:
    case tuttiBxor:
      return op;
    default:
      return std::nullopt;
  }
}

}  // namespace

Element element_of(c10::ScalarType type) {
  if (const auto number = number_of(type)) return {.type = *number, .factor = 1};
  return {.type = tuttiUint8, .factor = c10::elementSize(type)};
}

Combination combination_of(const c10d::ReduceOp& op, c10::ScalarType type, std::string_view call) {
  const auto operation = operation_of(op.op_);
  if (!operation) refuse(call, "unknown ReduceOp " + std::to_string(static_cast<int>(op.op_)));
  if (type == c10::ScalarType::Bool) {
    if (const auto on_bools = operation_on_bools(*operation);
        on_bools && op.op_ != c10d::ReduceOp::PREMUL_SUM) {
      return {.type = tuttiUint8, .op = *on_bools};
    }
    refuse(call, "bool tensors have no average and no scaled sum: convert them to a number type");
  }
  const auto number = number_of(type);
  if (!number) {
    refuse(call, std::string("tensors of type ") + c10::toString(type) +
                     " cannot be reduced: convert them to float32, bfloat16 or float16");
  }
  return {.type = *number, .op = *operation};
}

}  // namespace tutti_torch
