#include "api/group/rank_descriptor.hpp"

#include <sched.h>
#include <unistd.h>

#include <tutti/error.hpp>

#include "api/group/surroundings.hpp"
#include "core/descriptor_shortage.hpp"
#include "core/json_value.hpp"
#include "core/quantity.hpp"
#include "core/system_reason.hpp"
#include "lifeline/neighbours.hpp"
#include "transport/memory/shared_heap.hpp"

namespace tutti {
namespace {

std::string host_name() {
  char text[256] = {};
  return gethostname(text, sizeof text - 1) == 0 ? text : "an unnamed host";
}

std::vector<int> own_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

/// Null if there is no shared heap. Other ranks then reach this one over the network.
const SharedHeap* own_heap() {
  try {
    return &SharedHeap::own();
  } catch (const Error&) {
    return nullptr;
  }
}

[[noreturn]] void refuse() {
  throw Error(ErrorCode::mismatch,
              "the descriptor of a rank is not valid: check that all ranks have the same version "
              "of tutti");
}

}  // namespace

RankDescriptor own_descriptor(const FabricSettings& settings) {
  const Surroundings here = Surroundings::read();
  const SharedHeap* const heap = own_heap();
  return {.host = here.host(settings.host_id),
          .network = here.network(),
          .name = host_name(),
          .pid = getpid(),
          .heap_fd = heap == nullptr ? -1 : heap->fd(),
          .heap_file = heap == nullptr ? 0 : heap->file(),
          .cores = own_cores(),
          .transport = settings.transport};
}

std::string trouble_with_descriptors(std::uint32_t ranks) {
  // One connection to each neighbour, and a fixed number for the group: listening sockets, shared
  // memory, event descriptors. Further connections may fail later.
  constexpr std::size_t at_least = 7;
  const std::size_t needed = neighbours_of(0, ranks).size() + at_least;
  const std::optional<std::size_t> left = free_descriptors();
  if (!left || *left >= needed) return "";
  return "it can open " + in_plural(*left, "file") + " more and needs " + std::to_string(needed) +
         " to connect to the other ranks: " + raise_descriptor_limit();
}

std::string write(const RankDescriptor& descriptor) {
  const Json json{{"host", descriptor.host},       {"network", descriptor.network},
                  {"name", descriptor.name},       {"pid", descriptor.pid},
                  {"heap_fd", descriptor.heap_fd}, {"heap_file", descriptor.heap_file},
                  {"cores", descriptor.cores},     {"transport", descriptor.transport},
                  {"trouble", descriptor.trouble}};
  // Names of hosts and files may contain any bytes; invalid UTF-8 is replaced.
  return json_text(json, -1, NotUtf8::replace);
}

RankDescriptor read_rank_descriptor(const std::string& text) {
  try {
    const JsonReader json = JsonReader::parse(text);
    return {.host = json.at("host").get<std::string>(),
            .network = json.at("network").get<std::string>(),
            .name = json.at("name").get<std::string>(),
            .pid = json.at("pid").get<int>(),
            .heap_fd = json.at("heap_fd").get<int>(),
            .heap_file = json.at("heap_file").get<std::uint64_t>(),
            .cores = json.at("cores").get<std::vector<int>>(),
            .transport = json.at("transport").get<std::string>(),
            .trouble = json.at("trouble").get<std::string>()};
  } catch (const JsonError&) {
    refuse();
  }
}

}  // namespace tutti
