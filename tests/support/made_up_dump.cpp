#include "support/made_up_dump.hpp"

#include <cstdio>

#include "core/json_value.hpp"

namespace tutti::test {
namespace {

std::uint64_t nanoseconds(double seconds) { return static_cast<std::uint64_t>(seconds * 1e9); }

Json line_of(const MadeUpCall& call, std::uint64_t clock) {
  Json line{{"call", call.number},
            {"kind", "allreduce"},
            {"dtype", "f32"},
            {"op", "sum"},
            {"count", call.count},
            {"bytes", 4 * call.count},
            {"algorithm", "allreduce/ring"},
            {"signature", std::to_string(call.count)}};
  if (!call.site.empty()) line["site"] = call.site;
  line["state"] = call.has_failed ? "failed" : call.ended ? "done" : "running";
  line["begun_ns"] = clock + nanoseconds(call.begun);
  if (call.ended) line["ended_ns"] = clock + nanoseconds(*call.ended);
  if (call.wait) {
    line["waits_for"] = call.wait->rank;
    line["round"] = call.wait->round;
    line["bytes_done"] = call.wait->bytes_done;
  }
  return line;
}

}  // namespace

std::string MadeUpDump::text() const {
  constexpr std::uint64_t wall = 1'700'000'000'000'000'000;
  const std::uint64_t clock = nanoseconds(3600.0 * (rank + 1));
  char id[17] = {};
  std::snprintf(id, sizeof id, "%016lx", static_cast<unsigned long>(communicator));
  Json header{{"tutti", "0.1.0"},
              {"communicator", id},
              {"name", name},
              {"rank", rank},
              {"ranks", ranks},
              {"host", host},
              {"pid", 1000 + rank},
              {"wall_ns", wall + nanoseconds(at)},
              {"steady_ns", clock + nanoseconds(at)},
              {"reason", reason}};
  if (!failure.empty()) header["failure"] = failure;
  std::string text = header.dump() + "\n";
  for (const MadeUpCall& call : calls) text += line_of(call, clock).dump() + "\n";
  return text;
}

}  // namespace tutti::test
