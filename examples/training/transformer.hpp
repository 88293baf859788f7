// A one-block transformer: x + attention(norm(x)), then + MLP(norm(…)), without biases. Rows are
// tokens, ordered by their place in the sequence and then by sequence, so that some consecutive
// rows are the same part of every sequence.
#pragma once

#include "model.hpp"

namespace training {

/// What a strategy does where a matrix enters and leaves a region that is split over ranks. By
/// default nothing. The backward pass swaps the two of a pair: the gradient of a copy is a sum,
/// that of a gather is a reduce-scatter, that of an all-to-all is the opposite all-to-all.
/// (Megatron-LM calls a pair f and g.)
struct Borders {
  using Exchange = std::function<Matrix(Matrix)>;
  static Matrix nothing(Matrix x) { return x; }

  Exchange enter = nothing;      ///< Before the products by columns.
  Exchange leave = nothing;      ///< After the products by rows.
  Exchange to_heads = nothing;   ///< Before attention.
  Exchange to_tokens = nothing;  ///< After attention.
};

/// x / √(mean of x²), for each row.
inline Matrix normalised(const Matrix& x) {
  Matrix y = x;
  for (std::size_t r = 0; r < x.rows; ++r) {
    float sum = 1e-6F;
    for (std::size_t i = 0; i < x.columns; ++i) sum += x[r][i] * x[r][i];
    const float scale = std::sqrt(static_cast<float>(x.columns) / sum);
    for (std::size_t i = 0; i < x.columns; ++i) y[r][i] *= scale;
  }
  return y;
}

inline Matrix normalised_back(const Matrix& x, const Matrix& y, const Matrix& dy) {
  Matrix dx = dy;
  for (std::size_t r = 0; r < x.rows; ++r) {
    float sum = 1e-6F;
    float along = 0;
    for (std::size_t i = 0; i < x.columns; ++i) {
      sum += x[r][i] * x[r][i];
      along += dy[r][i] * y[r][i] / static_cast<float>(x.columns);
    }
    const float scale = std::sqrt(static_cast<float>(x.columns) / sum);
    for (std::size_t i = 0; i < x.columns; ++i) dx[r][i] = scale * (dy[r][i] - y[r][i] * along);
  }
  return dx;
}

constexpr std::size_t head_width = width / heads;

/// Causal softmax attention. q, k and v have all tokens, and the columns of one or more heads.
struct Attention {
  Matrix q, k, v;
  Floats weights;  ///< For each sequence, head and token: the weights of the tokens up to it.
  Matrix output;

  Attention(Matrix q_in, Matrix k_in, Matrix v_in)
      : q(std::move(q_in)), k(std::move(k_in)), v(std::move(v_in)), output(q.rows, q.columns) {
    weights.resize(q.rows * length * (q.columns / head_width));
    each_token([&](std::size_t column, std::size_t i, std::size_t sequences, float* weight) {
      float sum = 0;
      for (std::size_t j = i % sequences, n = 0; j <= i; j += sequences, ++n) {
        weight[n] = std::exp(dot(q[i] + column, k[j] + column) * scale);
        sum += weight[n];
      }
      for (std::size_t j = i % sequences, n = 0; j <= i; j += sequences, ++n) {
        weight[n] /= sum;
        for (std::size_t c = column; c < column + head_width; ++c) {
          output[i][c] += weight[n] * v[j][c];
        }
      }
    });
  }

  struct Gradients {
    Matrix q, k, v;
  };
  [[nodiscard]] Gradients backward(const Matrix& slope) {
    const Matrix zero(q.rows, q.columns);
    Gradients d{.q = zero, .k = zero, .v = zero};
    each_token([&](std::size_t column, std::size_t i, std::size_t sequences, const float* weight) {
      // The weighted mean of slope·v is slope·output.
      const float mean = dot(slope[i] + column, output[i] + column);
      for (std::size_t j = i % sequences, n = 0; j <= i; j += sequences, ++n) {
        const float change = weight[n] * (dot(slope[i] + column, v[j] + column) - mean) * scale;
        for (std::size_t c = column; c < column + head_width; ++c) {
          d.v[j][c] += weight[n] * slope[i][c];
          d.q[i][c] += change * k[j][c];
          d.k[j][c] += change * q[i][c];
        }
      }
    });
    return d;
  }

 private:
  inline static const float scale = 1 / std::sqrt(static_cast<float>(head_width));

  static float dot(const float* a, const float* b) {
    float sum = 0;
    for (std::size_t c = 0; c < head_width; ++c) sum += a[c] * b[c];
    return sum;
  }

  /// Calls f(first column of the head, token, number of sequences, its weights).
  template <class F>
  void each_token(F f) {
    const std::size_t sequences = q.rows / length;
    float* weight = weights.data();
    for (std::size_t column = 0; column < q.columns; column += head_width) {
      for (std::size_t i = 0; i < q.rows; ++i, weight += length) f(column, i, sequences, weight);
    }
  }
};

/// The block, or slice `slice` of `tensor` of it: some heads, and some of the hidden values of its
/// MLP. Queries, keys, values and ups are split by columns, outputs and downs by rows.
struct Block {
  enum Part : std::uint8_t { queries, keys, values, outputs, ups, downs };
  static constexpr std::size_t hidden = 4 * width;

