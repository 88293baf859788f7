#include "storage_lock.hpp"

#include <mutex>
#include <unordered_map>
#include <utility>

namespace tutti_torch {
namespace {

/// How many locks hold each storage that was resizable.
struct Holders {
  std::mutex mutex;
  std::unordered_map<c10::StorageImpl*, std::size_t> counts;

  static Holders& all() {
    // Never destroyed: a lock may be released while the process exits.
    static auto* const holders = new Holders;
    return *holders;
  }
};

}  // namespace

StorageLock::StorageLock(const std::vector<at::Tensor>& tensors) {
  Holders& holders = Holders::all();
  const std::lock_guard lock(holders.mutex);
  for (const at::Tensor& each : tensors) {
    if (!each.defined() || !each.has_storage()) continue;
    const c10::Storage& storage = each.storage();
    c10::StorageImpl* const memory = storage.unsafeGetStorageImpl();
    const auto found = holders.counts.find(memory);
    if (found != holders.counts.end()) {
      ++found->second;
    } else if (memory->resizable()) {
      holders.counts.emplace(memory, 1);
      memory->set_resizable(false);
    } else {
      continue;
    }
    storages_.push_back(storage);
  }
}

StorageLock& StorageLock::operator=(StorageLock&& other) noexcept {
  if (this == &other) return *this;
  release();
  storages_ = std::exchange(other.storages_, {});
  return *this;
}

StorageLock::~StorageLock() { release(); }

void StorageLock::release() noexcept {
  if (storages_.empty()) return;
  {
    Holders& holders = Holders::all();
    const std::lock_guard lock(holders.mutex);
    for (const c10::Storage& each : storages_) {
      c10::StorageImpl* const memory = each.unsafeGetStorageImpl();
      const auto found = holders.counts.find(memory);
      if (--found->second > 0) continue;
      holders.counts.erase(found);
      memory->set_resizable(true);
    }
  }
  storages_.clear();
}

}  // namespace tutti_torch
