// Three dimensions: data × pipeline × tensor parallel on a grid of ranks. Every rank is in three
// communicators, one per dimension, made by split():
//   tensor    ranks that hold one stage together: allreduce in the middle of its layers
//   pipeline  the stages of one copy of the model: activations and gradients as messages
//   data      ranks that hold the same slice in each copy: allreduce of gradients, in buckets,
//   while
//             the last backward pass still computes
// Ranks that are neighbours share memory most likely, so the dimension that communicates most comes
// last: rank = (d · P + p) · T + t.
//
//   tutti run -n 8 -- build/examples/training/three_d 2 2 2   # data, pipeline, tensor
//   build/examples/training/three_d 2 2 2                     # alone: 8 threads
#include <map>
#include <optional>
#include <string>

#include <tutti/bucketer.hpp>

#include "report.hpp"
#include "stages.hpp"

namespace {

using namespace training;

constexpr std::uint32_t microbatches = 4;

struct Grid {
  std::uint32_t data = 2;
  std::uint32_t pipeline = 2;
  std::uint32_t tensor = 2;
};

/// One rank of the grid.
class Cell {
 public:
  Cell(tutti::Communicator& comm, const Grid& grid)
      : t_(comm.rank() % grid.tensor),
        p_(comm.rank() / grid.tensor % grid.pipeline),
        d_(comm.rank() / grid.tensor / grid.pipeline),
        rows_(batch / grid.data / microbatches),
        tensor_(*comm.split(comm.rank() / grid.tensor)),
        pipeline_(*comm.split(d_ * grid.tensor + t_)),
        data_(*comm.split(p_ * grid.tensor + t_)),
        model_(p_ * layers / grid.pipeline, layers / grid.pipeline, t_, grid.tensor),
        is_first_(p_ == 0),
        is_last_(p_ + 1 == grid.pipeline) {
    model_.sum = [this](Matrix& matrix) {
      tensor_.all_reduce(matrix.values, tutti::Op::sum, {.algorithm = "allreduce/ring"});
    };
    std::vector<tutti::Tensor> tensors;
    for (std::size_t l = model_.shape.size(); l-- > 0;) {
      tensors.push_back(tutti::tensor(model_.gradients[l]));
    }
    bucketer_.emplace(data_, tensors,
                      tutti::BucketOptions{.bucket_bytes = 16384,
                                           .first_bucket_bytes = 8192,
                                           .reduction = tutti::Op::sum,
                                           .call = {.algorithm = "allreduce/ring"}});
    before_ = bucketer_->traffic().total().bytes_sent;
  }

  /// Returns this rank's part of the loss.
  double step(int number, const Order& order) {
    const std::size_t share = batch / data_.size();
    const Batch batch_of_copy = samples(number, d_ * share, share);
    double loss = 0;
    std::size_t backwards = 0;
    for (const Task& task : order) {
      if (task.is_backward == 0) {
        forward(task.microbatch, batch_of_copy);
      } else {
        loss += backward(task.microbatch, batch_of_copy, ++backwards == microbatches);
      }
    }
    bucketer_->finish();
    for (const tutti::Work& work : works_) work.wait();
    works_.clear();
    outgoing_.clear();
    model_.update(number);
    return t_ == 0 ? loss : 0;  // All ranks of a tensor group have the same.
  }

  [[nodiscard]] std::uint32_t stage() const { return p_; }
  [[nodiscard]] std::uint64_t sent_in_tensor() const {
    return tensor_.counters(tutti::Collective::allreduce).total().bytes_sent;
  }
  [[nodiscard]] std::uint64_t sent_in_pipeline() const {
    return pipeline_.message_counters().total().bytes_sent;
  }
  [[nodiscard]] std::uint64_t sent_in_data() const {
    return bucketer_->traffic().total().bytes_sent - before_;
  }
  /// Weights and biases of this rank.
  [[nodiscard]] std::size_t parameters() const {
    std::size_t sum = 0;
    for (const Floats& each : model_.parameters) sum += each.size();
    return sum;
  }

 private:
  void forward(std::uint32_t i, const Batch& data) {
    Matrix x(rows_, width);
    if (is_first_) {
      x = rows_of(data.x, i * rows_, rows_);
    } else {
      pipeline_.receive(x.values, p_ - 1, {.tag = 2 * i});
    }
    in_flight_[i] = model_.forward(std::move(x));
    if (!is_last_) send(in_flight_[i].back(), p_ + 1, 2 * i);
  }

  double backward(std::uint32_t i, const Batch& data, bool is_last_microbatch) {
    const std::vector<Matrix> activations = std::move(in_flight_.at(i));
    in_flight_.erase(i);
    Loss loss{.slope = Matrix(rows_, width)};
    if (is_last_) {
      loss = squared_error(activations.back(), rows_of(data.target, i * rows_, rows_), batch);
    } else {
      pipeline_.receive(loss.slope.values, p_ + 1, {.tag = 2 * i + 1});
    }
    const Matrix dx = model_.backward(activations, std::move(loss.slope), [&](std::size_t l) {
      // Gradients of all microbatches are complete: they can be added over the copies.
      if (is_last_microbatch) bucketer_->ready(model_.shape.size() - 1 - l);
    });
    if (!is_first_) send(dx, p_ - 1, 2 * i + 1);
    return loss.value;
  }

