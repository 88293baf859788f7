// Tensor parallel: the matrices of a layer are split over ranks, and every rank sees the whole
// batch (Megatron-LM: Shoeybi et al., 2019).
//   column split  Y = X·[A₁ A₂]: each rank computes some columns of Y from the whole X.
//   row split     Z = [Y₁ Y₂]·[B₁; B₂] = Y₁B₁ + Y₂B₂: each rank needs only its columns of Y; an
//                 allreduce adds the products.
// A column split followed by a row split costs one allreduce in the forward pass, after the row
// split, and one in the backward pass, for the gradient of X. Attention is split by heads: Q, K and
// V by columns, the output matrix by rows.
//
//   tutti run -n 4 -- build/examples/training/tensor_parallel mlp
//   build/examples/training/tensor_parallel attention         # alone: 4 threads
#include <string>

#include "report.hpp"
#include "transformer.hpp"

namespace {

using namespace training;

constexpr const char* why =
    "the products of the row splits are added in another order, so their last bits differ";

void sum_over(tutti::Communicator& comm, Matrix& matrix) {
  comm.all_reduce(matrix.values, tutti::Op::sum, {.algorithm = "allreduce/ring"});
}

void expect_sums(Report& report, const Traffic& traffic, double n, double sums,
                 const std::string& formula) {
  report.expect_sent("activations and their gradients", traffic.sent(tutti::Collective::allreduce),
                     steps, formula + " · 2(N−1)/N · batch · width · 4 bytes",
                     sums * 2 * (n - 1) / n * batch * width * sizeof(float));
}

/// Layers 0, 2, 4, 6 are split by columns and layers 1, 3, 5, 7 by rows: see Mlp and Layer.
bool train_mlp(tutti::Communicator& comm) {
  Report report(comm, "tensor parallel, MLP");
  require_divides(comm.size(), width, "columns");
  const Traffic traffic(comm);
  Mlp model(0, layers, comm.rank(), comm.size());
  model.sum = [&](Matrix& matrix) { sum_over(comm, matrix); };
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Batch data = samples(step);
    const std::vector<Matrix> activations = model.forward(data.x);
    Loss loss = squared_error(activations.back(), data.target, batch);
    model.backward(activations, std::move(loss.slope));
    model.update(step);
    losses.push_back(loss.value / comm.size());  // All ranks have the same loss.
  }
  report.losses(losses, train_mlp_alone, 1e-5, why);
  std::size_t weights = 0;
  for (const Layer& layer : model.shape) weights += layer.weights();
  report.expect("weights per rank", static_cast<double>(weights), "layers · width² / N",
                static_cast<double>(layers * width * width) / comm.size());
  expect_sums(report, traffic, comm.size(), layers, "layers");
  return report.good();
}

bool train_attention(tutti::Communicator& comm) {
  Report report(comm, "tensor parallel, transformer block");
  require_divides(comm.size(), heads, "heads");
  const Traffic traffic(comm);
  Block block(comm.rank(), comm.size());
  // The pair f and g: f copies in the forward pass and adds in the backward pass, g the reverse.
  block.borders.leave = [&](Matrix matrix) {
    sum_over(comm, matrix);
    return matrix;
  };
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Batch data = tokens(step);
    Block::Pass pass = block.forward(data.x);
    const Loss loss = squared_error(pass.z, data.target, batch);
    block.backward(pass, loss.slope);
    block.update(step);
    losses.push_back(loss.value / comm.size());
  }
  report.losses(losses, train_block_alone, 1e-5, why);
  report.expect("weights per rank", static_cast<double>(block.size()), "12 · width² / N",
                12.0 * width * width / comm.size());
  expect_sums(report, traffic, comm.size(), 4, "(2 forward + 2 backward)");
  return report.good();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string which = argc == 2 ? argv[1] : "";
  if (which != "mlp" && which != "attention") {
    return std::puts("usage: tensor_parallel mlp|attention"), 2;
  }
  return launch(4, which == "mlp" ? train_mlp : train_attention);
}
