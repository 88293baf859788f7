#include "api/group/rank_descriptor.hpp"
#include "api/group/unique_id.hpp"
#include "fuzz/finding.hpp"
#include "fuzz/target.hpp"
#include "net/greeting.hpp"
#include "rendezvous/group.hpp"

namespace tutti::test {
namespace {

void read_as_descriptor(const std::string& text) {
  const auto descriptor =
      attempt([&] { return read_rank_descriptor(text); }, {ErrorCode::mismatch});
  if (!descriptor) return;
  const std::string written = write(*descriptor);
  require(write(read_rank_descriptor(written)) == written, "a descriptor does not round-trip");
}

void read_as_greeting(const std::string& text) {
  constexpr std::uint32_t size = 4;
  Rank rank{};
  const Group group{.rank = Rank{0}, .size = size, .job = "job"};
  if (find_fault(group, text, rank).empty()) {
    require(rank > 0 && rank < size, "a rank out of range is accepted");
    require(text.find("job") != std::string::npos, "a rank of another job is accepted");
  }
  if (const auto peer = rank_that_greets(text, "group")) {
    require(text.ends_with(std::to_string(*peer)), "a greeting is attributed to another rank");
  }
}

/// Rank 1 of 1 is invalid, so that no connection is made for any id.
void read_as_unique_id(const std::string& text) {
  const auto joined = attempt(
      [&] { return join(UniqueId(text), 1, 1, {}, {.timeout = std::chrono::seconds(1)}).size(); });
  require(!joined, "rank 1 of 1 is accepted");
}

}  // namespace

void try_introduction(std::string_view input) {
  const std::string text(input);
  read_as_descriptor(text);
  read_as_greeting(text);
  read_as_unique_id(text);
}

}  // namespace tutti::test
