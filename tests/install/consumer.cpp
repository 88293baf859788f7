// Calls the library, and catches an exception from it by type.
#include <iostream>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/error.hpp>
#include <tutti/version.hpp>

namespace {

bool sums_up() {
  bool right = true;
  tutti::run_threads(2, [&](tutti::Communicator& communicator) {
    std::vector<float> data(1000, static_cast<float>(communicator.rank() + 1));
    communicator.all_reduce(data);
    if (communicator.rank() == 0) right = data.front() == 3 && data.back() == 3;
  });
  return right;
}

bool refuses() {
  try {
    tutti::run_threads(2, [](tutti::Communicator& communicator) {
      std::vector<float> data(10);
      communicator.broadcast(data, 7);
    });
  } catch (const tutti::Error& error) {
    return error.code() == tutti::ErrorCode::invalid_argument;
  }
  return false;
}

}  // namespace

int main() {
  std::cout << "tutti " << tutti::version << '\n';
  return sums_up() && refuses() ? 0 : 1;
}
