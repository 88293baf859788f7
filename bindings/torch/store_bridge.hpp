#pragma once

#include <chrono>
#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <tutti/tutti.h>

namespace tutti_torch {

/// A c10d Store as a store of tutti's C API. Keeps the words of the last exception of the store,
/// since exceptions may not pass through C.
class StoreBridge {
 public:
  StoreBridge(c10::intrusive_ptr<c10d::Store> store, std::chrono::milliseconds timeout)
      : store_(std::move(store)), timeout_(timeout) {}

  [[nodiscard]] tuttiStore_t in_c();
  /// Empty if the store threw nothing.
  [[nodiscard]] const std::string& failure() const { return failure_; }

  /// A prefix that this rank has not used before on this store. Ranks that have made the same
  /// number of groups on it get the same one. So a program may make a group again on a store that
  /// still has the keys of the first.
  [[nodiscard]] static std::string fresh_prefix(c10d::Store& store, const std::string& name,
                                                int rank);

 private:
  static int set(void* self, const char* key, const void* value, size_t bytes);
  static int get(void* self, const char* key, void* value, size_t room, size_t* bytes);

  c10::intrusive_ptr<c10d::Store> store_;
  std::chrono::milliseconds timeout_;
  std::string failure_{};
};

}  // namespace tutti_torch
