#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include <tutti/bucketer.hpp>
#include <tutti/schedule/proved_schedule.hpp>

#include "api/buckets/bucket_plan.hpp"
#include "api/buckets/declaration.hpp"
#include "api/call/scratch_memory.hpp"

namespace tutti {
namespace {

ErrorCode code_of(const std::exception& exception) {
  const auto* const error = dynamic_cast<const Error*>(&exception);
  return error != nullptr ? error->code() : ErrorCode::internal;
}

/// Reverses each bucket whose tensors are contiguous on all ranks only in reverse order, so that it
/// can be reduced in place.
void reverse_backward_buckets(Communicator& communicator, BucketPlan& plan,
                              std::span<const Tensor> tensors) {
  std::vector<std::uint8_t> ways;
  for (const Bucket& bucket : plan.buckets) {
    ways.push_back(static_cast<std::uint8_t>(adjacency(bucket, tensors)));
  }
  communicator.all_reduce(ways, Op::band);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (static_cast<Contiguity>(ways[i]) == Contiguity::backward) reverse(plan, i, tensors);
  }
}

}  // namespace

class Bucketer::Impl {
 public:
  Impl(Communicator& communicator, std::span<const Tensor> tensors, const BucketOptions& options);

  void ready(std::size_t tensor);
  [[nodiscard]] bool test(std::size_t tensor) const;
  void wait(std::size_t tensor);
  void finish();

  [[nodiscard]] void* data(std::size_t tensor) const;
  [[nodiscard]] BucketerState state() const { return state_; }
  [[nodiscard]] std::size_t tensors() const { return tensors_.size(); }
  [[nodiscard]] std::size_t buckets() const { return plan_.buckets.size(); }
  [[nodiscard]] const BucketPlace& place(std::size_t tensor) const;
  [[nodiscard]] const BucketerCounters& counters() const { return counters_; }
  [[nodiscard]] Counters traffic() const { return communicator_.counters(Collective::allreduce); }
  [[nodiscard]] std::string description() const;

 private:
  enum class Progress : std::uint8_t { awaited, ready, back };
  /// A bucket in the current step.
  struct Flight {
    std::byte* data = nullptr;
    std::shared_ptr<std::byte> memory{};  ///< Null if the tensors are reduced in place.
    std::size_t awaited = 0;              ///< Tensors that are not ready.
    Work work{};
  };

  void find_memory();
  [[nodiscard]] bool is_copied(std::size_t tensor) const;
  [[nodiscard]] std::byte* in_bucket(std::size_t tensor) const;
  void start_complete_buckets();
  void wait_for_bucket(std::size_t bucket);
  void copy_back(std::size_t tensor);
  void reset_step();
  [[noreturn]] void fail(std::size_t bucket, ErrorCode code, std::string what);
  void require_usable() const;
  [[nodiscard]] Error mistake(const std::string& what) const;

  std::vector<Tensor> tensors_;
  BucketPlan plan_;
  // options_ points to these three.
  std::string algorithm_;
  std::optional<ProvedSchedule> schedule_;
  std::string site_;
  CallOptions options_;
  Reduction reduction_;
  std::vector<Progress> progress_;  // By tensor.
  std::vector<Flight> flights_;     // By bucket.
  std::size_t ready_ = 0;           // Number of ready tensors.
  std::size_t started_ = 0;         // Number of started buckets.
  BucketerState state_ = BucketerState::idle;
  std::string failure_;
  BucketerCounters counters_;
  // Destroyed first: its destructor waits for the calls that use the memory above.
  Communicator communicator_;
};

Bucketer::Impl::Impl(Communicator& communicator, std::span<const Tensor> tensors,
                     const BucketOptions& options)
    : tensors_(tensors.begin(), tensors.end()),
      algorithm_(options.call.algorithm),
      site_(options.call.site),
      options_(options.call),
      reduction_(options.reduction),
      communicator_(communicator.duplicate()) {
  if (options.call.schedule != nullptr) schedule_ = *options.call.schedule;
  options_.algorithm = algorithm_;
  options_.schedule = schedule_ ? &*schedule_ : nullptr;
  options_.site = site_;
  agree_on_declaration(communicator_, tensors_, options);
  plan_ = plan_buckets(tensors_,
                       {.first_bytes = options.first_bucket_bytes, .bytes = options.bucket_bytes});
  reverse_backward_buckets(communicator_, plan_, tensors_);
  progress_.resize(tensors_.size());
  flights_.resize(plan_.buckets.size());
  find_memory();
  reset_step();
}

