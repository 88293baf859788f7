#include "flight/black_box.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/system_reason.hpp"
#include "flight/digits.hpp"
#include "flight/dump.hpp"
#include "flight/path_text.hpp"
#include "flight/signals.hpp"

namespace tutti {

BlackBox::BlackBox(FlightOwner owner, const FlightSettings& settings)
    : recorder_(owner, settings.records),
      messages_(std::move(owner), settings.records),
      directory_(settings.directory) {
  if (!directory_.empty()) dump_on_signals(*this);
}

BlackBox::~BlackBox() {
  if (!directory_.empty()) leave_signals(*this);
}

void BlackBox::fail_call(std::string_view why) {
  recorder_.fail();
  fail(why);
}

void BlackBox::fail(std::string_view why) {
  const std::lock_guard lock(failing_);
  recorder_.note_failure(why);
  if (directory_.empty()) return;
  const int error = dump("error", ".part");
  if (error == 0) return;
  std::fprintf(stderr, "tutti: rank %u: cannot dump the last calls to %s: %s\n",
               recorder_.owner().self, directory_.c_str(), system_reason(error).c_str());
}

int BlackBox::dump(std::string_view reason, std::string_view suffix) const {
  PathText path;
  path.add(directory_);
  path.add("/flight-");
  path.add(Digits(static_cast<std::uint64_t>(getpid())).text());
  path.add("-");
  path.add(Digits(recorder_.owner().communicator, 16, 16).text());
  path.add("-");
  path.add(Digits(recorder_.owner().self).text());
  path.add(".jsonl");
  return path.fits() ? write_dump(recorder_, messages_, reason, path.c_str(), suffix)
                     : ENAMETOOLONG;
}

}  // namespace tutti
