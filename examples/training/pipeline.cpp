// Pipeline parallel: every rank has some consecutive layers, a stage. The batch is cut into
// microbatches, so that a stage works on one while the next stage works on the one before.
// Activations go to the next rank, their gradients back to the previous one, as messages.
//   gpipe  All forward passes, then all backward passes: a stage keeps m microbatches.
//   1f1b   As soon as possible one forward and one backward pass in turns: at most p microbatches.
//
//   tutti run -n 4 -- build/examples/training/pipeline 1f1b
//   build/examples/training/pipeline gpipe                    # alone: 4 threads
//
// With m microbatches and p stages, a stage waits (p−1)/(m+p−1) of the time: the bubble.
#include <map>
#include <string>

#include "report.hpp"
#include "stages.hpp"

namespace {

using namespace training;

constexpr std::uint32_t microbatches = 8;
constexpr std::size_t rows = batch / microbatches;

/// One rank's part of the pipeline.
class Stage {
 public:
  explicit Stage(tutti::Communicator& comm)
      : comm_(comm),
        model_(comm.rank() * layers / comm.size(), layers / comm.size()),
        is_first_(comm.rank() == 0),
        is_last_(comm.rank() + 1 == comm.size()) {}

  /// Returns the loss, on the last rank.
  double step(int number, const Order& order) {
    const Batch data = samples(number);  // The first stage uses x, the last one the target.
    double loss = 0;
    for (const Task& task : order) {
      if (task.is_backward == 0) {
        forward(task.microbatch, data);
        most_in_flight_ = std::max(most_in_flight_, in_flight_.size());
      } else {
        loss += backward(task.microbatch, data);
      }
      done_.push_back(task);
    }
    for (const tutti::Work& work : works_) work.wait();
    works_.clear();
    outgoing_.clear();
    model_.update(number);
    return loss;
  }

  /// The most microbatches whose activations this rank kept at once.
  [[nodiscard]] std::size_t most_in_flight() const { return most_in_flight_; }
  /// The tasks of all steps, in the order in which they were carried out.
  [[nodiscard]] const Order& done() const { return done_; }

 private:
  // Between two ranks there is one message per microbatch and direction: its tag.
  void forward(std::uint32_t i, const Batch& data) {
    Matrix x(rows, width);
    if (is_first_) {
      x = rows_of(data.x, i * rows, rows);
    } else {
      comm_.receive(x.values, comm_.rank() - 1, {.tag = 2 * i});
    }
    in_flight_[i] = model_.forward(std::move(x));
    if (!is_last_) send(in_flight_[i].back(), comm_.rank() + 1, 2 * i);
  }

  double backward(std::uint32_t i, const Batch& data) {
    const std::vector<Matrix> activations = std::move(in_flight_.at(i));
    in_flight_.erase(i);
    Loss loss{.slope = Matrix(rows, width)};
    if (is_last_) {
      loss = squared_error(activations.back(), rows_of(data.target, i * rows, rows), batch);
    } else {
      comm_.receive(loss.slope.values, comm_.rank() + 1, {.tag = 2 * i + 1});
    }
    const Matrix dx = model_.backward(activations, std::move(loss.slope));
    if (!is_first_) send(dx, comm_.rank() - 1, 2 * i + 1);
    return loss.value;
  }

  /// In the background: the receiver may still be busy with its previous task.
  void send(Matrix matrix, std::uint32_t to, std::uint32_t tag) {
    outgoing_.push_back(std::move(matrix.values));  // Moving a vector does not move its elements.
    works_.push_back(comm_.send_async(outgoing_.back(), to, {.tag = tag}));
  }

  tutti::Communicator& comm_;
  Mlp model_;
  bool is_first_;
  bool is_last_;
  std::map<std::uint32_t, std::vector<Matrix>> in_flight_;
  std::size_t most_in_flight_ = 0;
  std::vector<Floats> outgoing_;
  std::vector<tutti::Work> works_;
  Order done_;
};

/// What all stages did in the last step.
std::vector<Order> orders_of_all(tutti::Communicator& comm, const Order& done) {
  const std::size_t count = 2 * microbatches;
  Order all(count * comm.size());
  comm.all_gather(std::span(done).last(count), all);
  std::vector<Order> orders;
  for (auto at = all.begin(); at != all.end(); at += count) orders.emplace_back(at, at + count);
  return orders;
}

bool train(tutti::Communicator& comm, bool is_gpipe, const std::string& trace) {
  const std::string name = is_gpipe ? "GPipe" : "1F1B";
  Report report(comm, "pipeline, " + name);
  require_divides(comm.size(), layers, "layers");
  const std::uint32_t p = comm.size();
  const Order order =
      is_gpipe ? gpipe(microbatches) : one_forward_one_backward(comm.rank(), p, microbatches);
  Stage stage(comm);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) losses.push_back(stage.step(step, order));

  report.losses(losses, train_mlp_alone, 1e-5,
                "gradients are added by microbatch, so their last bits differ");
  report.expect_sent("activations and their gradients", comm.message_counters().total().bytes_sent,
                     steps, "2(p−1)/p · batch · width · 4 bytes",
                     2.0 * (p - 1) / p * batch * width * sizeof(float));
  report.expect("microbatches in flight", static_cast<double>(report.most(stage.most_in_flight())),
                is_gpipe ? "m" : "min(m, p)", is_gpipe ? microbatches : std::min(microbatches, p));
  const StageTimes times(orders_of_all(comm, stage.done()));
  report.expect("bubble, if a backward pass takes twice as long as a forward pass", times.bubble(),
                "(p−1)/(m+p−1)", (p - 1.0) / (microbatches + p - 1));
  if (!trace.empty() && comm.rank() == 0) {
    Timeline drawing("pipeline, " + name + ": one step",
                     {std::to_string(p) + " stages, " + std::to_string(microbatches) +
                      " microbatches, in the order in which the ranks carried them out; a forward "
                      "pass takes 1 ms, a backward pass 2 ms. Arrows: messages of microbatch 0."});
    std::vector<std::string> names;
    for (std::uint32_t s = 0; s < p; ++s) names.push_back("rank " + std::to_string(s));
    times.draw(drawing, names);
    drawing.write(trace);
  }
  return report.good();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "";
  const std::string trace = trace_file(argc, argv);
  if ((which != "gpipe" && which != "1f1b") || argc > (trace.empty() ? 2 : 4)) {
    return std::puts("usage: pipeline gpipe|1f1b [--trace FILE]"), 2;
  }
  return launch(4, [&](tutti::Communicator& comm) { return train(comm, which == "gpipe", trace); });
}
