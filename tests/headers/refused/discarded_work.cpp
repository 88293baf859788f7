// Must not compile: without the Work, nothing says when the buffer may be used again.
// error: ignoring return
#include <vector>

#include <tutti/communicator.hpp>

void start(tutti::Communicator& communicator, std::vector<float>& data) {
  communicator.all_reduce_async(data);
}