  void send(Matrix matrix, std::uint32_t to, std::uint32_t tag) {
    outgoing_.push_back(std::move(matrix.values));
    works_.push_back(pipeline_.send_async(outgoing_.back(), to, {.tag = tag}));
  }

  std::uint32_t t_;
  std::uint32_t p_;
  std::uint32_t d_;
  std::size_t rows_;  // Of a microbatch.
  tutti::Communicator tensor_;
  tutti::Communicator pipeline_;
  tutti::Communicator data_;
  Mlp model_;
  bool is_first_;
  bool is_last_;
  std::optional<tutti::Bucketer> bucketer_;
  std::uint64_t before_ = 0;
  std::map<std::uint32_t, std::vector<Matrix>> in_flight_;
  std::vector<Floats> outgoing_;
  std::vector<tutti::Work> works_;
};

void require_fits(const Grid& grid, std::uint32_t ranks) {
  require_divides(grid.tensor, width, "columns");
  require_divides(grid.data * microbatches, batch, "samples, in microbatches,");
  require_divides(grid.pipeline * (grid.tensor > 1 ? 2 : 1), layers, "layers, in pairs,");
  if (grid.data * grid.pipeline * grid.tensor == ranks) return;
  throw tutti::Error(tutti::ErrorCode::invalid_argument,
                     "a grid of " + std::to_string(grid.data * grid.pipeline * grid.tensor) +
                         " for " + std::to_string(ranks) + " ranks: start as many ranks");
}

/// The first copy of the model; the others do the same at the same time.
Timeline timeline(const Grid& grid, const StageTimes& times) {
  Timeline drawing("data × pipeline × tensor: one step",
                   {"The ranks of copy d = 0; copy 1 does the same. t = 0 and t = 1 add their "
                    "products inside every pass of a stage.",
                    "A forward pass takes 1 ms, a backward pass 2 ms, the allreduce of gradients "
                    "with the other copy 1 ms. Arrows: messages of microbatch 0."});
  for (std::uint32_t t = 0; t < grid.tensor; ++t) {
    std::vector<std::string> names;
    for (std::uint32_t p = 0; p < grid.pipeline; ++p) {
      names.push_back("rank " + std::to_string(p * grid.tensor + t) + ": p = " + std::to_string(p) +
                      ", t = " + std::to_string(t));
    }
    times.draw(drawing, names, "allreduce over data");
  }
  return drawing;
}

bool train(tutti::Communicator& comm, const Grid& grid, const std::string& trace) {
  Report report(comm, "data " + std::to_string(grid.data) + " × pipeline " +
                          std::to_string(grid.pipeline) + " × tensor " +
                          std::to_string(grid.tensor));
  require_fits(grid, comm.size());
  Cell cell(comm, grid);
  const Order order = one_forward_one_backward(cell.stage(), grid.pipeline, microbatches);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) losses.push_back(cell.step(step, order));

  report.losses(losses, train_mlp_alone, 1e-5,
                "gradients and row splits are added in another order, so their last bits differ");
  const double d = grid.data;
  const double p = grid.pipeline;
  const double t = grid.tensor;
  const double activations = batch / d * width * sizeof(float);
  report.expect_sent("tensor: sums inside the layers", cell.sent_in_tensor(), steps,
                     "layers/P · 2(T−1)/T · batch/D · width · 4 bytes",
                     layers / p * 2 * (t - 1) / t * activations);
  report.expect_sent("pipeline: activations and their gradients", cell.sent_in_pipeline(), steps,
                     "2(P−1)/P · batch/D · width · 4 bytes", 2 * (p - 1) / p * activations);
  report.expect("parameters per rank, Ψ'", static_cast<double>(report.most(cell.parameters())),
                "layers/P · (width²/T + width · (1 + 1/T)/2)",
                layers / p * (width * width / t + width * (1 + 1 / t) / 2));
  report.expect_sent("data: gradients", cell.sent_in_data(), steps, "2Ψ'(D−1)/D · 4 bytes",
                     2 * static_cast<double>(cell.parameters()) * (d - 1) / d * sizeof(float));
  std::vector<Order> orders;
  for (std::uint32_t s = 0; s < grid.pipeline; ++s) {
    orders.push_back(one_forward_one_backward(s, grid.pipeline, microbatches));
  }
  const StageTimes times(orders);
  report.expect("bubble", times.bubble(), "(P−1)/(m+P−1)", (p - 1) / (microbatches + p - 1));
  if (!trace.empty() && comm.rank() == 0) timeline(grid, times).write(trace);
  return report.good();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string trace = trace_file(argc, argv);
  if (argc != (trace.empty() ? 4 : 6)) {
    return std::puts("usage: three_d DATA PIPELINE TENSOR [--trace FILE]"), 2;
  }
  const auto number = [&](int i) { return static_cast<std::uint32_t>(std::atoi(argv[i])); };
  const Grid grid{.data = number(1), .pipeline = number(2), .tensor = number(3)};
  return launch(std::max(1U, grid.data * grid.pipeline * grid.tensor),
                [&](tutti::Communicator& comm) { return train(comm, grid, trace); });
}
