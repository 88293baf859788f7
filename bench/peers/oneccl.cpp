// The collectives of oneCCL between processes that Intel MPI's mpiexec starts. CCL_ATL_TRANSPORT
// says whether they travel through MPI or libfabric.
#include <mpi.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <oneapi/ccl.hpp>

#include "peers/mpi_peer.hpp"

namespace {

using namespace peers;

ccl::datatype datatype(DType dtype) {
  switch (dtype) {
    case DType::i8:
      return ccl::datatype::int8;
    case DType::u8:
      return ccl::datatype::uint8;
    case DType::i32:
      return ccl::datatype::int32;
    case DType::u32:
      return ccl::datatype::uint32;
    case DType::i64:
      return ccl::datatype::int64;
    case DType::u64:
      return ccl::datatype::uint64;
    case DType::f16:
      return ccl::datatype::float16;
    case DType::f32:
      return ccl::datatype::float32;
    case DType::f64:
      return ccl::datatype::float64;
  }
  throw std::logic_error("no such type");
}

ccl::reduction reduction(Op op) {
  switch (op) {
    case Op::sum:
      return ccl::reduction::sum;
    case Op::prod:
      return ccl::reduction::prod;
    case Op::min:
      return ccl::reduction::min;
    case Op::max:
      return ccl::reduction::max;
    default:
      return ccl::reduction::none;
  }
}

/// The arguments of all calls, in oneCCL's types.
struct Arguments {
  Collective collective{};
  void* input{};
  void* output{};
  std::size_t count{};
  ccl::datatype type{};
  ccl::reduction op{};
  int root{};
  std::size_t own{};  ///< Elements of this rank's block, if blocks differ.
  std::vector<std::size_t> sent;
  std::vector<std::size_t> received;
};

Arguments arguments(const Call& call, int ranks, int rank) {
  const Case& c = call.what;
  Arguments a{.collective = c.collective,
              .input = call.input,
              .output = call.output,
              .count = c.count,
              .type = datatype(c.dtype),
              .op = reduction(c.op),
              .root = c.root,
              .own = block(c, rank, rank),
              .sent = {},
              .received = {}};
  for (int other = 0; other < ranks; ++other) {
    a.sent.push_back(block(c, rank, other));
    a.received.push_back(block(c, other, rank));
  }
  return a;
}

/// Attributes of calls whose schedule is made once and kept, which is faster than in most programs
/// that use oneCCL.
template <class Attributes>
Attributes kept(const std::string& name) {
  return ccl::create_operation_attr<Attributes>(
      ccl::attr_val<ccl::operation_attr_id::match_id>(ccl::string_class(name)),
      ccl::attr_val<ccl::operation_attr_id::to_cache>(true));
}

class OneCcl final : public MpiPeer {
 public:
  OneCcl() : comm_(connect()) {}

  [[nodiscard]] std::string library() const override { return "oneccl"; }
  [[nodiscard]] std::string version() const override {
    return std::to_string(CCL_MAJOR_VERSION) + "." + std::to_string(CCL_MINOR_VERSION) + "." +
           std::to_string(CCL_UPDATE_VERSION);
  }

  /// In place only where the result of such a call is checked.
  [[nodiscard]] bool supports(const Case& c, bool in_place) const override {
    if (c.op > Op::max) return false;
    switch (c.collective) {
      case Collective::scatterv:
      case Collective::gatherv:
      case Collective::reduce_scatterv:
        return false;
      case Collective::broadcast:
      case Collective::reduce:
      case Collective::allreduce:
        return true;
      default:
        return !in_place;
    }
  }

  [[nodiscard]] std::function<void()> prepare(const Call& call) override {
    const Arguments a = arguments(call, ranks(), rank());
    const std::string name = std::to_string(++prepared_);
    switch (a.collective) {
      case Collective::broadcast:
        return [this, a, attributes = kept<ccl::broadcast_attr>(name)] {
          ccl::broadcast(a.input, a.output, a.count, a.type, a.root, comm_, attributes).wait();
        };
      case Collective::scatter:
        return [this, a, attributes = kept<ccl::scatter_attr>(name)] {
          ccl::scatter(a.input, a.output, a.count, a.type, a.root, comm_, attributes).wait();
        };
      case Collective::gather:
        return [this, a, attributes = kept<ccl::gather_attr>(name)] {
          ccl::gather(a.input, a.output, a.count, a.type, a.root, comm_, attributes).wait();
        };
      case Collective::allgather:
        return [this, a, attributes = kept<ccl::allgather_attr>(name)] {
          ccl::allgather(a.input, a.output, a.count, a.type, comm_, attributes).wait();
        };
      case Collective::allgatherv:
        return [this, a, attributes = kept<ccl::allgatherv_attr>(name)] {
          ccl::allgatherv(a.input, a.own, a.output, a.received, a.type, comm_, attributes).wait();
        };
      case Collective::reduce:
        return [this, a, attributes = kept<ccl::reduce_attr>(name)] {
          ccl::reduce(a.input, a.output, a.count, a.type, a.op, a.root, comm_, attributes).wait();
        };
      case Collective::allreduce:
        return [this, a, attributes = kept<ccl::allreduce_attr>(name)] {
          ccl::allreduce(a.input, a.output, a.count, a.type, a.op, comm_, attributes).wait();
        };
      case Collective::reduce_scatter:
        return [this, a, attributes = kept<ccl::reduce_scatter_attr>(name)] {
          ccl::reduce_scatter(a.input, a.output, a.count, a.type, a.op, comm_, attributes).wait();
        };
      case Collective::alltoall:
        return [this, a, attributes = kept<ccl::alltoall_attr>(name)] {
          ccl::alltoall(a.input, a.output, a.count, a.type, comm_, attributes).wait();
        };
      case Collective::alltoallv:
        return [this, a, attributes = kept<ccl::alltoallv_attr>(name)] {
          ccl::alltoallv(a.input, a.sent, a.output, a.received, a.type, comm_, attributes).wait();
        };
      default:
        return [this] { ccl::barrier(comm_).wait(); };
    }
  }

 private:
  /// Rank 0 makes the store through which ranks exchange their addresses.
  ccl::communicator connect() {
    ccl::kvs::address_type address{};
    if (rank() == 0) {
      store_ = ccl::create_main_kvs();
      address = store_->get_address();
    }
    share(address);
    if (rank() != 0) store_ = ccl::create_kvs(address);
    return ccl::create_communicator(ranks(), rank(), store_);
  }

  ccl::shared_ptr_class<ccl::kvs> store_;
  ccl::communicator comm_;
  std::size_t prepared_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  ccl::init();
  return run_under_mpi<OneCcl>(argc, argv);
}
