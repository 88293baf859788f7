#pragma once

#include <cstdint>

/// The parts of the DLPack ABI (dmlc.github.io/dlpack) that tutti reads: an array of another
/// library.
namespace tutti::python::dlpack {

struct Device {
  std::int32_t type;
  std::int32_t id;
};
/// Types of devices whose memory the CPU can read and write.
inline constexpr std::int32_t cpu = 1;
inline constexpr std::int32_t cuda_host = 3;

struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
enum class Code : std::uint8_t {
  signed_integer,
  unsigned_integer,
  floating,
  handle,
  bfloat,
  complex,
  boolean,
  float8_e4m3fn = 10,
  float8_e5m2 = 12,
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // In elements; null: C-contiguous.
  std::uint64_t byte_offset;
};

/// The content of a capsule "dltensor".
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

/// The content of a capsule "dltensor_versioned".
struct ManagedVersioned {
  std::uint32_t major;
  std::uint32_t minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};
inline constexpr std::uint64_t read_only = 1;

}  // namespace tutti::python::dlpack
