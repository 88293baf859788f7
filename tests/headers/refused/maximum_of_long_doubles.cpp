// Must not compile: long double differs from machine to machine.
// error: for any other type give a function: tutti::reduction<T>
#include <vector>

#include <tutti/communicator.hpp>

void find_maximum(tutti::Communicator& communicator, std::vector<long double>& data) {
  communicator.reduce(data, data, 0, tutti::Op::max);
}
