#include "store_bridge.hpp"

#include <cstring>
#include <exception>
#include <vector>

namespace tutti_torch {
namespace {

/// Calls f. Returns 0, or 1 after an exception, whose words go to `failure`.
template <class F>
int without_exception(std::string& failure, F&& f) noexcept {
  try {
    f();
    return 0;
  } catch (const std::exception& error) {
    failure = error.what();
  } catch (...) {
    failure = "an exception of unknown type";
  }
  return 1;
}

}  // namespace

tuttiStore_t StoreBridge::in_c() { return {.set = &set, .get = &get, .context = this}; }

std::string StoreBridge::fresh_prefix(c10d::Store& store, const std::string& name, int rank) {
  const int64_t use = store.add("tutti/" + name + "/uses/" + std::to_string(rank), 1);
  return "tutti/" + name + "/" + std::to_string(use);
}

int StoreBridge::set(void* self, const char* key, const void* value, size_t bytes) {
  auto& bridge = *static_cast<StoreBridge*>(self);
  return without_exception(bridge.failure_, [&] {
    const auto* const begin = static_cast<const uint8_t*>(value);
    bridge.store_->set(std::string(key), std::vector<uint8_t>(begin, begin + bytes));
  });
}

int StoreBridge::get(void* self, const char* key, void* value, size_t room, size_t* bytes) {
  auto& bridge = *static_cast<StoreBridge*>(self);
  return without_exception(bridge.failure_, [&] {
    const std::string name(key);
    bridge.store_->wait({name}, bridge.timeout_);
    const std::vector<uint8_t> found = bridge.store_->get(name);
    *bytes = found.size();
    if (found.size() <= room) std::memcpy(value, found.data(), found.size());
  });
}

}  // namespace tutti_torch
