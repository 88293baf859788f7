// Expert parallel: a mixture of experts. A gate chooses an expert for every token (top 1, as in the
// Switch Transformer: Fedus et al., 2021). The experts are spread over the ranks, the tokens too.
// One all-to-all sends each token to the rank of its expert, a second one sends the result back;
// in the backward pass, two more do the same with the gradients. How many tokens go where is
// different in every step, so these are all_to_all_v.
//
//   tutti run -n 4 -- build/examples/training/expert_parallel
//   build/examples/training/expert_parallel                   # alone: 4 threads
//
// What comes before the experts, a layer of the MLP and the gate, is data parallel. The choice of
// an expert can flip if a number changes in its last bit. So these gradients are added exactly
// (all_reduce_shards): then the losses have the same bits on any number of ranks.
#include <numeric>

#include "model.hpp"
#include "report.hpp"

namespace {

using namespace training;
using Counts = std::vector<std::uint64_t>;

constexpr std::size_t experts = 12;
constexpr std::size_t shards = 24;  // Of a batch, whatever the number of ranks.
constexpr std::size_t shard_rows = batch / shards;

/// Two layers, on the rank that owns the expert.
struct Expert {
  std::vector<Layer> shape{Layer{}, Layer{.is_last = true}};
  std::vector<Floats> parameters;
  std::vector<Floats> gradients;
  std::vector<Adam> optimisers{2};
  Matrix x, h, y;

  explicit Expert(std::size_t number) {
    for (std::size_t l = 0; l < 2; ++l) {
      parameters.push_back(initial_parameters(100 + 2 * number + l));
      gradients.emplace_back(parameters.back().size());
    }
  }
  void forward(Matrix in) {
    x = std::move(in);
    h = shape[0].forward(parameters[0], x, {});
    y = shape[1].forward(parameters[1], h, {});
  }
  Matrix backward(Matrix slope) {
    slope = shape[1].backward(parameters[1], h, y, std::move(slope), gradients[1], {});
    return shape[0].backward(parameters[0], x, h, std::move(slope), gradients[0], {});
  }
};

/// Where the tokens of one step go.
class Route {
 public:
  /// `choice[i]` is the expert of token i of this rank.
  Route(tutti::Communicator& comm, const std::vector<std::size_t>& choice)
      : comm_(comm), own_(experts / comm.size()), by_expert_(choice.size()) {
    std::iota(by_expert_.begin(), by_expert_.end(), std::size_t{0});
    std::ranges::stable_sort(by_expert_, {}, [&](std::size_t i) { return choice[i]; });
    Counts to(experts);
    for (const std::size_t expert : choice) ++to[expert];
    from_.resize(experts);  // For each rank: its tokens for each expert of this rank.
    comm.all_to_all(to, from_, {.algorithm = "alltoall/pairwise"});
    for (std::size_t rank = 0; rank < comm.size(); ++rank) {
      const auto sum = [&](const Counts& counts) {
        const auto first = counts.begin() + static_cast<std::ptrdiff_t>(rank * own_);
        return std::accumulate(first, first + static_cast<std::ptrdiff_t>(own_), std::uint64_t{0});
      };
      sent_.push_back(sum(to) * width);
      received_.push_back(sum(from_) * width);
    }
  }

  /// Rows of this rank's tokens → for each of its experts, the rows of all tokens that chose it.
  [[nodiscard]] std::vector<Matrix> dispatch(const Matrix& tokens) const {
    Matrix out(tokens.rows, width);
    for (std::size_t i = 0; i < tokens.rows; ++i) std::copy_n(tokens[by_expert_[i]], width, out[i]);
    Floats in(std::accumulate(received_.begin(), received_.end(), std::uint64_t{0}));
    comm_.all_to_all_v(out.values, sent_, in, received_, {.algorithm = "alltoall/pairwise"});
    std::vector<Matrix> of_expert(own_, Matrix(0, width));
    const float* row = in.data();
    for (std::size_t i = 0; i < from_.size(); ++i) {
      Matrix& to = of_expert[i % own_];
      const std::size_t count = from_[i] * width;
      to.values.insert(to.values.end(), row, row + count);
      to.rows += from_[i];
      row += count;
    }
    return of_expert;
  }

  /// The way back.
  [[nodiscard]] Matrix combine(const std::vector<Matrix>& of_expert) const {
    Floats out;
    std::vector<std::size_t> next(own_);
    for (std::size_t i = 0; i < from_.size(); ++i) {
      const float* const row = of_expert[i % own_][next[i % own_]];
      out.insert(out.end(), row, row + from_[i] * width);
      next[i % own_] += from_[i];
    }
    Matrix in(by_expert_.size(), width);
    comm_.all_to_all_v(out, received_, in.values, sent_, {.algorithm = "alltoall/pairwise"});
    Matrix tokens(in.rows, width);
    for (std::size_t i = 0; i < in.rows; ++i) std::copy_n(in[i], width, tokens[by_expert_[i]]);
    return tokens;
  }

  /// Values that this rank sends to other ranks, in one direction and back.
  [[nodiscard]] std::uint64_t leaving() const {
    return std::accumulate(sent_.begin(), sent_.end(), std::uint64_t{0}) - sent_[comm_.rank()];
  }
  [[nodiscard]] std::uint64_t returning() const {
    return std::accumulate(received_.begin(), received_.end(), std::uint64_t{0}) -
           received_[comm_.rank()];
  }

