// Must not compile: there is no sum of two structs.
// error: for any other type give a function: tutti::reduction<T>
#include <vector>

#include <tutti/communicator.hpp>

struct Pair {
  float one = 0;
  float other = 0;
};

void add(tutti::Communicator& communicator, std::vector<Pair>& data) {
  communicator.all_reduce(data);
}
