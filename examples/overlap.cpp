// Communication that overlaps computation: the gradients of each layer are averaged while those of
// the layer before it are still being computed, as in the backward pass of a training step.
//   tutti run -n 2 -- build/examples/overlap
#include <cmath>
#include <cstdio>
#include <vector>

#include <tutti/communicator.hpp>
#include <tutti/memory.hpp>

namespace {

// The other ranks of the host can read this memory, which saves copies.
using Gradient = tutti::Vector<float>;

/// A stand-in for the backward pass of one layer.
void compute(Gradient& gradient, float seed) {
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = seed + std::floor(std::sin(static_cast<float>(i)));
  }
}

}  // namespace

int main() {
  tutti::Communicator comm = tutti::Communicator::from_environment();
  std::vector<Gradient> layers(8, Gradient(100000));
  std::vector<tutti::Work> works;
  for (Gradient& layer : layers) {
    compute(layer, static_cast<float>(comm.rank()));
    works.push_back(comm.all_reduce_async(layer, tutti::Op::avg));
  }
  for (const tutti::Work& work : works) work.wait();

  const float mean = static_cast<float>(comm.size() - 1) / 2;
  const float expected = mean + std::floor(std::sin(1.0F));
  std::printf("rank %u: %zu layers averaged\n", comm.rank(), layers.size());
  return std::fabs(layers.back()[1] - expected) < 1e-4F ? 0 : 1;
}
