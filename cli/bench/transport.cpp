#include "cli/bench/transport.hpp"

namespace tutti::cli {

const std::map<std::string, int>& bench_transports() {
  static const std::map<std::string, int> values{
      {"auto", static_cast<int>(BenchTransport::automatic)},
      {"shm", static_cast<int>(BenchTransport::shm)},
      {"tcp", static_cast<int>(BenchTransport::tcp)},
      {"inproc", static_cast<int>(BenchTransport::inproc)}};
  return values;
}

std::string name(BenchTransport transport) {
  for (const auto& [text, value] : bench_transports()) {
    if (value == static_cast<int>(transport)) return text;
  }
  return {};
}

}  // namespace tutti::cli
