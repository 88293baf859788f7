#include "api/group/surroundings.hpp"

#include <unistd.h>

#include <atomic>
#include <fstream>

#include "core/process_origin.hpp"
#include "net/secret.hpp"

namespace tutti {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string link_text(const char* path) {
  char text[64] = {};
  const ssize_t length = readlink(path, text, sizeof text - 1);
  return {text, length > 0 ? static_cast<std::size_t>(length) : 0};
}

/// A random name of this process. A forked child gets another one.
struct ProcessName {
  std::string text = Secret::random().bytes.substr(0, 32);
  ProcessOrigin origin{};
};

/// Takes no lock: another thread might have held it when this process was forked.
const std::string& process_name() {
  static std::atomic<const ProcessName*> newest{nullptr};
  const ProcessName* found = newest.load(std::memory_order_acquire);
  if (found != nullptr && found->origin.is_here()) return found->text;
  const auto* const made = new ProcessName;
  if (newest.compare_exchange_strong(found, made)) return made->text;
  delete made;  // Another thread was first.
  return found->text;
}

constexpr const char* unknown = "unknown ";

/// Names a namespace of a kernel. If either is unknown, the name is unique to this process.
std::string place(const std::string& boot, const std::string& space) {
  if (boot.empty() || space.empty()) return unknown + process_name();
  return boot + " " + space;
}

/// Percent-encodes the text. Different texts must stay different in JSON, which holds only UTF-8.
std::string printable(const std::string& text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string encoded;
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte > ' ' && byte < 0x7F && each != '%') {
      encoded += each;
    } else {
      encoded += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return encoded;
}

}  // namespace

Surroundings Surroundings::read() {
  return {.boot = first_line("/proc/sys/kernel/random/boot_id"),
          .process_namespace = link_text("/proc/self/ns/pid"),
          .network_namespace = link_text("/proc/self/ns/net")};
}

std::string Surroundings::host(const std::string& host_id) const {
  return place(boot, process_namespace) + " " + std::to_string(geteuid()) + " " +
         printable(host_id);
}

std::string Surroundings::network() const { return place(boot, network_namespace); }

bool is_known_network(const std::string& network) { return !network.starts_with(unknown); }

}  // namespace tutti
