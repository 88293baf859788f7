// Leaves out of a profile what decides nothing, and checks that no choice differs: deciding FROM
// TO. With one profile: whether it leads to the same choices as the built-in one.
#include "cli/measure/deciding.hpp"

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

namespace {

tutti::Profile read(const char* path) {
  std::ifstream file(path);
  return tutti::Profile::parse(std::string(std::istreambuf_iterator<char>(file), {}));
}

int run(const char* from, const char* to) {
  using namespace tutti::measure;
  const tutti::Profile all = read(from);
  const Calls calls = Calls::dense();
  const tutti::Profile reduced = to == nullptr ? tutti::built_in_profile() : deciding(all, calls);
  const std::string difference = difference_of_choices(all, reduced, calls);
  if (!difference.empty()) {
    std::fprintf(stderr, "choices differ: %s\n", difference.c_str());
    return 1;
  }
  std::printf("the same choices from %zu of %zu measurements\n", reduced.measurements.size(),
              all.measurements.size());
  if (to != nullptr) tutti::save_profile(reduced, to);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: deciding FROM [TO]\n");
    return 2;
  }
  try {
    return run(argv[1], argc == 3 ? argv[2] : nullptr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
