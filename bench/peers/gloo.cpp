// The collectives of Gloo, between processes that this one starts, over TCP on the loopback
// interface: gloo [--ranks P] [--algorithm A] [--sync-busy] and the arguments of program.hpp.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/config.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/types.h>

#include "peers/forked_ranks.hpp"
#include "peers/peer.hpp"
#include "peers/program.hpp"

namespace {

using namespace peers;
using Context = std::shared_ptr<gloo::Context>;

/// `ring` and `bcube` are functions without preparation; the others are objects that work in place.
/// Gloo has several algorithms for allreduce only.
constexpr std::array<std::string_view, 4> algorithms{"ring", "bcube", "ring_chunked",
                                                     "halving_doubling"};

struct Settings {
  int ranks = 2;
  std::string algorithm = "ring";
  bool sync_busy = false;

  /// Objects are bound to connections and can poll them; functions cannot.
  [[nodiscard]] bool of_objects() const {
    return algorithm == "ring_chunked" || algorithm == "halving_doubling";
  }
};

template <class T>
using Fold = void (*)(void*, const void*, const void*, std::size_t);

template <class T>
Fold<T> fold(Op op) {
  switch (op) {
    case Op::prod:
      return &gloo::product<T>;
    case Op::min:
      return &gloo::min<T>;
    case Op::max:
      return &gloo::max<T>;
    default:
      return &gloo::sum<T>;
  }
}

template <class T>
const gloo::ReductionFunction<T>* reduction(Op op) {
  switch (op) {
    case Op::prod:
      return gloo::ReductionFunction<T>::product;
    case Op::min:
      return gloo::ReductionFunction<T>::min;
    case Op::max:
      return gloo::ReductionFunction<T>::max;
    default:
      return gloo::ReductionFunction<T>::sum;
  }
}

/// Prepares calls on elements of type T. Options and objects are made once and reused, which is
/// faster than in most programs that use Gloo.
template <class T>
class Preparation {
 public:
  Preparation(Context context, Settings settings, const Call& call)
      : context_(std::move(context)),
        settings_(std::move(settings)),
        what_(call.what),
        input_(reinterpret_cast<T*>(call.input)),
        output_(reinterpret_cast<T*>(call.output)),
        in_place_(call.in_place()),
        in_(input_elements(what_, context_->size, context_->rank)),
        out_(output_elements(what_, context_->size, context_->rank)) {}

  std::function<void()> prepare() {
    switch (what_.collective) {
      case Collective::broadcast:
        return broadcast();
      case Collective::scatter:
        return scatter();
      case Collective::gather:
        return gather();
      case Collective::allgather:
        return allgather();
      case Collective::allgatherv:
        return allgatherv();
      case Collective::reduce:
        return reduce();
      case Collective::allreduce:
        return settings_.of_objects() ? allreduce_object() : allreduce();
      case Collective::reduce_scatter:
        return reduce_scatter();
      case Collective::alltoall:
        return alltoall();
      case Collective::alltoallv:
        return alltoallv();
      default:
        return barrier();
    }
  }

 private:
  [[nodiscard]] bool at_root() const { return context_->rank == what_.root; }
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(context_->size); }

  /// Lengths of the blocks to and from each rank, in the types that Gloo's functions need.
  template <class Count>
  [[nodiscard]] std::vector<Count> sent() const {
    std::vector<Count> counts(ranks());
    for (int r = 0; r < context_->size; ++r) {
      counts[static_cast<std::size_t>(r)] = static_cast<Count>(block(what_, context_->rank, r));
    }
    return counts;
  }
  template <class Count>
  [[nodiscard]] std::vector<Count> received() const {
    std::vector<Count> counts(ranks());
    for (int r = 0; r < context_->size; ++r) {
      counts[static_cast<std::size_t>(r)] = static_cast<Count>(block(what_, r, context_->rank));
    }
    return counts;
  }

  std::function<void()> broadcast() {
    auto options = std::make_shared<gloo::BroadcastOptions>(context_);
    if (at_root() && !in_place_) options->setInput(input_, what_.count);
    options->setOutput(output_, what_.count);
    options->setRoot(what_.root);
    return [options] { gloo::broadcast(*options); };
  }

  std::function<void()> scatter() {
    auto options = std::make_shared<gloo::ScatterOptions>(context_);
    if (at_root()) {
      std::vector<T*> blocks(ranks());
      for (std::size_t r = 0; r < ranks(); ++r) blocks[r] = input_ + r * what_.count;
      options->setInputs(blocks, what_.count);
    }
    options->setOutput(output_, what_.count);
    options->setRoot(what_.root);
    return [options] { gloo::scatter(*options); };
  }

  std::function<void()> gather() {
    auto options = std::make_shared<gloo::GatherOptions>(context_);
    options->setInput(input_, in_);
    if (at_root()) options->setOutput(output_, out_);
    options->setRoot(what_.root);
    return [options] { gloo::gather(*options); };
  }