 private:
  tutti::Communicator& comm_;
  std::size_t own_;                     // Experts of each rank.
  std::vector<std::size_t> by_expert_;  // Tokens of this rank, ordered by expert.
  Counts from_, sent_, received_;
};

struct Trained {
  std::vector<double> losses;
  std::uint64_t values = 0;  ///< Sent to other ranks, by the choices of the gate.
};

/// Experts and shared parameters have communicators of their own, so that each can be counted.
Trained train(tutti::Communicator& comm, tutti::Communicator& data_parallel) {
  const std::size_t share = batch / comm.size();
  Layer dense;
  Floats shared = initial_parameters(0);  // The dense layer, then the gate.
  const Floats gate = random_floats(300, width * experts, 0.5F);
  shared.insert(shared.end(), gate.begin(), gate.end());
  Floats gradients(shared.size());
  Adam optimiser;
  std::vector<Expert> own;
  for (std::size_t e = 0; e < experts / comm.size(); ++e) {
    own.emplace_back(comm.rank() * (experts / comm.size()) + e);
  }

  Trained trained;
  for (int step = 0; step < steps; ++step) {
    const Batch data = samples(step, comm.rank() * share, share);
    const std::span<const float> layer = std::span(shared).first(dense.parameters());
    const std::span<const float> gates = std::span(shared).subspan(dense.parameters());
    const Matrix h = dense.forward(layer, data.x, {});
    Matrix weight = product(h, gates, experts);  // Softmax, below.
    std::vector<std::size_t> choice;
    for (std::size_t i = 0; i < share; ++i) {
      const std::span<float> row(weight[i], experts);
      choice.push_back(static_cast<std::size_t>(std::ranges::max_element(row) - row.begin()));
      for (float& each : row) each = std::exp(each);
      const float sum = std::accumulate(row.begin(), row.end(), 0.0F);
      for (float& each : row) each /= sum;
    }

    const Route route(comm, choice);
    std::vector<Matrix> results = route.dispatch(h);
    for (std::size_t e = 0; e < own.size(); ++e) {
      own[e].forward(std::move(results[e]));
      results[e] = own[e].y;
    }
    const Matrix result = route.combine(results);
    Matrix y = result;  // The result of the expert, times the weight that the gate gave it.
    for (std::size_t i = 0; i < share; ++i) {
      for (std::size_t c = 0; c < width; ++c) y[i][c] *= weight[i][choice[i]];
    }
    const Loss loss = squared_error(y, data.target, batch);

    Matrix slope = loss.slope;
    Matrix gate_slope(share, experts);
    for (std::size_t i = 0; i < share; ++i) {
      const float chosen = weight[i][choice[i]];
      float along = 0;
      for (std::size_t c = 0; c < width; ++c) along += loss.slope[i][c] * result[i][c];
      for (std::size_t e = 0; e < experts; ++e) {
        gate_slope[i][e] = along * chosen * ((e == choice[i] ? 1.0F : 0.0F) - weight[i][e]);
      }
      for (std::size_t c = 0; c < width; ++c) slope[i][c] *= chosen;
    }
    std::vector<Matrix> slopes = route.dispatch(slope);
    for (std::size_t e = 0; e < own.size(); ++e) slopes[e] = own[e].backward(std::move(slopes[e]));
    Matrix dh = route.combine(slopes);
    add(dh.values, product_back(gate_slope, gates, width).values);

    std::vector<Floats> parts;
    std::vector<std::vector<double>> part_losses;
    for (std::size_t first = 0; first < share; first += shard_rows) {
      const auto rows = [&](const Matrix& all) { return rows_of(all, first, shard_rows); };
      Floats& part = parts.emplace_back(shared.size());
      const std::span<float> sums(part);
      dense.backward(layer, rows(data.x), rows(h), rows(dh), sums.first(dense.parameters()), {});
      add_gradient(rows(h), rows(gate_slope), sums.subspan(dense.parameters()));
      part_losses.push_back({squared_error(rows(y), rows(data.target), batch).value});
    }
    data_parallel.all_reduce_shards(parts, gradients);
    std::vector<double> sum(1);
    data_parallel.all_reduce_shards(part_losses, sum);
    optimiser.update(step, shared, gradients);
    for (Expert& expert : own) {
      for (std::size_t l = 0; l < 2; ++l) {
        expert.optimisers[l].update(step, expert.parameters[l], expert.gradients[l]);
      }
    }
    trained.losses.push_back(comm.rank() == 0 ? sum[0] : 0);
    trained.values += 2 * (route.leaving() + route.returning());
  }
  return trained;
}

bool compare(tutti::Communicator& comm) {
  Report report(comm, "expert parallel");
  require_divides(comm.size(), experts, "experts");
  tutti::Communicator data_parallel = comm.duplicate();
  const Traffic traffic(comm);
  const Trained trained = train(comm, data_parallel);
  const auto alone = [] {
    Trained reference;
    tutti::run_threads(1, [&](tutti::Communicator& one) { reference = train(one, one); });
    return reference.losses;
  };
  report.losses(trained.losses, alone, 0,
                "sums over ranks are exact, and all others have one order");
  const double n = comm.size();
  const double values =
      static_cast<double>(report.total(trained.values)) / (n * static_cast<double>(steps));
  report.expect_sent("tokens and their gradients, and counts",
                     traffic.sent(tutti::Collective::alltoall), steps,
                     "values of tokens that changed the rank · 4 bytes + (N−1)/N · experts · 8",
                     values * sizeof(float) + (n - 1) / n * experts * 8);
  report.say("  if all experts were chosen equally often: " +
             std::to_string(4 * (comm.size() - 1) * batch * width * sizeof(float) / comm.size() /
                            comm.size()) +
             " = 4 (N−1)/N² · batch · width · 4 bytes, without the counts");
  return report.good();
}

}  // namespace

int main() { return launch(4, compare); }
