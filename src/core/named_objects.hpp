#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace tutti {

/// Objects that threads of one process share. A thread publishes its object and sends the name to
/// the others, which find the object by it. The table holds no ownership: an object that its last
/// owner has destroyed is not found.
template <class T>
class NamedObjects {
 public:
  [[nodiscard]] static std::string publish(const std::shared_ptr<T>& object) {
    const std::lock_guard lock(mutex_);
    std::erase_if(objects_, [](const auto& each) { return each.second.expired(); });
    const std::string name = std::to_string(++last_);
    objects_[name] = object;
    return name;
  }
  /// Null if there is no such object.
  [[nodiscard]] static std::shared_ptr<T> find(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(name);
    return found == objects_.end() ? nullptr : found->second.lock();
  }

 private:
  static inline std::mutex mutex_;
  static inline std::map<std::string, std::weak_ptr<T>> objects_;
  static inline std::uint64_t last_ = 0;
};

}  // namespace tutti
