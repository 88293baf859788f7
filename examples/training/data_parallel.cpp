// Data parallel: every rank has the whole model and its own part of the batch. The gradients are
// averaged by allreduce, in buckets, while the backward pass still computes those of earlier
// layers (DDP). Then all ranks make the same update.
//
//   tutti run -n 4 -- build/examples/training/data_parallel
//   build/examples/training/data_parallel [--trace FILE]      # alone: 4 threads
//
// In each step a rank sends 2Ψ·(N−1)/N values for Ψ parameters and N ranks: the 2Ψ of textbooks.
#include <string>

#include <tutti/bucketer.hpp>

#include "model.hpp"
#include "report.hpp"
#include "timeline.hpp"

namespace {

using namespace training;

/// Two layers in a bucket, and one in the first, so that communication begins early.
tutti::BucketOptions bucket_options() {
  const std::size_t layer = Layer{}.parameters() * sizeof(float);
  return {.bucket_bytes = 2 * layer,
          .first_bucket_bytes = layer,
          // A fixed algorithm, so that what is counted can be compared with its formula.
          .call = {.algorithm = "allreduce/ring"}};
}

/// One step with overlap, and one that starts the buckets after the backward pass.
Timeline timeline(const tutti::Bucketer& bucketer, std::uint32_t ranks) {
  const Machine machine;
  const double work = machine.product(batch / ranks);
  Timeline drawing(
      "data parallel: one step with and without overlap",
      {std::to_string(ranks) + " ranks, all alike; " + std::to_string(bucketer.buckets()) +
           " buckets, each reduced by allreduce/ring when its gradients are computed",
       Machine::prices});
  for (const bool overlaps : {true, false}) {
    Lanes lanes(drawing, overlaps ? "overlap: " : "no overlap: ");
    for (std::size_t l = 0; l < layers; ++l) lanes.compute("forward", std::to_string(l), work);
    std::vector<std::uint64_t> bytes(bucketer.buckets());
    std::vector<double> ready(bucketer.buckets());
    for (std::size_t l = layers; l-- > 0;) {
      const std::size_t bucket = bucketer.bucket_of(layers - 1 - l);
      bytes[bucket] += Layer{}.parameters() * sizeof(float);
      ready[bucket] = lanes.compute("backward", std::to_string(l), 2 * work);
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      lanes.transfer("allreduce of a bucket", std::to_string(i),
                     machine.price("allreduce/ring", ranks, bytes[i]),
                     overlaps ? ready[i] : lanes.computed());
    }
    lanes.compute("update", "", work / 2, lanes.transferred());
  }
  return drawing;
}

bool train(tutti::Communicator& comm, const std::string& trace) {
  Report report(comm, "data parallel");
  require_divides(comm.size(), batch, "samples");
  const std::size_t share = batch / comm.size();

  Mlp model;
  std::vector<tutti::Tensor> tensors;  // In the order in which they become ready.
  for (std::size_t l = layers; l-- > 0;) tensors.push_back(tutti::tensor(model.gradients[l]));
  tutti::Bucketer bucketer(comm, tensors, bucket_options());
  const std::uint64_t before = bucketer.traffic().total().bytes_sent;

  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Batch data = samples(step, comm.rank() * share, share);
    const std::vector<Matrix> activations = model.forward(data.x);
    Loss loss = squared_error(activations.back(), data.target, share);
    model.backward(activations, std::move(loss.slope),
                   [&](std::size_t l) { bucketer.ready(layers - 1 - l); });
    bucketer.finish();  // The gradients are now averages over all ranks.
    model.update(step);
    losses.push_back(loss.value / comm.size());
  }

  report.say("  " + bucketer.description());
  report.losses(losses, train_mlp_alone, 1e-5,
                "the gradients are added in another order, so their last bits differ");
  const double psi = static_cast<double>(layers * Layer{}.parameters());
  const double n = comm.size();
  report.expect_sent("gradients", bucketer.traffic().total().bytes_sent - before, steps,
                     "2Ψ(N−1)/N · 4 bytes", 2 * psi * (n - 1) / n * sizeof(float));
  if (!trace.empty() && comm.rank() == 0) timeline(bucketer, comm.size()).write(trace);
  return report.good();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string trace = trace_file(argc, argv);
  if (argc > (trace.empty() ? 1 : 3)) return std::puts("usage: data_parallel [--trace FILE]"), 2;
  return launch(4, [&](tutti::Communicator& comm) { return train(comm, trace); });
}
