#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <tutti/schedule/schedule_file.hpp>
#include <tutti/schedule/schedule_json.hpp>

#include "support/errors.hpp"
#include "support/problems.hpp"
#include "support/temporary_directory.hpp"

namespace tutti::test {
namespace {

TEST(ScheduleFile, RoundTrips) {
  const TemporaryDirectory folder;
  const Schedule ring = algorithm("allreduce/ring").schedule({.ranks = 4});
  std::ofstream(folder.path("ring.json")) << to_json(ring);
  EXPECT_EQ(load_schedule(folder.path("ring.json")), ring);
}

TEST(ScheduleFile, ErrorsNameTheFile) {
  const TemporaryDirectory folder;
  const auto refuses = [&](const std::string& path, const std::string& part) {
    expect_error([&] { (void)load_schedule(path); }, ErrorCode::invalid_argument, part);
  };
  refuses(folder.path("none.json"), folder.path("none.json") + "': there is no such file");
  refuses(folder.path(), "it is not a file");
  std::ofstream(folder.path("empty.json")) << "";
  refuses(folder.path("empty.json"), folder.path("empty.json") + ": schedule JSON: ");
  std::ofstream(folder.path("text.json")) << "{\n  \"format\": 7\n}";
  refuses(folder.path("text.json"), "line 2, at /format: expected a string, not 7");
  std::ofstream(folder.path("large.json")) << "";
  std::filesystem::resize_file(folder.path("large.json"), (std::uintmax_t{256} << 20) + 1);
  refuses(folder.path("large.json"), "it is too large");
}

}  // namespace
}  // namespace tutti::test