  std::function<void()> allgather() {
    auto options = std::make_shared<gloo::AllgatherOptions>(context_);
    if (!in_place_) options->setInput(input_, in_);
    options->setOutput(output_, out_);
    return [options] { gloo::allgather(*options); };
  }

  std::function<void()> allgatherv() {
    auto options = std::make_shared<gloo::AllgathervOptions>(context_);
    options->setInput(input_, in_);
    options->setOutput(output_, received<std::size_t>());
    return [options] { gloo::allgatherv(*options); };
  }

  /// Every rank needs an output, at least as scratch.
  std::function<void()> reduce() {
    auto scratch = std::make_shared<std::vector<T>>(at_root() ? 0 : what_.count);
    auto options = std::make_shared<gloo::ReduceOptions>(context_);
    if (!in_place_) options->setInput(input_, what_.count);
    options->setOutput(at_root() || in_place_ ? output_ : scratch->data(), what_.count);
    options->setRoot(what_.root);
    options->setReduceFunction(fold<T>(what_.op));
    return [options, scratch] { gloo::reduce(*options); };
  }

  std::function<void()> allreduce() {
    auto options = std::make_shared<gloo::AllreduceOptions>(context_);
    if (!in_place_) options->setInput(input_, what_.count);
    options->setOutput(output_, what_.count);
    options->setReduceFunction(fold<T>(what_.op));
    options->setAlgorithm(settings_.algorithm == "bcube" ? gloo::AllreduceOptions::Algorithm::BCUBE
                                                         : gloo::AllreduceOptions::Algorithm::RING);
    return [options] { gloo::allreduce(*options); };
  }

  std::function<void()> allreduce_object() {
    const auto count = static_cast<int>(what_.count);
    const std::vector<T*> pointers{output_};
    std::shared_ptr<gloo::Algorithm> object;
    if (settings_.algorithm == "halving_doubling") {
      object = std::make_shared<gloo::AllreduceHalvingDoubling<T>>(context_, pointers, count,
                                                                   reduction<T>(what_.op));
    } else {
      object = std::make_shared<gloo::AllreduceRingChunked<T>>(context_, pointers, count,
                                                               reduction<T>(what_.op));
    }
    return in_place_ ? std::function<void()>([object] { object->run(); }) : copied(output_, object);
  }

  /// Out of place, an object that works in place needs a copy.
  std::function<void()> copied(T* work, std::shared_ptr<gloo::Algorithm> object) {
    return [object = std::move(object), from = input_, work, elements = in_] {
      std::copy_n(from, elements, work);
      object->run();
    };
  }

  /// The result is at the beginning of its input, so out of place needs two copies.
  std::function<void()> reduce_scatter() {
    auto scratch = std::make_shared<std::vector<T>>(in_place_ ? 0 : in_);
    T* const work = in_place_ ? output_ : scratch->data();
    auto object = std::make_shared<gloo::ReduceScatterHalvingDoubling<T>>(
        context_, std::vector<T*>{work}, static_cast<int>(in_), sent<int>(),
        reduction<T>(what_.op));
    if (in_place_) return [object] { object->run(); };
    return [run = copied(work, object), scratch, output = output_, elements = out_] {
      run();
      std::copy_n(scratch->data(), elements, output);
    };
  }

  std::function<void()> alltoall() {
    auto options = std::make_shared<gloo::AlltoallOptions>(context_);
    options->setInput(input_, in_);
    options->setOutput(output_, out_);
    return [options] { gloo::alltoall(*options); };
  }

  std::function<void()> alltoallv() {
    auto options = std::make_shared<gloo::AlltoallvOptions>(context_);
    options->setInput(input_, sent<std::int64_t>());
    options->setOutput(output_, received<std::int64_t>());
    return [options] { gloo::alltoallv(*options); };
  }

  std::function<void()> barrier() {
    auto options = std::make_shared<gloo::BarrierOptions>(context_);
    return [options] { gloo::barrier(*options); };
  }

  Context context_;
  Settings settings_;
  Case what_;
  T* input_;
  T* output_;
  bool in_place_;
  std::size_t in_;
  std::size_t out_;
};

template <class T>
std::function<void()> prepared(const Context& context, const Settings& settings, const Call& call) {
  return Preparation<T>(context, settings, call).prepare();
}

class Gloo final : public Peer {
 public:
  Gloo(Settings settings, int rank, const std::string& folder) : settings_(std::move(settings)) {
    gloo::transport::tcp::attr where("127.0.0.1");
    device_ = gloo::transport::tcp::CreateDevice(where);
    gloo::rendezvous::FileStore store(folder);
    data_ = connect(store, "data", rank);
    // Polled connections cannot sleep again, and functions cannot use them. So calls that are not
    // measured use other connections.
    aside_ = connect(store, "aside", rank);
    if (!settings_.sync_busy) return;
    for (int r = 0; r < settings_.ranks; ++r) {
      if (r != rank) data_->getPair(r)->setSync(true, true);
    }
  }

