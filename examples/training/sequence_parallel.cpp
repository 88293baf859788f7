// Sequence parallel: every rank has some of the tokens of each sequence. Two ways:
//   megatron  Tensor parallel, but between its split regions each rank keeps only its tokens. The
//             allreduce at the end of a region becomes a reduce-scatter, and an allgather begins
//             the next: as many bytes, but norms and residuals need 1/N of the memory and work
//             (Korthikanti et al., 2022).
//   ulysses   Every rank has the whole weights and its tokens. Only attention needs other tokens:
//             an all-to-all turns "my tokens, all heads" into "all tokens, my heads", and another
//             turns the result back (Jacobs et al., 2023). The gradients of the weights are added,
//             as in data parallel.
//
//   tutti run -n 4 -- build/examples/training/sequence_parallel megatron
//   build/examples/training/sequence_parallel ulysses         # alone: 4 threads
#include <string>

#include "report.hpp"
#include "timeline.hpp"
#include "transformer.hpp"

namespace {

using namespace training;
using tutti::Collective;
using tutti::Communicator;

/// All tokens, of those of every rank.
Matrix gathered(Communicator& comm, const Matrix& mine) {
  Matrix all(mine.rows * comm.size(), mine.columns);
  comm.all_gather(mine.values, all.values, {.algorithm = "allgather/ring"});
  return all;
}
/// This rank's tokens of the sum over all ranks.
Matrix scattered(Communicator& comm, const Matrix& all) {
  Matrix mine(all.rows / comm.size(), all.columns);
  comm.reduce_scatter(all.values, mine.values, tutti::Op::sum,
                      {.algorithm = "reduce_scatter/ring"});
  return mine;
}

/// From all columns of my tokens to my columns of all tokens.
Matrix to_heads(Communicator& comm, const Matrix& mine) {
  const std::size_t part = mine.columns / comm.size();
  Floats packed;
  for (std::size_t to = 0; to < comm.size(); ++to) {
    const Floats block = block_of(mine.values, mine.columns, 0, mine.rows, to * part, part);
    packed.insert(packed.end(), block.begin(), block.end());
  }
  Matrix all(mine.rows * comm.size(), part);
  comm.all_to_all(packed, all.values, {.algorithm = "alltoall/pairwise"});
  return all;
}
/// And back. The tokens of a rank are consecutive rows, so only what arrives must be rearranged.
Matrix to_tokens(Communicator& comm, const Matrix& all) {
  Floats packed(all.values.size());
  comm.all_to_all(all.values, packed, {.algorithm = "alltoall/pairwise"});
  Matrix mine(all.rows / comm.size(), all.columns * comm.size());
  for (std::size_t from = 0; from < comm.size(); ++from) {
    for (std::size_t r = 0; r < mine.rows; ++r) {
      const float* const row = packed.data() + (from * mine.rows + r) * all.columns;
      std::copy_n(row, all.columns, mine[r] + from * all.columns);
    }
  }
  return mine;
}

/// Trains on this rank's tokens. Calls `finish` when the gradients of a step are computed.
std::vector<double> train(const Communicator& comm, Block& block,
                          const std::function<void()>& finish) {
  const std::size_t share = batch / comm.size();
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Batch data = tokens(step, comm.rank() * share, share);
    Block::Pass pass = block.forward(data.x);
    const Loss loss = squared_error(pass.z, data.target, batch);
    block.backward(pass, loss.slope);
    finish();
    block.update(step);
    losses.push_back(loss.value);
  }
  return losses;
}

