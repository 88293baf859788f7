#include "memory.hpp"

#include <tutti/memory.hpp>

#include "errors.hpp"

namespace tutti::python {
namespace {

/// Memory from tutti::allocate(), with the buffer protocol: bytes that can be written.
class SharedMemory {
 public:
  explicit SharedMemory(std::uint64_t bytes)
      : bytes_(bytes), data_(allocate(bytes == 0 ? 1 : bytes)) {}
  ~SharedMemory() {
    try {
      deallocate(data_);
    } catch (const Error&) {
    }
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t bytes_;
  void* data_;
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  const auto* const memory = nb::inst_ptr<SharedMemory>(nb::handle(self));
  return PyBuffer_FillInfo(view, self, memory->data(), static_cast<Py_ssize_t>(memory->bytes()), 0,
                           flags);
}

PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

}  // namespace

void register_memory(nb::module_& module) {
  nb::class_<SharedMemory>(module, "SharedMemory", nb::type_slots(slots),
                           "Memory that the other ranks of this host can read.")
      .def(nb::init<std::uint64_t>(), nb::arg("bytes"))
      .def("__len__", [](const SharedMemory& memory) { return memory.bytes(); });
}

}  // namespace tutti::python
