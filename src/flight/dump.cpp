#include "flight/dump.hpp"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

#include <tutti/version.hpp>

#include "core/file_size_guard.hpp"
#include "flight/json_writer.hpp"
#include "flight/path_text.hpp"

namespace tutti {
namespace {

std::uint64_t nanoseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void write_header(JsonWriter& json, const FlightRecorder& recorder, std::string_view reason) {
  const FlightOwner& owner = recorder.owner();
  utsname machine{};
  if (uname(&machine) != 0) machine.nodename[0] = '\0';
  json.open_object();
  json.member("tutti", version);
  json.hexadecimal("communicator", owner.communicator, 16);
  json.member("name", owner.name);
  json.member("rank", owner.self);
  json.member("ranks", owner.ranks);
  json.member("host", machine.nodename);
  json.member("pid", static_cast<std::uint64_t>(getpid()));
  json.member("wall_ns", nanoseconds_of(CLOCK_REALTIME));
  json.member("steady_ns", nanoseconds_of(CLOCK_MONOTONIC));
  json.member("reason", reason);
  if (!recorder.failure().empty()) json.member("failure", recorder.failure());
  json.close_object();
}

void write_call(JsonWriter& json, const FlightCall& call) {
  json.member("kind", name(call.kind));
  const std::optional<Collective> collective = collective_of(call.kind);
  if (!collective) {
    if (call.kind != FlightKind::receive) {
      json.member("to", call.root);
      json.member("bytes", call.bytes);
    }
    if (call.kind != FlightKind::send) {
      json.member("from", call.from);
      json.member("received_bytes", call.count);
    }
    return;
  }
  json.member("dtype", name(call.dtype));
  if (is_reduction(*collective)) {
    json.member("op", call.is_custom ? std::string_view("custom") : name(call.op));
  }
  if (has_root(*collective)) json.member("root", call.root);
  if (call.count != FlightCall::with_counts) json.member("count", call.count);
  json.member("bytes", call.bytes);
  json.member("algorithm", call.algorithm);
}

void write_record(JsonWriter& json, const FlightRecord& record) {
  json.open_object();
  json.member("call", record.number);
  write_call(json, record.call);
  json.hexadecimal("signature", record.call.signature, 8);
  if (!record.site.text().empty()) json.member("site", record.site.text());
  json.member("state", name(record.state));
  json.member("begun_ns", record.begun_ns);
  if (record.state != FlightRecord::State::running) json.member("ended_ns", record.ended_ns);
  if (record.wait) {
    json.member("waits_for", record.wait->rank);
    json.member("round", record.wait->round);
    json.member("bytes_done", record.wait->bytes_done);
  }
  json.close_object();
}

int write_lines(const FlightRecorder& recorder, const FlightRecorder& messages,
                std::string_view reason, int fd) {
  JsonWriter json(fd);
  write_header(json, recorder, reason);
  recorder.visit_all([&](const FlightRecord& record) { write_record(json, record); });
  messages.visit_all([&](const FlightRecord& record) { write_record(json, record); });
  return json.finish();
}

}  // namespace

int write_dump(const FlightRecorder& recorder, const FlightRecorder& messages,
               std::string_view reason, const char* path, std::string_view suffix) {
  PathText part;
  part.add(path);
  part.add(suffix);
  if (!part.fits()) return ENAMETOOLONG;
  const FileSizeGuard guard;
  const int fd = open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return errno;
  int error = write_lines(recorder, messages, reason, fd);
  // Some file systems report a full disk only on close.
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(part.c_str(), path) != 0) error = errno;
  if (error != 0) unlink(part.c_str());
  return error;
}

}  // namespace tutti
