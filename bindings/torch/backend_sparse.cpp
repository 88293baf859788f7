#include <ATen/ATen.h>

#include "backend.hpp"
#include "collective_call.hpp"
#include "conversion.hpp"
#include "failure.hpp"

// The sum of sparse tensors: every rank gets the indices and values of all ranks and adds them.

namespace tutti_torch {
namespace {

constexpr const char* name = "all_reduce of sparse tensors";

struct SparseSum {
  tuttiComm_t comm;
  std::chrono::milliseconds timeout;
  std::size_t ranks;

  /// The first dimension of each rank's part becomes the concatenation of all.
  [[nodiscard]] at::Tensor all_gather(const at::Tensor& own,
                                      const std::vector<int64_t>& rows) const {
    const at::Tensor block = own.contiguous();
    std::vector<int64_t> shape = block.sizes().vec();
    shape[0] = 0;
    for (const int64_t each : rows) shape[0] += each;
    at::Tensor all = at::empty(shape, block.options());
    int64_t row = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) row *= shape[i];
    const Element element = element_of(block.scalar_type());
    std::vector<std::size_t> counts;
    for (const int64_t each : rows) {
      counts.push_back(static_cast<std::size_t>(each * row) * element.factor);
    }
    char nothing = 0;
    tuttiCall_t call = collective_call(tuttiCollAllGather, timeout);
    call.datatype = element.type;
    call.sendbuff = block.numel() > 0 ? block.data_ptr() : &nothing;
    call.recvbuff = all.numel() > 0 ? all.data_ptr() : &nothing;
    call.counts = counts.data();
    run(call, comm, name);
    return all;
  }

  [[nodiscard]] at::Tensor operator()(const at::Tensor& given) const {
    const at::Tensor own = given.coalesce().cpu();
    const at::Tensor indices = own.indices().t();  // One row for each element.
    const at::Tensor values = own.values();
    // Ranks must have the same shape; the number of elements may differ.
    std::vector<int64_t> facts{own.sparse_dim(), own.dense_dim(), values.size(0)};
    for (const int64_t each : own.sizes()) facts.push_back(each);
    const auto fact_count = static_cast<int64_t>(facts.size());
    const at::Tensor mine = at::tensor(facts, at::kLong).unsqueeze(0);
    const at::Tensor all = all_gather(mine, std::vector<int64_t>(ranks, 1));
    std::vector<int64_t> rows;
    const auto* const table = all.const_data_ptr<int64_t>();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const int64_t* const theirs = table + static_cast<int64_t>(rank) * fact_count;
      for (int64_t i = 0; i < fact_count; ++i) {
        if (i == 2 || theirs[i] == facts[static_cast<std::size_t>(i)]) continue;
        refuse(name, "rank " + std::to_string(rank) +
                         " has a tensor of another shape or another number of sparse dimensions");
      }
      rows.push_back(theirs[2]);
    }
    const at::Tensor all_indices = all_gather(indices, rows).t();
    const at::Tensor all_values = all_gather(values, rows);
    return at::sparse_coo_tensor(all_indices, all_values, own.sizes()).coalesce();
  }
};

}  // namespace

Backend::WorkPointer Backend::allreduce_sparse(Tensors& tensors,
                                               const c10d::AllreduceOptions& opts) {
  if (tensors.size() != 1) refuse(name, "one tensor per rank is expected");
  const at::Tensor& tensor = tensors.front();
  if (!tensor.defined() || tensor.layout() != at::kSparse) {
    refuse(name, "the tensor is not sparse in the COO layout");
  }
  refuse_leaf(tensor, name);
  const bool averages = opts.reduceOp.op_ == c10d::ReduceOp::AVG;
  if (opts.reduceOp.op_ != c10d::ReduceOp::SUM && !averages) {
    refuse(name, "only SUM and AVG are supported");
  }
  Launch launch = launch_of(c10d::OpType::_ALLREDUCE_SPARSE, "tutti:sparse_all_reduce", opts);
  launch.result = tensors;
  const std::chrono::milliseconds timeout = launch.timeout;
  return start(std::move(launch), [tensor, averages, timeout, size = size_](tuttiComm_t comm) {
    at::Tensor sum = SparseSum{
        .comm = comm, .timeout = timeout, .ranks = static_cast<std::size_t>(size)}(tensor);
    if (averages) sum = sum / size;
    tensor.copy_(sum);
  });
}

}  // namespace tutti_torch
