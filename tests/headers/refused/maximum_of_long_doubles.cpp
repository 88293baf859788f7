// Must not compile: long double differs from machine to machine.
#include <vector>

#include <tutti/communicator.hpp>

void find_maximum(tutti::Communicator& communicator, std::vector<long double>& data) {
  communicator.reduce(data, data, 0, tutti::Op::max);
}