  [[nodiscard]] int rank() const override { return data_->rank; }
  [[nodiscard]] int ranks() const override { return data_->size; }
  [[nodiscard]] std::string library() const override { return "gloo"; }
  [[nodiscard]] std::string version() const override {
    return std::to_string(GLOO_VERSION_MAJOR) + "." + std::to_string(GLOO_VERSION_MINOR) + "." +
           std::to_string(GLOO_VERSION_PATCH);
  }

  [[nodiscard]] bool supports(const Case& c, bool in_place) const override {
    if (c.op > Op::max) return false;
    switch (c.collective) {
      case Collective::scatterv:
      case Collective::gatherv:
      // Gloo 0.5 has it, but if some blocks are empty it gives wrong sums among 3 ranks and hangs
      // among 4.
      case Collective::reduce_scatterv:
        return false;
      case Collective::broadcast:
      case Collective::reduce:
        return !settings_.sync_busy;
      case Collective::allgather:
        // Gloo 0.5 divides by the length: a signal on x86-64.
        return !settings_.sync_busy && c.count > 0;
      case Collective::allreduce:
        return !settings_.sync_busy || settings_.of_objects();
      case Collective::reduce_scatter:
        return true;
      default:
        return !settings_.sync_busy && !in_place;
    }
  }

  [[nodiscard]] std::function<void()> prepare(const Call& call) override {
    switch (call.what.dtype) {
      case DType::i8:
        return prepared<std::int8_t>(data_, settings_, call);
      case DType::u8:
        return prepared<std::uint8_t>(data_, settings_, call);
      case DType::i32:
        return prepared<std::int32_t>(data_, settings_, call);
      case DType::u32:
        return prepared<std::uint32_t>(data_, settings_, call);
      case DType::i64:
        return prepared<std::int64_t>(data_, settings_, call);
      case DType::u64:
        return prepared<std::uint64_t>(data_, settings_, call);
      case DType::f16:
        return prepared<gloo::float16>(data_, settings_, call);
      case DType::f32:
        return prepared<float>(data_, settings_, call);
      case DType::f64:
        return prepared<double>(data_, settings_, call);
    }
    throw std::logic_error("no such type");
  }

  void barrier() override {
    gloo::BarrierOptions options(aside_);
    gloo::barrier(options);
  }

  void maximum(std::span<double> numbers) override {
    gloo::AllreduceOptions options(aside_);
    options.setOutput(numbers.data(), numbers.size());
    options.setReduceFunction(fold<double>(Op::max));
    gloo::allreduce(options);
  }

  void share(std::span<char> bytes) override {
    gloo::BroadcastOptions options(aside_);
    options.setOutput(bytes.data(), bytes.size());
    options.setRoot(0);
    gloo::broadcast(options);
  }

 private:
  Context connect(gloo::rendezvous::FileStore& store, const std::string& prefix, int rank) {
    gloo::rendezvous::PrefixStore own(prefix, store);
    auto context = std::make_shared<gloo::rendezvous::Context>(rank, settings_.ranks);
    context->connectFullMesh(own, device_);
    return context;
  }

  Settings settings_;
  std::shared_ptr<gloo::transport::Device> device_;
  Context data_;
  Context aside_;
};

/// Removes Gloo's own settings from the arguments.
Settings take_settings(std::vector<std::string>& arguments) {
  Settings settings;
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool has_value = i + 1 < arguments.size();
    if (arguments[i] == "--ranks" && has_value) {
      settings.ranks = std::atoi(arguments[++i].c_str());
    } else if (arguments[i] == "--algorithm" && has_value) {
      settings.algorithm = arguments[++i];
    } else if (arguments[i] == "--sync-busy") {
      settings.sync_busy = true;
    } else {
      rest.push_back(arguments[i]);
    }
  }
  if (settings.ranks < 1 || settings.ranks > 64) throw std::invalid_argument("1 to 64 ranks");
  if (std::find(algorithms.begin(), algorithms.end(), settings.algorithm) == algorithms.end()) {
    throw std::invalid_argument("algorithms: ring bcube ring_chunked halving_doubling");
  }
  arguments = rest;
  return settings;
}

int be(int rank, const Settings& settings, const std::string& folder,
       const std::vector<std::string>& arguments) {
  try {
    Gloo gloo(settings, rank, folder);
    const int status = run_program(gloo, arguments);
    gloo.barrier();
    return status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  Settings settings;
  try {
    settings = take_settings(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\nusage: gloo [--ranks P] [--algorithm A] [--sync-busy] and one of\n%s",
                 error.what(), usage);
    return 2;
  }
  std::string folder = "/tmp/peers.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return std::perror("gloo: mkdtemp"), 1;
  const int status =
      run_forked(settings.ranks, [&](int rank) { return be(rank, settings, folder, arguments); });
  std::filesystem::remove_all(folder);
  return status;
}
