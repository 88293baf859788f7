// The models that the programs of this folder train: an MLP and a block of a transformer. Forward
// and backward passes are written by hand, in 32-bit floats. No communication happens here: where a
// strategy must exchange data in the middle of a pass, it hands in a function.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>

namespace training {

// Divisible by 2, 3, 4, 6 and 8, so that many numbers of ranks can share them.
constexpr std::size_t width = 48;   ///< Features of a sample, and of a token.
constexpr std::size_t layers = 8;   ///< Of the MLP.
constexpr std::size_t batch = 96;   ///< Samples of one step, on all ranks together.
constexpr std::size_t length = 24;  ///< Tokens of a sequence; a batch is 4 sequences.
constexpr std::size_t heads = 12;   ///< Of attention.
constexpr int steps = 40;

using Floats = std::vector<float>;

// Matrices --------------------------------------------------------------------------------------

/// Stored row by row.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  Floats values;

  Matrix() = default;
  Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c) {}
  float* operator[](std::size_t row) { return values.data() + row * columns; }
  const float* operator[](std::size_t row) const { return values.data() + row * columns; }
};

inline void add(std::span<float> to, std::span<const float> from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

/// x·w, where w has `columns` columns.
inline Matrix product(const Matrix& x, std::span<const float> w, std::size_t columns) {
  Matrix y(x.rows, columns);
  for (std::size_t r = 0; r < x.rows; ++r) {
    for (std::size_t i = 0; i < x.columns; ++i) {
      for (std::size_t j = 0; j < columns; ++j) y[r][j] += x[r][i] * w[i * columns + j];
    }
  }
  return y;
}

/// dy·wᵀ: the gradient of x in y = x·w. Here w has `rows` rows.
inline Matrix product_back(const Matrix& dy, std::span<const float> w, std::size_t rows) {
  Matrix dx(dy.rows, rows);
  for (std::size_t r = 0; r < dy.rows; ++r) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < dy.columns; ++j) dx[r][i] += dy[r][j] * w[i * dy.columns + j];
    }
  }
  return dx;
}

/// Adds xᵀ·dy, the gradient of w in y = x·w.
inline void add_gradient(const Matrix& x, const Matrix& dy, std::span<float> dw) {
  for (std::size_t r = 0; r < x.rows; ++r) {
    for (std::size_t i = 0; i < x.columns; ++i) {
      for (std::size_t j = 0; j < dy.columns; ++j) dw[i * dy.columns + j] += x[r][i] * dy[r][j];
    }
  }
}

inline Matrix rows_of(const Matrix& from, std::size_t first, std::size_t count) {
  Matrix some(count, from.columns);
  std::copy_n(from[first], count * from.columns, some.values.begin());
  return some;
}

/// The block of some rows and columns of a matrix with `columns` columns.
inline Floats block_of(std::span<const float> w, std::size_t columns, std::size_t row,
                       std::size_t rows, std::size_t column, std::size_t width_of_block) {
  Floats block;
  for (std::size_t r = row; r < row + rows; ++r) {
    const auto begin = w.begin() + static_cast<std::ptrdiff_t>(r * columns + column);
    block.insert(block.end(), begin, begin + static_cast<std::ptrdiff_t>(width_of_block));
  }
  return block;
}

/// y = tanh(y), in place; and the way back, for the y that came out: dy ⊙ (1 − y²).
inline void squash(Matrix& y) {
  for (float& value : y.values) value = std::tanh(value);
}
inline void squash_back(Matrix& dy, const Matrix& y) {
  for (std::size_t i = 0; i < dy.values.size(); ++i) dy.values[i] *= 1 - y.values[i] * y.values[i];
}

// Data, loss and optimiser ----------------------------------------------------------------------

/// Numbers from −1 to 1, the same on every machine.
inline Floats random_floats(std::uint32_t seed, std::size_t count, float scale = 1) {
  std::mt19937 random(seed);
  Floats values(count);
  for (float& value : values) {
    value = scale * (static_cast<float>(random() >> 8) / 8388608.0F - 1);
  }
  return values;
}

struct Batch {
  Matrix x;
  Matrix target;
};

/// Some rows of the batch of a step. To learn: each sample in reverse order.
inline Batch samples(int step, std::size_t first = 0, std::size_t count = batch) {
  Batch all{.x = Matrix(batch, width), .target = Matrix(batch, width)};
  all.x.values = random_floats(1000 + static_cast<std::uint32_t>(step), batch * width);
  for (std::size_t r = 0; r < batch; ++r) {
    std::reverse_copy(all.x[r], all.x[r] + width, all.target[r]);
  }
  return {.x = rows_of(all.x, first, count), .target = rows_of(all.target, first, count)};
}

/// The mean squared error over a batch of `rows` rows, of which y may be a part; and its gradient.
struct Loss {
  double value = 0;
  Matrix slope;
};
inline Loss squared_error(const Matrix& y, const Matrix& target, std::size_t rows) {
  Loss loss{.slope = Matrix(y.rows, y.columns)};
  const auto count = static_cast<float>(rows * y.columns);
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    const float error = y.values[i] - target.values[i];
    loss.value += error * error / count;
    loss.slope.values[i] = 2 * error / count;
  }
  return loss;
}

