// Data-parallel training: a small network learns to reverse the order of its inputs. Each rank has
// its own samples. The gradients of a layer are averaged, in buckets, while those of earlier layers
// are still being computed. The same training with one call per gradient, after the backward pass,
// must give the same weights.
//   tutti run -n 2 -- build/examples/buckets
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <vector>

#include <tutti/bucketer.hpp>

namespace {

constexpr std::size_t width = 16;
constexpr std::size_t layers = 4;
constexpr std::size_t samples = 32;  // Of each rank.

using Row = std::array<double, width>;
using Matrix = std::vector<double>;  // width × width.
using Batch = std::array<Row, samples>;

struct Model {
  std::vector<Matrix> weights = std::vector<Matrix>(layers, Matrix(width* width));
  std::vector<Matrix> gradients = weights;

  Model() {
    std::mt19937 random(1);  // The same on all ranks.
    for (Matrix& each : weights) {
      for (double& weight : each) weight = random() / 4294967296.0 - 0.5;
    }
  }
};

Batch own_samples(std::uint32_t rank) {
  std::mt19937 random(100 + rank);
  Batch batch;
  for (Row& row : batch) {
    for (double& value : row) value = random() / 4294967296.0 - 0.5;
  }
  return batch;
}

/// One step on this rank's samples. Calls `ready` for each layer as soon as its gradients are
/// computed, the last layer first. Returns the mean squared error.
double step(Model& model, const Batch& inputs, const std::function<void(std::size_t)>& ready) {
  std::vector<Batch> values(layers + 1, inputs);
  for (std::size_t l = 0; l < layers; ++l) {
    for (std::size_t s = 0; s < samples; ++s) {
      for (std::size_t i = 0; i < width; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < width; ++j) {
          sum += model.weights[l][i * width + j] * values[l][s][j];
        }
        values[l + 1][s][i] = std::tanh(sum);
      }
    }
  }
  double error = 0;
  Batch slopes{};
  for (std::size_t s = 0; s < samples; ++s) {
    for (std::size_t i = 0; i < width; ++i) {
      slopes[s][i] = values[layers][s][i] - inputs[s][width - 1 - i];
      error += slopes[s][i] * slopes[s][i] / (samples * width);
    }
  }
  for (std::size_t l = layers; l-- > 0;) {
    Batch before{};
    Matrix& gradient = model.gradients[l];
    gradient.assign(width * width, 0);
    for (std::size_t s = 0; s < samples; ++s) {
      for (std::size_t i = 0; i < width; ++i) {
        const double value = values[l + 1][s][i];
        const double slope = slopes[s][i] * (1 - value * value);
        for (std::size_t j = 0; j < width; ++j) {
          gradient[i * width + j] += slope * values[l][s][j] / samples;
          before[s][j] += slope * model.weights[l][i * width + j];
        }
      }
    }
    slopes = before;
    ready(l);
  }
  return error;
}

void descend(Model& model) {
  for (std::size_t l = 0; l < layers; ++l) {
    for (std::size_t i = 0; i < width * width; ++i) {
      model.weights[l][i] -= 0.2 * model.gradients[l][i];
    }
  }
}

}  // namespace

int main() {
  tutti::Communicator comm = tutti::Communicator::from_environment();
  const Batch inputs = own_samples(comm.rank());
  constexpr int steps = 300;

  Model model;
  // In the order in which the backward pass computes them: the last layer is tensor 0.
  std::vector<tutti::Tensor> tensors;
  for (std::size_t l = layers; l-- > 0;) tensors.push_back(tutti::tensor(model.gradients[l]));
  tutti::Bucketer bucketer(comm, tensors,
                           {.bucket_bytes = 2 * width * width * sizeof(double),
                            .first_bucket_bytes = width * width * sizeof(double)});
  double first_error = 0;
  double error = 0;
  for (int i = 0; i < steps; ++i) {
    error = step(model, inputs, [&](std::size_t layer) { bucketer.ready(layers - 1 - layer); });
    bucketer.finish();
    descend(model);
    if (i == 0) first_error = error;
  }

  Model single;
  for (int i = 0; i < steps; ++i) {
    step(single, inputs, [](std::size_t) {});
    for (Matrix& gradient : single.gradients) comm.all_reduce(gradient, tutti::Op::avg);
    descend(single);
  }

  // With more than two ranks, the order of addition in a bucket may differ from that in a single
  // call, so the last bits may differ.
  double difference = 0;
  for (std::size_t l = 0; l < layers; ++l) {
    for (std::size_t i = 0; i < width * width; ++i) {
      difference = std::max(difference, std::fabs(model.weights[l][i] - single.weights[l][i]));
    }
  }
  std::printf("rank %u: %s; error %.4f, then %.4f; maximum difference to single calls: %.1e\n",
              comm.rank(), bucketer.description().c_str(), first_error, error, difference);
  return difference < 1e-9 && error < first_error / 2 ? 0 : 1;
}
