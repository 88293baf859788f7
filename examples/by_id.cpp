// Ranks without a launcher: rank 0 makes an id and passes it to the others through a file.
//
//   by_id 0 2 /tmp/id &
//   by_id 1 2 /tmp/id
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <tutti/communicator.hpp>

namespace {

tutti::UniqueId hand_out(const std::string& path) {
  tutti::UniqueId id = tutti::UniqueId::make();
  std::ofstream(path + ".part") << id.text();
  std::filesystem::rename(path + ".part", path);  // Atomic: no rank reads half of the text.
  return id;
}

tutti::UniqueId wait_for(const std::string& path) {
  while (!std::filesystem::exists(path)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return tutti::UniqueId(text);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::puts("usage: by_id RANK RANKS FILE");
    return 0;
  }
  const auto rank = static_cast<std::uint32_t>(std::stoul(argv[1]));
  const auto ranks = static_cast<std::uint32_t>(std::stoul(argv[2]));
  const tutti::UniqueId id = rank == 0 ? hand_out(argv[3]) : wait_for(argv[3]);
  auto comm = tutti::Communicator::create(id, rank, ranks);
  std::vector<float> data(1000, static_cast<float>(rank + 1));
  comm.all_reduce(data);
  std::printf("rank %u of %u: %s: %g\n", comm.rank(), comm.size(), comm.description().c_str(),
              data.front());
  return data.front() == static_cast<float>(ranks * (ranks + 1) / 2) ? 0 : 1;
}
