#include "api/call/call_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include <tutti/error.hpp>

#include "core/file_size_guard.hpp"
#include "core/json_value.hpp"
#include "core/system_reason.hpp"

namespace tutti {

CallLog::CallLog(const std::string& path)
    : path_(path), fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (fd_ >= 0) return;
  throw Error(ErrorCode::invalid_argument,
              "TUTTI_LOG_JSONL: cannot write to " + path + ": " + system_reason(errno));
}

CallLog::~CallLog() { close(fd_); }

void CallLog::write(const Entry& entry) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  Json line{
      {"time", std::chrono::duration<double>(now).count()},
      {"rank", entry.rank},
      {"ranks", entry.ranks},
      {"call", entry.number},
      {"collective", name(entry.call.collective)},
      {"algorithm", entry.algorithm},
      {"bytes", entry.bytes},
      {"sent", entry.bytes_sent},
      {"received", entry.bytes_received},
      {"dtype", name(entry.call.dtype)},
  };
  if (is_reduction(entry.call.collective)) {
    const bool own = entry.call.reduction.combine() != nullptr;
    line["op"] = own ? "custom" : name(entry.call.reduction.op());
  }
  if (has_root(entry.call.collective)) line["root"] = entry.call.root;
  line["us"] = std::chrono::duration<double, std::micro>(entry.time).count();
  if (!entry.error.empty()) line["error"] = entry.error;
  const std::string text = json_text(line) + "\n";
  const FileSizeGuard guard;
  // A write error does not fail the call; it is reported once.
  if (::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size()) || complained_) {
    return;
  }
  complained_ = true;
  std::fprintf(stderr, "tutti: cannot write to %s: %s\n", path_.c_str(),
               system_reason(errno).c_str());
}

}  // namespace tutti