void Bucketer::Impl::find_memory() {
  for (std::size_t i = 0; i < flights_.size(); ++i) {
    const Bucket& bucket = plan_.buckets[i];
    Flight& flight = flights_[i];
    const auto way = static_cast<std::uint8_t>(adjacency(bucket, tensors_));
    if ((way & static_cast<std::uint8_t>(Contiguity::forward)) != 0) {
      const auto first = std::ranges::find_if(
          bucket.tensors, [&](std::uint32_t tensor) { return tensors_[tensor].count > 0; });
      if (first != bucket.tensors.end()) {
        flight.data = static_cast<std::byte*>(tensors_[*first].data);
      }
    } else {
      flight.memory = scratch_memory(bucket.bytes());
      flight.data = flight.memory.get();
    }
  }
}

// A step ----------------------------------------------------------------------------------------

void Bucketer::Impl::ready(std::size_t tensor) {
  require_usable();
  Flight& flight = flights_[place(tensor).bucket];
  if (progress_[tensor] != Progress::awaited) {
    throw mistake("tensor " + std::to_string(tensor) +
                  " is ready already in this step; finish() ends the step");
  }
  if (is_copied(tensor)) {
    std::memcpy(in_bucket(tensor), tensors_[tensor].data, tensors_[tensor].bytes());
    counters_.bytes_copied_in += tensors_[tensor].bytes();
  }
  progress_[tensor] = Progress::ready;
  state_ = BucketerState::in_step;
  ++ready_;
  --flight.awaited;
  start_complete_buckets();
}

void Bucketer::Impl::start_complete_buckets() {
  while (started_ < flights_.size() && flights_[started_].awaited == 0) {
    Flight& flight = flights_[started_];
    const Bucket& bucket = plan_.buckets[started_];
    try {
      flight.work = communicator_.start({.collective = Collective::allreduce,
                                         .input = flight.data,
                                         .output = flight.data,
                                         .count = bucket.count,
                                         .dtype = bucket.dtype,
                                         .reduction = reduction_,
                                         .options = options_});
    } catch (const std::exception& error) {
      fail(started_, code_of(error), error.what());
    }
    ++started_;
    ++counters_.allreduces;
  }
}

bool Bucketer::Impl::test(std::size_t tensor) const {
  const std::size_t bucket = place(tensor).bucket;
  return bucket < started_ && flights_[bucket].work.test();
}

void Bucketer::Impl::wait(std::size_t tensor) {
  require_usable();
  const std::size_t bucket = place(tensor).bucket;
  if (bucket >= started_) {
    const std::vector<std::uint32_t>& needed = plan_.buckets[started_].tensors;
    const auto missing = std::ranges::find_if(
        needed, [&](std::uint32_t each) { return progress_[each] == Progress::awaited; });
    throw mistake("tensor " + std::to_string(tensor) + " in bucket " + std::to_string(bucket) +
                  " has no result before tensor " + std::to_string(*missing) + " in bucket " +
                  std::to_string(started_) + " is ready");
  }
  wait_for_bucket(bucket);
  copy_back(tensor);
}

void Bucketer::Impl::finish() {
  require_usable();
  if (ready_ < tensors_.size()) {
    std::string names;
    std::size_t named = 0;
    for (std::size_t i = 0; i < tensors_.size() && named < 8; ++i) {
      if (progress_[i] == Progress::awaited) names += (named++ > 0 ? ", " : "") + std::to_string(i);
    }
    const std::size_t missing = tensors_.size() - ready_;
    throw mistake(std::to_string(missing) + " of " + std::to_string(tensors_.size()) +
                  " tensors are not ready: " + names + (missing > named ? ", …" : "") +
                  "; make them ready and call finish() again");
  }
  for (std::size_t i = 0; i < flights_.size(); ++i) {
    wait_for_bucket(i);
    for (const std::uint32_t tensor : plan_.buckets[i].tensors) copy_back(tensor);
  }
  reset_step();
  ++counters_.steps;
}

void Bucketer::Impl::wait_for_bucket(std::size_t bucket) {
  try {
    flights_[bucket].work.wait();
  } catch (const std::exception& error) {
    fail(bucket, code_of(error), error.what());
  }
}

void Bucketer::Impl::copy_back(std::size_t tensor) {
  if (progress_[tensor] == Progress::back) return;
  if (is_copied(tensor)) {
    std::memcpy(tensors_[tensor].data, in_bucket(tensor), tensors_[tensor].bytes());
    counters_.bytes_copied_out += tensors_[tensor].bytes();
  }
  progress_[tensor] = Progress::back;
}

void Bucketer::Impl::reset_step() {
  std::ranges::fill(progress_, Progress::awaited);
  for (std::size_t i = 0; i < flights_.size(); ++i) {
    flights_[i].awaited = plan_.buckets[i].tensors.size();
    flights_[i].work = {};
  }
  ready_ = 0;
  started_ = 0;
  state_ = BucketerState::idle;
}

// Errors ----------------------------------------------------------------------------------------

