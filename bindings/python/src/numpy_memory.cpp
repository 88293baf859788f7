#include "numpy_memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <tutti/error.hpp>
#include <tutti/memory.hpp>

namespace nb = nanobind;

namespace tutti::python {
namespace {

// NumPy's interface for memory of arrays (NEP 49), declared here so that NumPy is not needed to
// build the package. It is the same in all versions from 1.22 on.
struct ArrayMemory {
  void* context;
  void* (*malloc)(void* context, std::size_t bytes);
  void* (*calloc)(void* context, std::size_t count, std::size_t bytes);
  void* (*realloc)(void* context, void* memory, std::size_t bytes);
  void (*free)(void* context, void* memory, std::size_t bytes);
};
struct MemoryHandler {
  char name[127];
  std::uint8_t version;
  ArrayMemory memory;
};
constexpr const char* capsule_name = "mem_handler";
/// The place of PyDataMem_SetHandler in the table of NumPy's functions.
constexpr std::size_t set_handler_index = 304;

struct SharingHandler {
  MemoryHandler handler;
  std::size_t smallest;
};

// NumPy may call these without the interpreter's lock. They must not throw.

/// Null if the array is too short for shared memory, or if there is none.
template <class Allocate>
void* shared(void* context, std::size_t bytes, Allocate&& allocate) noexcept {
  if (bytes < static_cast<const SharingHandler*>(context)->smallest) return nullptr;
  try {
    return allocate(bytes);
  } catch (...) {
    return nullptr;
  }
}

void* allocate_any(void* context, std::size_t bytes) {
  void* const memory = shared(context, bytes, allocate_uninitialized);
  return memory != nullptr ? memory : std::malloc(std::max<std::size_t>(bytes, 1));
}

void* allocate_zeroed(void* context, std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return nullptr;
  void* const memory = shared(context, all, allocate);
  return memory != nullptr ? memory : std::calloc(std::max<std::size_t>(all, 1), 1);
}

void free_any(void* /*context*/, void* memory, std::size_t /*bytes*/) {
  if (allocated_bytes(memory) == 0) return std::free(memory);
  try {
    deallocate(memory);
  } catch (...) {  // Its bookkeeping found no memory: the block is lost.
  }
}

/// NumPy does not tell the former length: the memory itself does.
void* reallocate_any(void* context, void* memory, std::size_t bytes) {
  if (memory == nullptr) return allocate_any(context, bytes);
  const std::size_t smallest = static_cast<const SharingHandler*>(context)->smallest;
  std::size_t former = allocated_bytes(memory);
  if (former == 0) {
    if (bytes < smallest) return std::realloc(memory, std::max<std::size_t>(bytes, 1));
    former = malloc_usable_size(memory);
  } else if (bytes <= former && bytes >= former / 2) {
    return memory;
  }
  void* const moved = allocate_any(context, bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, memory, std::min(former, bytes));
  free_any(context, memory, 0);
  return moved;
}

/// Every array keeps the capsule with the functions that free its memory.
PyObject* capsule_of(std::size_t smallest) {
  auto made = std::make_unique<SharingHandler>();
  std::strcpy(made->handler.name, "tutti");
  made->handler.version = 1;
  made->handler.memory = {made.get(), allocate_any, allocate_zeroed, reallocate_any, free_any};
  made->smallest = std::max<std::size_t>(smallest, 1);
  PyObject* const capsule = PyCapsule_New(&made->handler, capsule_name, [](PyObject* ending) {
    delete static_cast<SharingHandler*>(
        static_cast<void*>(PyCapsule_GetPointer(ending, capsule_name)));
  });
  if (capsule == nullptr) throw nb::python_error();
  made.release();
  return capsule;
}

/// Sets NumPy's handler in this thread or task and returns the former one.
nb::object set_handler(const nb::object& functions, const nb::object& handler) {
  auto* const* const table =
      static_cast<void* const*>(PyCapsule_GetPointer(functions.ptr(), nullptr));
  if (table == nullptr) throw nb::python_error();
  using SetHandler = PyObject* (*)(PyObject*);
  const auto set = reinterpret_cast<SetHandler>(table[set_handler_index]);
  PyObject* const former = set(handler.ptr());
  if (former == nullptr) throw nb::python_error();
  return nb::steal(former);
}

}  // namespace

void register_numpy_memory(nb::module_& module) {
  module.def(
      "numpy_memory_handler", [](std::size_t smallest) { return nb::steal(capsule_of(smallest)); },
      nb::arg("smallest"), "A handler for NumPy that makes arrays in shared memory.");
  module.def("set_numpy_memory_handler", &set_handler, nb::arg("functions"), nb::arg("handler"),
             "Set NumPy's handler, given its table of functions, and return the former one.");
  module.def("trim_memory", &trim_memory, nb::arg("keep") = 0,
             nb::call_guard<nb::gil_scoped_release>(),
             "Return memory of arrays that were freed to the system.");
  module.def(
      "is_shared",
      [](std::uintptr_t address) {
        return allocated_bytes(reinterpret_cast<const void*>(address)) > 0;
      },
      nb::arg("address"), "Whether shared memory of this process begins at this address.");
}

}  // namespace tutti::python