/// Adam (Kingma and Ba, 2015): 8 bytes of state per parameter. `step` counts from 0.
inline void adam(int step, std::span<float> parameters, std::span<const float> gradients,
                 std::span<float> mean, std::span<float> variance) {
  const auto power = static_cast<float>(step + 1);
  const float rate = 0.006F * std::sqrt(1 - std::pow(0.999F, power)) / (1 - std::pow(0.9F, power));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    mean[i] = 0.9F * mean[i] + 0.1F * gradients[i];
    variance[i] = 0.999F * variance[i] + 0.001F * gradients[i] * gradients[i];
    parameters[i] -= rate * mean[i] / (std::sqrt(variance[i]) + 1e-6F);
  }
}

struct Adam {
  Floats mean{};
  Floats variance{};

  /// Also clears the gradients.
  void update(int step, Floats& parameters, Floats& gradients) {
    mean.resize(parameters.size());
    variance.resize(parameters.size());
    adam(step, parameters, gradients, mean, variance);
    std::ranges::fill(gradients, 0.0F);
  }
};

// MLP -------------------------------------------------------------------------------------------

/// Adds a matrix over the ranks that hold a split layer together.
using Sum = std::function<void(Matrix&)>;

/// y = tanh(x·W + b); the last layer of the model has no tanh. W and then b are one array.
struct Layer {
  /// How the layer is split over ranks (tensor parallel). By columns of W, every rank computes some
  /// of the outputs. By rows, every rank has some of the inputs, and outputs must be added.
  enum class Split : std::uint8_t { none, columns, rows };

  std::size_t in = width;
  std::size_t out = width;
  bool is_last = false;
  Split split = Split::none;

  [[nodiscard]] std::size_t weights() const { return in * out; }
  [[nodiscard]] std::size_t parameters() const { return in * out + out; }

  [[nodiscard]] Matrix forward(std::span<const float> p, const Matrix& x, const Sum& sum) const {
    Matrix y = product(x, p.first(weights()), out);
    if (split == Split::rows) sum(y);
    for (std::size_t r = 0; r < y.rows; ++r) add({y[r], out}, p.last(out));
    if (!is_last) squash(y);
    return y;
  }

  /// Adds to the gradients, and returns that of x.
  Matrix backward(std::span<const float> p, const Matrix& x, const Matrix& y, Matrix dy,
                  std::span<float> gradients, const Sum& sum) const {
    if (!is_last) squash_back(dy, y);
    for (std::size_t r = 0; r < dy.rows; ++r) add(gradients.last(out), {dy[r], out});
    add_gradient(x, dy, gradients.first(weights()));
    Matrix dx = product_back(dy, p.first(weights()), in);
    if (split == Split::columns) sum(dx);
    return dx;
  }
};

/// The parameters of layer l of the whole model.
inline Floats initial_parameters(std::size_t l) {
  Floats p = random_floats(100 + static_cast<std::uint32_t>(l), width * width, 0.25F);
  p.resize(width * width + width);
  return p;
}

/// Some layers of the model. With tensor > 1 a slice of them: even layers are split by columns,
/// odd ones by rows, so that only every second layer needs a sum.
struct Mlp {
  std::vector<Layer> shape;
  std::vector<Floats> parameters;
  std::vector<Floats> gradients;
  std::vector<Adam> optimisers;
  Sum sum;

  explicit Mlp(std::size_t first = 0, std::size_t count = layers, std::size_t slice = 0,
               std::size_t tensor = 1)
      : optimisers(count) {
    const std::size_t part = width / tensor;
    for (std::size_t l = first; l < first + count; ++l) {
      Layer layer{.is_last = l + 1 == layers};
      Floats p = initial_parameters(l);
      if (tensor > 1 && l % 2 == 0) {
        layer = {.out = part, .is_last = layer.is_last, .split = Layer::Split::columns};
        p = block_of(p, width, 0, width + 1, slice * part, part);  // The bias is one more row.
      } else if (tensor > 1) {
        layer = {.in = part, .is_last = layer.is_last, .split = Layer::Split::rows};
        const Floats bias(p.end() - width, p.end());
        p = block_of(p, width, slice * part, part, 0, width);
        p.insert(p.end(), bias.begin(), bias.end());
      }
      shape.push_back(layer);
      gradients.emplace_back(p.size());
      parameters.push_back(std::move(p));
    }
  }

  /// x and the outputs of all layers, which the backward pass needs: the activations.
  [[nodiscard]] std::vector<Matrix> forward(Matrix x) const {
    std::vector<Matrix> activations{std::move(x)};
    for (std::size_t l = 0; l < shape.size(); ++l) {
      activations.push_back(shape[l].forward(parameters[l], activations.back(), sum));
    }
    return activations;
  }

  /// Calls ready(l) as soon as the gradients of layer l are complete. Returns the gradient of x.
  Matrix backward(const std::vector<Matrix>& activations, Matrix slope,
                  const std::function<void(std::size_t)>& ready = {}) {
    for (std::size_t l = shape.size(); l-- > 0;) {
      slope = shape[l].backward(parameters[l], activations[l], activations[l + 1], std::move(slope),
                                gradients[l], sum);
      if (ready) ready(l);
    }
    return slope;
  }

  void update(int step) {
    for (std::size_t l = 0; l < shape.size(); ++l) {
      optimisers[l].update(step, parameters[l], gradients[l]);
    }
  }
};

/// The losses of all steps when one process trains the whole model.
inline std::vector<double> train_mlp_alone() {
  Mlp model;
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Batch data = samples(step);
    const std::vector<Matrix> activations = model.forward(data.x);
    Loss loss = squared_error(activations.back(), data.target, batch);
    model.backward(activations, std::move(loss.slope));
    model.update(step);
    losses.push_back(loss.value);
  }
  return losses;
}

}  // namespace training