  std::size_t tensor;
  std::vector<Floats> parameters;
  std::vector<Floats> gradients;
  std::vector<Adam> optimisers{6};
  Borders borders;

  explicit Block(std::size_t slice = 0, std::size_t slices = 1) : tensor(slices) {
    for (const Part part : {queries, keys, values, outputs, ups, downs}) {
      const std::size_t rows = part == downs ? hidden : width;
      const std::size_t columns = part == ups ? hidden : width;
      const Floats whole =
          random_floats(200 + part, rows * columns, 0.5F / std::sqrt(static_cast<float>(rows)));
      const bool by_rows = part == outputs || part == downs;
      const std::size_t r = by_rows ? rows / tensor : rows;
      const std::size_t c = by_rows ? columns : columns / tensor;
      parameters.push_back(
          block_of(whole, columns, by_rows ? slice * r : 0, r, by_rows ? 0 : slice * c, c));
      gradients.emplace_back(parameters.back().size());
    }
  }

  [[nodiscard]] std::size_t size() const {
    std::size_t sum = 0;
    for (const Floats& each : parameters) sum += each.size();
    return sum;
  }

  /// What the backward pass needs of the forward pass.
  struct Pass {
    Matrix x{}, norm1{}, in1{};
    std::vector<Attention> attention{};
    Matrix joined{}, y{}, norm2{}, in2{}, up{}, z{};
  };

  [[nodiscard]] Pass forward(Matrix x) const {
    Pass pass{.x = std::move(x)};
    pass.norm1 = normalised(pass.x);
    pass.in1 = borders.enter(pass.norm1);
    const auto project = [&](Part part) {
      return borders.to_heads(product(pass.in1, parameters[part], width / tensor));
    };
    pass.attention.emplace_back(project(queries), project(keys), project(values));
    pass.joined = borders.to_tokens(pass.attention.front().output);
    pass.y = borders.leave(product(pass.joined, parameters[outputs], width));
    add(pass.y.values, pass.x.values);

    pass.norm2 = normalised(pass.y);
    pass.in2 = borders.enter(pass.norm2);
    pass.up = product(pass.in2, parameters[ups], hidden / tensor);
    squash(pass.up);
    pass.z = borders.leave(product(pass.up, parameters[downs], width));
    add(pass.z.values, pass.y.values);
    return pass;
  }

  void backward(Pass& pass, const Matrix& dz) {
    const Matrix dout2 = borders.enter(dz);
    add_gradient(pass.up, dout2, gradients[downs]);
    Matrix dup = product_back(dout2, parameters[downs], pass.up.columns);
    squash_back(dup, pass.up);
    add_gradient(pass.in2, dup, gradients[ups]);
    const Matrix dnorm2 = borders.leave(product_back(dup, parameters[ups], width));
    Matrix dy = normalised_back(pass.y, pass.norm2, dnorm2);
    add(dy.values, dz.values);

    const Matrix dout1 = borders.enter(dy);
    add_gradient(pass.joined, dout1, gradients[outputs]);
    const Matrix djoined = product_back(dout1, parameters[outputs], pass.joined.columns);
    const Attention::Gradients d = pass.attention.front().backward(borders.to_heads(djoined));
    Matrix din1(pass.in1.rows, width);
    const auto project_back = [&](Part part, const Matrix& slope) {
      const Matrix mine = borders.to_tokens(slope);
      add_gradient(pass.in1, mine, gradients[part]);
      add(din1.values, product_back(mine, parameters[part], width).values);
    };
    project_back(queries, d.q);
    project_back(keys, d.k);
    project_back(values, d.v);
    // The sum that ends the gradient of x, where layers come before this one: the weights of this
    // block do not need it, but a deeper model does.
    const Matrix dnorm1 = borders.leave(din1);
    dx = normalised_back(pass.x, pass.norm1, dnorm1);
    add(dx.values, dy.values);
  }
  Matrix dx;

  void update(int step) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      optimisers[i].update(step, parameters[i], gradients[i]);
    }
  }
};

/// Some tokens of the batch of a step. To learn: the mean of all tokens up to each.
inline Batch tokens(int step, std::size_t first = 0, std::size_t count = batch) {
  Batch all{.x = samples(step).x, .target = Matrix(batch, width)};
  const std::size_t sequences = batch / length;
  for (std::size_t r = 0; r < batch; ++r) {
    const auto seen = static_cast<float>(r / sequences);
    for (std::size_t i = 0; i < width; ++i) {
      const float before = r < sequences ? 0 : all.target[r - sequences][i];
      all.target[r][i] = (before * seen + all.x[r][i]) / (seen + 1);
    }
  }
  return {.x = rows_of(all.x, first, count), .target = rows_of(all.target, first, count)};
}

/// The losses of all steps when one process trains the whole block.
inline std::vector<double> train_block_alone() {
  Block block;
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Batch data = tokens(step);
    Block::Pass pass = block.forward(data.x);
    const Loss loss = squared_error(pass.z, data.target, batch);
    block.backward(pass, loss.slope);
    block.update(step);
    losses.push_back(loss.value);
  }
  return losses;
}

}  // namespace training
