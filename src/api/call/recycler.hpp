#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "core/process_origin.hpp"

namespace tutti {

/// A free list of memory blocks of one size. It allocates one block more than were ever in use at a
/// time: a worker returns its block a little later than the caller that waited for it takes the
/// next one. Thread-safe.
class RecycledBlocks {
 public:
  RecycledBlocks() = default;
  RecycledBlocks(const RecycledBlocks&) = delete;
  RecycledBlocks& operator=(const RecycledBlocks&) = delete;
  ~RecycledBlocks() {
    while (free_ != nullptr) ::operator delete(std::exchange(free_, free_->next));
  }

  /// Requires: `bytes` is the same in every call and not less than sizeof(void*).
  [[nodiscard]] void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (!has_spare_) {
      keep(::operator new(bytes));
      has_spare_ = true;
      return ::operator new(bytes);
    }
    return free_ != nullptr ? std::exchange(free_, free_->next) : ::operator new(bytes);
  }
  void give_back(void* block) {
    const std::lock_guard lock(mutex_);
    keep(block);
  }

 private:
  struct Free {
    Free* next;
  };

  void keep(void* block) { free_ = ::new (block) Free{.next = free_}; }

  std::mutex mutex_;
  Free* free_ = nullptr;
  bool has_spare_ = false;
};

/// An allocator for std::allocate_shared. Objects may outlive the owner of the allocator: the free
/// list lives as long as any copy of the allocator.
template <class T>
class Recycler {
 public:
  using value_type = T;

  explicit Recycler(std::shared_ptr<RecycledBlocks> blocks) : blocks_(std::move(blocks)) {}
  template <class U>
  Recycler(const Recycler<U>& other)  // NOLINT(google-explicit-constructor): as allocators are.
      : blocks_(other.blocks()), origin_(other.origin()) {}

  [[nodiscard]] T* allocate(std::size_t /*one*/) {
    return static_cast<T*>(blocks_->take(sizeof(T)));
  }
  void deallocate(T* block, std::size_t /*one*/) {
    if (origin_.is_here()) blocks_->give_back(block);
  }
  /// Does nothing in a forked child: a thread of the parent may wait on the object or hold a lock
  /// of it.
  template <class U>
  void destroy(U* object) {
    if (origin_.is_here()) object->~U();
  }
  [[nodiscard]] const std::shared_ptr<RecycledBlocks>& blocks() const { return blocks_; }
  [[nodiscard]] const ProcessOrigin& origin() const { return origin_; }

  template <class U>
  friend bool operator==(const Recycler& a, const Recycler<U>& b) {
    return a.blocks() == b.blocks();
  }

 private:
  std::shared_ptr<RecycledBlocks> blocks_;
  ProcessOrigin origin_{};
};

}  // namespace tutti
