#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/fork_safe_mutex.hpp"

namespace tutti {

/// Objects that threads of one process share. A thread publishes its object and sends the name to
/// the others, which find the object by it. The table holds no ownership: an object that its last
/// owner has destroyed is not found.
template <class T>
class NamedObjects {
 public:
  [[nodiscard]] static std::string publish(const std::shared_ptr<T>& object) {
    Table& table = own_table();
    const std::lock_guard lock(table.mutex);
    std::erase_if(table.objects, [](const auto& each) { return each.second.expired(); });
    std::string name = std::to_string(++table.last);
    table.objects[name] = object;
    return name;
  }
  /// Null if there is no such object.
  [[nodiscard]] static std::shared_ptr<T> find(const std::string& name) {
    Table& table = own_table();
    const std::lock_guard lock(table.mutex);
    const auto found = table.objects.find(name);
    return found == table.objects.end() ? nullptr : found->second.lock();
  }

 private:
  struct Table {
    ForkSafeMutex mutex;
    std::map<std::string, std::weak_ptr<T>> objects;
    std::uint64_t last = 0;
  };

  [[nodiscard]] static Table& own_table() {
    static auto& table = *new Table;  // Never destroyed, as its mutex requires.
    return table;
  }
};

}  // namespace tutti
