// Must not compile: nobody has said how two of these are combined.
#include <vector>

#include <tutti/communicator.hpp>

struct Pair {
  float one = 0;
  float other = 0;
};

void add(tutti::Communicator& communicator, std::vector<Pair>& data) {
  communicator.all_reduce(data);
}