/// One block on one rank, forward and backward, in tensor parallel and in both ways of this file.
Timeline timeline(std::uint32_t ranks) {
  const Machine machine;
  Timeline drawing(
      "one block of a transformer on one of " + std::to_string(ranks) + " ranks",
      {"Products with Q, K, V and O, attention (A) between them, and the MLP; norms are "
       "too short for a name.",
       Machine::prices});
  const double product = machine.product(batch) / ranks;
  const std::uint64_t bytes = batch * width * sizeof(float);
  enum Way : std::uint8_t { tensor, megatron, ulysses };
  for (const Way way : {tensor, megatron, ulysses}) {
    const std::uint32_t row = drawing.row(way == tensor     ? "tensor parallel"
                                          : way == megatron ? "sequence: Megatron"
                                                            : "sequence: Ulysses");
    double now = 0;
    const char* pass = "forward";
    double times = 1;  // A backward pass has twice the products.
    const auto span = [&](const std::string& kind, const char* name, double seconds) {
      drawing.span(row, kind, name, now, seconds);
      now += seconds;
    };
    const auto compute = [&](const char* name, double products) {
      span(pass, name, times * products * product);
    };
    const auto norm = [&] { compute("", way == tensor ? 0.05 * ranks : 0.05); };
    const auto enter = [&] {
      if (way == megatron) span("allgather", "", machine.price("allgather/ring", ranks, bytes));
    };
    const auto leave = [&] {
      if (way == tensor) span("allreduce", "", machine.price("allreduce/ring", ranks, bytes));
      if (way != megatron) return;
      span("reduce-scatter", "", machine.price("reduce_scatter/ring", ranks, bytes));
    };
    const auto exchange = [&](int count) {
      for (int i = 0; way == ulysses && i < count; ++i) {
        span("all-to-all", "", machine.price("alltoall/pairwise", ranks, bytes / ranks));
      }
    };
    norm();
    enter();
    compute("QKV", 3);
    exchange(3);
    compute("A", 1);
    exchange(1);
    compute("O", 1);
    leave();
    norm();
    enter();
    compute("MLP", 8);
    leave();
    pass = "backward";
    times = 2;
    enter();
    compute("MLP", 8);
    leave();
    norm();
    enter();
    compute("O", 1);
    exchange(1);
    compute("A", 1);
    exchange(3);
    compute("QKV", 3);
    leave();
    norm();
    if (way == ulysses) {
      const std::uint64_t gradients = Block().size() * sizeof(float);
      span("allreduce", "gradients", machine.price("allreduce/ring", ranks, gradients));
    }
  }
  return drawing;
}

bool train_megatron(Communicator& comm) {
  Report report(comm, "sequence parallel, Megatron");
  require_divides(comm.size(), heads, "heads");
  require_divides(comm.size(), length, "tokens");
  const Traffic traffic(comm);
  Block block(comm.rank(), comm.size());
  block.borders.enter = [&](const Matrix& mine) { return gathered(comm, mine); };
  block.borders.leave = [&](const Matrix& all) { return scattered(comm, all); };
  report.losses(
      train(comm, block, [] {}), train_block_alone, 1e-5,
      "the products of the row splits are added in another order, so their last bits differ");
  const double n = comm.size();
  const double share = (n - 1) / n * batch * width * sizeof(float);
  report.expect_sent("allgathers", traffic.sent(Collective::allgather), steps,
                     "(2 forward + 2 backward) · (N−1)/N · batch · width · 4 bytes", 4 * share);
  report.expect_sent("reduce-scatters", traffic.sent(Collective::reduce_scatter), steps,
                     "(2 forward + 2 backward) · (N−1)/N · batch · width · 4 bytes", 4 * share);
  report.say("  together as many as the 4 allreduces of tensor parallel");
  return report.good();
}

bool train_ulysses(Communicator& comm) {
  Report report(comm, "sequence parallel, Ulysses");
  require_divides(comm.size(), heads, "heads");
  require_divides(comm.size(), length, "tokens");
  const Traffic traffic(comm);
  Block block;
  block.borders.to_heads = [&](const Matrix& mine) { return to_heads(comm, mine); };
  block.borders.to_tokens = [&](const Matrix& all) { return to_tokens(comm, all); };
  const auto add_gradients = [&] {
    for (Floats& gradient : block.gradients) {
      comm.all_reduce(gradient, tutti::Op::sum, {.algorithm = "allreduce/ring"});
    }
  };
  report.losses(train(comm, block, add_gradients), train_block_alone, 1e-5,
                "the gradients are added in another order, so their last bits differ");
  const double n = comm.size();
  report.expect_sent("all-to-alls", traffic.sent(Collective::alltoall), steps,
                     "(4 forward + 4 backward) · (N−1)/N² · batch · width · 4 bytes",
                     8 * (n - 1) / n / n * batch * width * sizeof(float));
  report.expect_sent("gradients", traffic.sent(Collective::allreduce), steps, "2Ψ(N−1)/N · 4 bytes",
                     2 * static_cast<double>(block.size()) * (n - 1) / n * sizeof(float));
  return report.good();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string which = argc == 2 ? argv[1] : "";
  const std::string trace = trace_file(argc, argv);
  if (!trace.empty() && argc == 3) return timeline(4).write(trace), 0;
  if (which != "megatron" && which != "ulysses") {
    return std::puts("usage: sequence_parallel megatron|ulysses, or --trace FILE"), 2;
  }
  return launch(4, which == "megatron" ? train_megatron : train_ulysses);
}
