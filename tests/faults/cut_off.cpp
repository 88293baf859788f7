#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/error.hpp>

/// One of four ranks on two hosts, two on each. The cable between the hosts is cut during
/// allreduces: see cut-network. The rank must learn in time that the ranks of the other host are
/// lost, and go on with the remaining one.
namespace tutti::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t ranks_per_host = 2;
/// The time allowed for detection beyond TUTTI_LOST_AFTER.
constexpr double notice_s = 2;
constexpr double recover_s = 1;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void require(bool is_so, const std::string& what) {
  if (is_so) return;
  std::fprintf(stderr, "cut_off: %s\n", what.c_str());
  std::exit(1);
}

/// Sums ones until it fails; returns the time of the last success.
Clock::time_point add_until_cut(Communicator& all, const std::string& ready) {
  std::array<float, 1000> ones{};
  for (Clock::time_point last = Clock::now();; last = Clock::now()) {
    ones.fill(1);
    try {
      all.all_reduce(ones);
    } catch (const Error& error) {
      require(error.code() == ErrorCode::peer_lost, error.what());
      return last;
    }
    require(ones.back() == static_cast<float>(all.size()), "a wrong sum");
    if (all.rank() == 0 && !std::ifstream(ready)) std::ofstream(ready) << "\n";
  }
}

void play(const std::string& ready, double lost_after) {
  Communicator all = Communicator::from_environment();
  const std::uint32_t own_host = all.rank() / ranks_per_host;
  const Clock::time_point last = add_until_cut(all, ready);
  const double noticed = seconds_since(last);
  const std::vector<std::uint32_t> others =
      own_host == 0 ? std::vector<std::uint32_t>{2, 3} : std::vector<std::uint32_t>{0, 1};
  const std::string words = all.verdict().value().words;
  require(noticed < lost_after + notice_s, "noticed only after " + std::to_string(noticed) + " s");
  const Clock::time_point begin = Clock::now();
  Regrouped left = all.shrink();
  require(left.gone == others, "the ranks that are gone are not those of the other host: " + words);
  std::array<float, 1> one{1};
  left.communicator->all_reduce(one);
  require(one[0] == ranks_per_host, "a wrong sum among the remaining ranks");
  const double recovered = seconds_since(begin);
  require(recovered < lost_after + recover_s,
          "recovered only after " + std::to_string(recovered) + " s");
  std::printf("rank %u: noticed after %.2f s, went on after %.2f s more: %s\n", all.rank(), noticed,
              recovered, words.c_str());
}

}  // namespace
}  // namespace tutti::test

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: cut_off READY-FILE LOST-AFTER-SECONDS\n");
    return 2;
  }
  try {
    tutti::test::play(argv[1], std::atof(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cut_off: %s\n", error.what());
    return 1;
  }
}
