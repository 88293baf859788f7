// The gradients of the models that the training examples share, compared with differences of their
// losses: a wrong one would also be in the run of one process that the examples compare with.
#include <gtest/gtest.h>

#include "../../examples/training/stages.hpp"
#include "../../examples/training/transformer.hpp"

namespace training {
namespace {

/// Compares gradients[i] with (loss(p + h) − loss(p − h)) / 2h for some of the parameters.
template <class LossOf>
void expect_gradients(Floats& parameters, const Floats& gradients, LossOf loss_of) {
  ASSERT_EQ(parameters.size(), gradients.size());
  double largest = 0;
  for (const float each : gradients) largest = std::max(largest, std::abs(double{each}));
  const std::size_t stride = std::max<std::size_t>(1, parameters.size() / 13);
  for (std::size_t i = 0; i < parameters.size(); i += stride) {
    const float before = parameters[i];
    constexpr float h = 1e-2F;
    parameters[i] = before + h;
    const double above = loss_of();
    parameters[i] = before - h;
    const double below = loss_of();
    parameters[i] = before;
    EXPECT_NEAR((above - below) / (2 * h), gradients[i], 0.02 * largest) << "parameter " << i;
  }
}

TEST(TrainingModel, GradientsOfTheMlp) {
  Mlp model;
  const Batch data = samples(0, 0, 8);
  const auto loss_of = [&] {
    return squared_error(model.forward(data.x).back(), data.target, 8).value;
  };
  const std::vector<Matrix> activations = model.forward(data.x);
  model.backward(activations, squared_error(activations.back(), data.target, 8).slope);
  for (const std::size_t l : {std::size_t{0}, std::size_t{3}, layers - 1}) {
    expect_gradients(model.parameters[l], model.gradients[l], loss_of);
  }
}

TEST(TrainingModel, GradientsOfTheBlock) {
  Block block;
  Batch data = tokens(0);
  const auto loss_of = [&] {
    return squared_error(block.forward(data.x).z, data.target, batch).value;
  };
  Block::Pass pass = block.forward(data.x);
  block.backward(pass, squared_error(pass.z, data.target, batch).slope);
  for (std::size_t part = 0; part < block.parameters.size(); ++part) {
    SCOPED_TRACE(part);
    expect_gradients(block.parameters[part], block.gradients[part], loss_of);
  }
  expect_gradients(data.x.values, block.dx.values, loss_of);
}

TEST(TrainingModel, SlicesOfTheMlpAddUp) {
  const Mlp whole;
  std::size_t weights = 0;
  for (std::size_t slice = 0; slice < 3; ++slice) {
    const Mlp part(0, layers, slice, 3);
    // Layer 0 is split by columns, layer 1 by rows.
    EXPECT_EQ(part.parameters[0][0], whole.parameters[0][slice * 16]);
    EXPECT_EQ(part.parameters[0][16], whole.parameters[0][width + slice * 16]);
    EXPECT_EQ(part.parameters[1][0], whole.parameters[1][slice * 16 * width]);
    for (const Layer& layer : part.shape) weights += layer.weights();
  }
  EXPECT_EQ(weights, layers * width * width);
}

TEST(TrainingStages, BothSchedulesHaveTheBubbleOfTheFormula) {
  for (const std::uint32_t stages : {1U, 2U, 3U, 4U, 8U}) {
    for (const std::uint32_t microbatches : {1U, 2U, 4U, 8U, 16U}) {
      std::vector<Order> all_forward(stages, gpipe(microbatches));
      std::vector<Order> in_turns;
      for (std::uint32_t s = 0; s < stages; ++s) {
        in_turns.push_back(one_forward_one_backward(s, stages, microbatches));
        EXPECT_EQ(in_turns.back().size(), 2 * microbatches);
      }
      const double expected = (stages - 1.0) / (microbatches + stages - 1.0);
      EXPECT_NEAR(StageTimes(all_forward).bubble(), expected, 1e-12) << stages;
      EXPECT_NEAR(StageTimes(in_turns).bubble(), expected, 1e-12) << stages;
    }
  }
}

}  // namespace
}  // namespace training
