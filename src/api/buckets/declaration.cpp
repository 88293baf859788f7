#include "api/buckets/declaration.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include <tutti/schedule/proved_schedule.hpp>

#include "core/hash.hpp"

namespace tutti {
namespace {

class Hash {
 public:
  void add(std::uint64_t word) { value_ = mixed(value_, word); }
  void add(std::string_view text) { add(hash_of(text)); }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

/// The declaration of a rank, as sent to the others.
struct Summary {
  std::uint64_t is_possible = 0;
  std::uint64_t tensors = 0;
  std::uint64_t tensor_hash = 0;
  std::uint64_t bucket_bytes = 0;
  std::uint64_t first_bucket_bytes = 0;
  std::uint64_t reduction = 0;
  std::uint64_t call_hash = 0;  ///< Of algorithm, shape, schedule and level.
};

/// A tensor without its address.
struct Form {
  std::uint64_t count = 0;
  std::uint64_t dtype = 0;

  friend bool operator==(const Form&, const Form&) = default;
};

constexpr std::uint64_t callers_own = 255;  // A user-defined reduction.

std::uint64_t number_of(const Reduction& reduction) {
  return reduction.combine() != nullptr ? callers_own : static_cast<std::uint64_t>(reduction.op());
}
std::string words_of(std::uint64_t reduction) {
  return reduction == callers_own ? "a user-defined function"
                                  : std::string(name(static_cast<Op>(reduction)));
}
std::string words(const Form& form) {
  return std::to_string(form.count) + " × " + std::string(name(static_cast<DType>(form.dtype)));
}

std::vector<Form> forms_of(std::span<const Tensor> tensors) {
  std::vector<Form> forms;
  forms.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    forms.push_back({.count = tensor.count, .dtype = static_cast<std::uint64_t>(tensor.dtype)});
  }
  return forms;
}

Summary summary_of(const std::vector<Form>& forms, const BucketOptions& options, bool is_possible) {
  Hash tensors;
  for (const Form& form : forms) {
    tensors.add(form.count);
    tensors.add(form.dtype);
  }
  Hash call;
  call.add(options.call.algorithm);
  call.add(options.call.schedule == nullptr ? 0 : options.call.schedule->hash());
  for (const std::uint32_t dimension : options.call.shape.dimensions) call.add(dimension);
  call.add(static_cast<std::uint64_t>(options.call.reproducible));
  return {.is_possible = is_possible ? 1U : 0U,
          .tensors = forms.size(),
          .tensor_hash = tensors.value(),
          .bucket_bytes = options.bucket_bytes,
          .first_bucket_bytes = options.first_bucket_bytes,
          .reduction = number_of(options.reduction),
          .call_hash = call.value()};
}

std::string overlap_among(std::span<const Tensor> tensors) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].data != nullptr && tensors[i].count > 0) order.push_back(i);
  }
  const auto begin = [&](std::size_t i) { return static_cast<std::byte*>(tensors[i].data); };
  std::ranges::sort(order, std::less<>(), begin);
  for (std::size_t k = 1; k < order.size(); ++k) {
    const std::size_t one = order[k - 1];
    if (begin(one) + tensors[one].bytes() <= begin(order[k])) continue;
    return "tensors " + std::to_string(std::min(one, order[k])) + " and " +
           std::to_string(std::max(one, order[k])) + " share memory: each must have its own";
  }
  return "";
}

/// Returns why this rank's own declaration is invalid; empty if it is valid.
std::string fault_of(std::span<const Tensor> tensors, const BucketOptions& options) {
  if (tensors.size() > std::numeric_limits<std::uint32_t>::max()) return "too many tensors";
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    // Far from overflow even as a sum over many tensors.
    if (tensor.count > (1ULL << 48)) {
      return "tensor " + std::to_string(i) + " cannot have " + std::to_string(tensor.count) +
             " elements";
    }
    if (options.reduction.combine() == nullptr && !applies(options.reduction.op(), tensor.dtype)) {
      const Op op = options.reduction.op();
      return std::string(name(op)) + " is for " + std::string(domain(op)) + ", but tensor " +
             std::to_string(i) + " is " + std::string(name(tensor.dtype));
    }
  }
  return overlap_among(tensors);
}

[[noreturn]] void disagree(std::size_t rank, const std::string& its, const std::string& rank_0s) {
  throw Error(ErrorCode::mismatch, "Bucketer: rank " + std::to_string(rank) + " has " + its +
                                       ", but rank 0 has " + rank_0s +
                                       ": all ranks must declare the same");
}

void compare_options(std::size_t rank, const Summary& summary, const Summary& first) {
  const auto same = [&](std::uint64_t its, std::uint64_t rank_0s, const std::string& what) {
    if (its != rank_0s) disagree(rank, what + std::to_string(its), std::to_string(rank_0s));
  };
  same(summary.bucket_bytes, first.bucket_bytes, "bucket_bytes = ");
  same(summary.first_bucket_bytes, first.first_bucket_bytes, "first_bucket_bytes = ");
  if (summary.reduction != first.reduction) {
    disagree(rank, "the reduction " + words_of(summary.reduction), words_of(first.reduction));
  }
  if (summary.call_hash != first.call_hash) {
    disagree(rank, "an algorithm, schedule, shape or level", "a different one");
  }
  if (summary.tensors != first.tensors) {
    disagree(rank, std::to_string(summary.tensors) + " tensors", std::to_string(first.tensors));
  }
}

/// Throws an error that names the first tensor that differs. Only the list of rank 0 is sent, since
/// lists may be long.
[[noreturn]] void name_tensor(Communicator& communicator, std::vector<Form> forms) {
  const std::vector<Form> own = forms;
  communicator.broadcast(forms, 0);
  const auto at = static_cast<std::uint64_t>(std::ranges::mismatch(own, forms).in1 - own.begin());
  struct Difference {
    std::uint64_t tensor = 0;
    Form form{};
  };
  const Difference mine{.tensor = at, .form = at < own.size() ? own[at] : Form{}};
  std::vector<Difference> all(communicator.size());
  communicator.all_gather(std::span(&mine, 1), all);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto& [tensor, form] = all[rank];
    if (tensor >= forms.size()) continue;
    disagree(rank, "tensor " + std::to_string(tensor) + " of " + words(form), words(forms[tensor]));
  }
  throw Error(ErrorCode::internal, "Bucketer: equal declarations have different hashes");
}

}  // namespace

void agree_on_declaration(Communicator& communicator, std::span<const Tensor> tensors,
                          const BucketOptions& options) {
  const std::string fault = fault_of(tensors, options);
  const std::vector<Form> forms = forms_of(tensors);
  const Summary mine = summary_of(forms, options, fault.empty());
  std::vector<Summary> summaries(communicator.size());
  communicator.all_gather(std::span(&mine, 1), summaries);
  if (!fault.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "rank " + std::to_string(communicator.rank()) + ": Bucketer: " + fault);
  }
  for (std::size_t rank = 0; rank < summaries.size(); ++rank) {
    if (summaries[rank].is_possible == 0) {
      throw Error(ErrorCode::mismatch, "Bucketer: rank " + std::to_string(rank) +
                                           " made an invalid declaration; see its own error");
    }
    compare_options(rank, summaries[rank], summaries.front());
  }
  const bool same = std::ranges::all_of(
      summaries, [&](const Summary& summary) { return summary.tensor_hash == mine.tensor_hash; });
  if (!same) name_tensor(communicator, forms);
}

}  // namespace tutti