/// Throws the failure of the earliest bucket, which caused the later ones, whichever was found
/// first.
void Bucketer::Impl::fail(std::size_t bucket, ErrorCode code, std::string what) {
  for (std::size_t i = 0; i < started_; ++i) {
    try {
      flights_[i].work.wait();
    } catch (const std::exception& error) {
      if (i >= bucket) continue;
      bucket = i;
      code = code_of(error);
      what = error.what();
    }
  }
  const auto [first, last] = std::ranges::minmax(plan_.buckets[bucket].tensors);
  failure_ = "Bucketer: bucket " + std::to_string(bucket) + " of " +
             std::to_string(flights_.size()) + " (tensors " + std::to_string(first) + " … " +
             std::to_string(last) + "): " + what;
  state_ = BucketerState::failed;
  throw Error(code, failure_);
}

void Bucketer::Impl::require_usable() const {
  if (state_ != BucketerState::failed) return;
  throw Error(ErrorCode::aborted, "this Bucketer can no longer be used, since a call failed (" +
                                      failure_ + "); make a new one");
}

Error Bucketer::Impl::mistake(const std::string& what) const {
  return {ErrorCode::invalid_argument,
          "rank " + std::to_string(communicator_.rank()) + ": Bucketer: " + what};
}

// Places ----------------------------------------------------------------------------------------

const BucketPlace& Bucketer::Impl::place(std::size_t tensor) const {
  if (tensor < tensors_.size()) return plan_.places[tensor];
  throw mistake("there is no tensor " + std::to_string(tensor) + " among " +
                std::to_string(tensors_.size()));
}

bool Bucketer::Impl::is_copied(std::size_t tensor) const {
  return flights_[plan_.places[tensor].bucket].memory != nullptr &&
         tensors_[tensor].data != nullptr && tensors_[tensor].count > 0;
}

std::byte* Bucketer::Impl::in_bucket(std::size_t tensor) const {
  const BucketPlace& at = plan_.places[tensor];
  return flights_[at.bucket].data + at.offset;
}

void* Bucketer::Impl::data(std::size_t tensor) const {
  (void)place(tensor);
  return tensors_[tensor].data != nullptr ? tensors_[tensor].data : in_bucket(tensor);
}

std::string Bucketer::Impl::description() const {
  std::size_t copied = 0;
  for (std::size_t i = 0; i < flights_.size(); ++i) {
    const std::vector<std::uint32_t>& tensors = plan_.buckets[i].tensors;
    if (std::ranges::any_of(tensors, [&](std::uint32_t each) { return is_copied(each); })) ++copied;
  }
  return std::to_string(tensors_.size()) + " tensors in " + std::to_string(flights_.size()) +
         " buckets, " + std::to_string(flights_.size() - copied) + " of them in place, " +
         std::to_string(copied) + " copied";
}

// Public functions ------------------------------------------------------------------------------

std::string_view name(BucketerState state) {
  switch (state) {
    case BucketerState::idle:
      return "idle";
    case BucketerState::in_step:
      return "in_step";
    case BucketerState::failed:
      break;
  }
  return "failed";
}

namespace {

Bucketer::Impl& made(const std::unique_ptr<Bucketer::Impl>& impl) {
  if (impl) return *impl;
  throw Error(ErrorCode::invalid_argument,
              "this Bucketer was moved from: use the one that it was moved to");
}

}  // namespace

Bucketer::Bucketer(Communicator& communicator, std::span<const Tensor> tensors,
                   const BucketOptions& options)
    : impl_(std::make_unique<Impl>(communicator, tensors, options)) {}
Bucketer::Bucketer(Bucketer&&) noexcept = default;
Bucketer& Bucketer::operator=(Bucketer&&) noexcept = default;
Bucketer::~Bucketer() = default;

void Bucketer::ready(std::size_t tensor) { made(impl_).ready(tensor); }
bool Bucketer::test(std::size_t tensor) const { return made(impl_).test(tensor); }
void Bucketer::wait(std::size_t tensor) { made(impl_).wait(tensor); }
void Bucketer::finish() { made(impl_).finish(); }
void* Bucketer::data(std::size_t tensor) const { return made(impl_).data(tensor); }
BucketerState Bucketer::state() const { return made(impl_).state(); }
std::size_t Bucketer::tensors() const { return made(impl_).tensors(); }
std::size_t Bucketer::buckets() const { return made(impl_).buckets(); }
std::size_t Bucketer::bucket_of(std::size_t tensor) const {
  return made(impl_).place(tensor).bucket;
}
const BucketerCounters& Bucketer::counters() const { return made(impl_).counters(); }
Counters Bucketer::traffic() const { return made(impl_).traffic(); }
std::string Bucketer::description() const { return made(impl_).description(); }

}  // namespace tutti
