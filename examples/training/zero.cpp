// ZeRO: data parallel without copies (Rajbhandari et al., 2020). Of Ψ parameters each of N ranks
// keeps only a shard of Ψ/N of
//   stage 1  the state of the optimiser,
//   stage 2  and the gradients: each layer's are reduced and scattered when they are computed,
//   stage 3  and the parameters: gathered before use, freed after (FSDP).
//
//   tutti run -n 4 -- build/examples/training/zero 3
//   build/examples/training/zero 3 bf16     # alone: 4 threads
//
// Stages 1 and 2 send 2Ψ(N−1)/N values per rank and step, as data parallel does; stage 3 sends 3Ψ.
// With bf16, parameters and gradients have 2 bytes, and the optimiser keeps K = 12 bytes per
// parameter: a copy of the weights in f32, and two means. This is the 2Ψ + 2Ψ + KΨ of Rajbhandari
// et al., "ZeRO: memory optimizations toward training trillion parameter models", 2020. With f32
// the weights need no copy: 4Ψ + 4Ψ + 8Ψ.
#include <bit>
#include <string>

#include "model.hpp"
#include "report.hpp"
#include "timeline.hpp"

namespace {

using namespace training;

void assign(float from, float& to) { to = from; }
void assign(tutti::BFloat16 from, float& to) {
  to = std::bit_cast<float>(std::uint32_t{from.bits} << 16);
}
void assign(float from, tutti::BFloat16& to) {  // To nearest, ties to even.
  const auto bits = std::bit_cast<std::uint32_t>(from);
  to.bits = static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
template <class From, class To>
void convert(const From& from, To&& to) {
  for (std::size_t i = 0; i < to.size(); ++i) assign(from[i], to[i]);
}

/// The model on one rank. T is the type of parameters and gradients; the arithmetic is in f32.
template <class T>
class Sharded {
 public:
  static constexpr bool has_master = sizeof(T) < sizeof(float);
  static constexpr std::size_t optimiser_bytes = has_master ? 12 : 8;  // K

  Sharded(tutti::Communicator& comm, int stage) : comm_(comm), stage_(stage) {
    // Padded, so that all shards have the same length.
    shard_ = (Layer{}.parameters() + comm.size() - 1) / comm.size();
    padded_ = shard_ * comm.size();
    for (std::size_t l = 0; l < layers; ++l) {
      Floats initial = initial_parameters(l);
      initial.resize(padded_);
      const auto own = std::span(initial).subspan(comm.rank() * shard_, shard_);
      parameters_.emplace_back(stage == 3 ? shard_ : padded_);
      convert(stage == 3 ? own : std::span(initial), parameters_.back());
      gradients_.emplace_back(stage == 1 ? padded_ : shard_);
      if (has_master) master_.emplace_back(own.begin(), own.end());
      mean_.emplace_back(shard_);
      variance_.emplace_back(shard_);
    }
    shape_.back().is_last = true;
  }

  [[nodiscard]] std::size_t psi() const { return layers * padded_; }

  double step(int number, const Batch& data) {
    std::vector<Matrix> activations{data.x};
    for (std::size_t l = 0; l < layers; ++l) {
      const InUse weights = use(l, l + 1);
      activations.push_back(shape_[l].forward(weights.floats, activations.back(), {}));
    }
    Loss loss = squared_error(activations.back(), data.target, data.x.rows);
    for (std::size_t l = layers; l-- > 0;) {
      const InUse weights = use(l, l - 1);
      Floats gradients(padded_);
      loss.slope = shape_[l].backward(weights.floats, activations[l], activations[l + 1],
                                      std::move(loss.slope),
                                      std::span(gradients).first(shape_[l].parameters()), {});
      if (stage_ == 1) {
        convert(gradients, gradients_[l]);
      } else {
        scatter_later(l, gradients);
      }
    }
    scattering_.work.wait();
    scattering_ = {};
    for (std::size_t l = 0; l < layers; ++l) update(number, l);
    return loss.value;
  }

 private:
  /// A buffer of a whole layer, and the call that uses it.
  struct Whole {
    Held<T> values{};
    tutti::Work work{};
  };
  struct InUse {
    Whole whole{};
    Floats floats{};
  };

  /// The parameters of layer l. Stage 3 gathers them, and those of layer `next` in the background.
  InUse use(std::size_t l, std::size_t next) {
    InUse used;
    if (stage_ == 3) {
      used.whole = gathering_.values.empty() ? gather(l) : std::move(gathering_);
      gathering_ = next < layers ? gather(next) : Whole{};
      used.whole.work.wait();
    }
    used.floats.resize(shape_[l].parameters());
    convert(stage_ == 3 ? used.whole.values : parameters_[l], used.floats);
    return used;
  }
  Whole gather(std::size_t l) {
    Whole whole{.values = Held<T>(padded_)};
    whole.work =
        comm_.all_gather_async(parameters_[l], whole.values, {.algorithm = "allgather/ring"});
    return whole;
  }
  /// Averages the gradients of layer l and keeps this rank's shard, while layer l − 1 is computed.
  void scatter_later(std::size_t l, const Floats& gradients) {
    Whole whole{.values = Held<T>(padded_)};
    convert(gradients, whole.values);
    scattering_.work.wait();
    whole.work = comm_.reduce_scatter_async(whole.values, gradients_[l], tutti::Op::avg,
                                            {.algorithm = "reduce_scatter/ring"});
    scattering_ = std::move(whole);
  }

  /// Each rank updates its shard of layer l. Stages 1 and 2 then gather the new parameters.
  void update(int number, std::size_t l) {
    Held<T> averaged(stage_ == 1 ? shard_ : 0);
    if (stage_ == 1) {
      comm_.reduce_scatter(gradients_[l], averaged, tutti::Op::avg,
                           {.algorithm = "reduce_scatter/ring"});
    }
    Floats gradients(shard_);
    convert(stage_ == 1 ? averaged : gradients_[l], gradients);
    const auto own =
        std::span(parameters_[l]).subspan(stage_ == 3 ? 0 : comm_.rank() * shard_, shard_);
    if constexpr (has_master) {
      adam(number, master_[l], gradients, mean_[l], variance_[l]);
      convert(master_[l], own);
    } else {
      adam(number, own, gradients, mean_[l], variance_[l]);
    }
    if (stage_ < 3) comm_.all_gather(own, parameters_[l], {.algorithm = "allgather/ring"});
  }

  tutti::Communicator& comm_;
  int stage_;
  std::vector<Layer> shape_ = std::vector<Layer>(layers);
  std::size_t shard_ = 0;
  std::size_t padded_ = 0;
  std::vector<Held<T>> parameters_;
  std::vector<Held<T>> gradients_;
  std::vector<Held<float>> master_;
  std::vector<Held<float>> mean_;
  std::vector<Held<float>> variance_;
  Whole gathering_;
  Whole scattering_;
};

/// A step of stage 3, as Sharded::step() orders its calls.
Timeline timeline(std::uint32_t ranks) {
  Timeline drawing("ZeRO stage 3: one step",
                   {std::to_string(ranks) +
                        " ranks, all alike. Layer l + 1 is gathered while layer "
                        "l is used, and gradients are scattered while the next are computed.",
                    Machine::prices});
  const Machine machine;
  const double work = machine.product(batch / ranks);
  const std::uint64_t bytes = Layer{}.parameters() * sizeof(float);
  const double gather = machine.price("allgather/ring", ranks, bytes);
  const double scatter = machine.price("reduce_scatter/ring", ranks, bytes);
  Lanes lanes(drawing, "");
  for (const bool back : {false, true}) {
    double gathered =
        lanes.transfer("gather", std::to_string(back ? layers - 1 : 0), gather, lanes.computed());
    for (std::size_t i = 0; i < layers; ++i) {
      const std::size_t l = back ? layers - 1 - i : i;
      const std::size_t next = back ? l - 1 : l + 1;
      const double ready = gathered;
      if (i + 1 < layers)
        gathered = lanes.transfer("gather", std::to_string(next), gather, lanes.computed());
      lanes.compute(back ? "backward" : "forward", std::to_string(l), back ? 2 * work : work,
                    ready);
      if (back) lanes.transfer("reduce-scatter", std::to_string(l), scatter, lanes.computed());
    }
  }
  lanes.compute("update of the shard", "", work / 4, lanes.transferred());
  return drawing;
}

template <class T>
bool train(tutti::Communicator& comm, int stage) {
  Report report(comm, "ZeRO stage " + std::to_string(stage) + (sizeof(T) == 2 ? ", bf16" : ""));
  require_divides(comm.size(), batch, "samples");
  const std::size_t share = batch / comm.size();
  const Traffic traffic(comm);
  memory = {};
  Sharded<T> model(comm, stage);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    losses.push_back(model.step(step, samples(step, comm.rank() * share, share)) / comm.size());
  }

  report.losses(losses, train_mlp_alone, sizeof(T) == 2 ? 5e-3 : 1e-5,
                sizeof(T) == 2 ? "weights and gradients have 8 bits of precision, those of the one "
                                 "process 24"
                               : "the gradients are added in another order, so their last bits "
                                 "differ");
  const auto psi = static_cast<double>(model.psi());
  const double n = comm.size();
  const double b = sizeof(T);
  const double k = Sharded<T>::optimiser_bytes;
  using tutti::Collective;
  report.expect_sent("gradients", traffic.sent(Collective::reduce_scatter), steps, "Ψ(N−1)/N · b",
                     psi * (n - 1) / n * b);
  report.expect_sent("parameters", traffic.sent(Collective::allgather), steps,
                     stage == 3 ? "2Ψ(N−1)/N · b" : "Ψ(N−1)/N · b",
                     (stage == 3 ? 2 : 1) * psi * (n - 1) / n * b);
  report.expect("bytes of model state per rank", static_cast<double>(report.most(memory.now)),
                stage == 1   ? "bΨ + bΨ + KΨ/N"
                : stage == 2 ? "bΨ + (bΨ + KΨ)/N"
                             : "(bΨ + bΨ + KΨ)/N",
                b * psi / (stage > 2 ? n : 1) + b * psi / (stage > 1 ? n : 1) + k * psi / n);
  report.say("  b = " + std::to_string(sizeof(T)) +
             ", K = " + std::to_string(Sharded<T>::optimiser_bytes) + "; data parallel holds " +
             std::to_string(model.psi() * (2 * sizeof(T) + Sharded<T>::optimiser_bytes)) +
             " bytes; the most at any time was " + std::to_string(memory.peak));
  return report.good();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const int stage = words.empty() ? 0 : std::atoi(words[0].c_str());
  const bool traces = words.size() == 3 && words[1] == "--trace";
  const bool is_short = words.size() == 2 && words[1] == "bf16";
  if (stage < 1 || stage > 3 || (words.size() > 1 && !is_short && !traces)) {
    return std::puts("usage: zero 1|2|3 [bf16 | --trace FILE]"), 2;
  }
  if (traces) return timeline(4).write(words[2]), 0;
  return launch(4, [&](tutti::Communicator& comm) {
    return is_short ? train<tutti::BFloat16>(comm, stage) : train<float>(comm, stage);
  });
}
