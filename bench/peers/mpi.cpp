// The collectives of an MPI library; built once with each installed one. Its launcher (mpirun,
// mpiexec) sets the number of ranks and the library's settings.
#include <mpi.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "peers/mpi_peer.hpp"

namespace {

using namespace peers;

MPI_Datatype datatype(DType dtype) {
  switch (dtype) {
    case DType::i8:
      return MPI_INT8_T;
    case DType::u8:
      return MPI_UINT8_T;
    case DType::i32:
      return MPI_INT32_T;
    case DType::u32:
      return MPI_UINT32_T;
    case DType::i64:
      return MPI_INT64_T;
    case DType::u64:
      return MPI_UINT64_T;
    case DType::f32:
      return MPI_FLOAT;
    case DType::f64:
      return MPI_DOUBLE;
    case DType::f16:
      break;
  }
  throw std::logic_error("MPI has no f16");
}

MPI_Op operation(Op op) {
  switch (op) {
    case Op::none:
      return MPI_OP_NULL;
    case Op::sum:
      return MPI_SUM;
    case Op::prod:
      return MPI_PROD;
    case Op::min:
      return MPI_MIN;
    case Op::max:
      return MPI_MAX;
    case Op::band:
      return MPI_BAND;
    case Op::bor:
      return MPI_BOR;
    case Op::bxor:
      return MPI_BXOR;
  }
  return MPI_OP_NULL;
}

/// MPICH 4.0 compares unsigned numbers as if they were signed: the minimum of 5 and 200 is 200.
bool faulty([[maybe_unused]] const Case& c) {
#if defined(OPEN_MPI) || defined(I_MPI_VERSION)
  return false;
#else
  const bool is_unsigned = c.dtype == DType::u8 || c.dtype == DType::u32 || c.dtype == DType::u64;
  return is_unsigned && (c.op == Op::min || c.op == Op::max);
#endif
}

/// Lengths and offsets of blocks, in MPI's types.
struct Blocks {
  std::vector<int> counts;
  std::vector<int> begins;

  void append(std::size_t elements) {
    begins.push_back(counts.empty() ? 0 : begins.back() + counts.back());
    counts.push_back(static_cast<int>(elements));
  }
};

/// The common arguments of all calls, in MPI's types.
struct Arguments {
  Collective collective{};
  void* input{};
  void* output{};
  bool in_place{};
  bool at_root{};
  int root{};
  int count{};
  MPI_Datatype type{};
  MPI_Op op{};
  Blocks sent;
  Blocks received;

  [[nodiscard]] void* input_or_in_place(bool here = true) const {
    return in_place && here ? MPI_IN_PLACE : input;
  }
};

Arguments arguments(const Call& call, int ranks, int rank) {
  const Case& c = call.what;
  Arguments a{.collective = c.collective,
              .input = call.input,
              .output = call.output,
              .in_place = call.in_place(),
              .at_root = c.root == rank,
              .root = c.root,
              .count = static_cast<int>(c.count),
              .type = datatype(c.dtype),
              .op = operation(c.op),
              .sent = {},
              .received = {}};
  for (int other = 0; other < ranks; ++other) {
    a.sent.append(block(c, rank, other));
    a.received.append(block(c, other, rank));
  }
  return a;
}

std::function<void()> even(const Arguments& a, MPI_Comm comm) {
  switch (a.collective) {
    case Collective::broadcast:
      return [a, comm] {
        if (a.at_root && !a.in_place && a.count > 0) {
          int bytes = 0;
          MPI_Type_size(a.type, &bytes);
          std::memcpy(a.output, a.input,
                      static_cast<std::size_t>(bytes) * static_cast<std::size_t>(a.count));
        }
        MPI_Bcast(a.output, a.count, a.type, a.root, comm);
      };
    case Collective::scatter:
      return [a, comm] {
        MPI_Scatter(a.input, a.count, a.type, a.in_place && a.at_root ? MPI_IN_PLACE : a.output,
                    a.count, a.type, a.root, comm);
      };
    case Collective::gather:
      return [a, comm] {
        MPI_Gather(a.input_or_in_place(a.at_root), a.count, a.type, a.output, a.count, a.type,
                   a.root, comm);
      };
    case Collective::allgather:
      return [a, comm] {
        MPI_Allgather(a.input_or_in_place(), a.count, a.type, a.output, a.count, a.type, comm);
      };
    case Collective::reduce:
      return [a, comm] {
        MPI_Reduce(a.input_or_in_place(a.at_root), a.output, a.count, a.type, a.op, a.root, comm);
      };
    case Collective::allreduce:
      return [a, comm] {
        MPI_Allreduce(a.input_or_in_place(), a.output, a.count, a.type, a.op, comm);
      };
    case Collective::reduce_scatter:
      return [a, comm] {
        MPI_Reduce_scatter_block(a.input_or_in_place(), a.output, a.count, a.type, a.op, comm);
      };
    case Collective::alltoall:
      return [a, comm] {
        MPI_Alltoall(a.input_or_in_place(), a.count, a.type, a.output, a.count, a.type, comm);
      };
    default:
      return [comm] { MPI_Barrier(comm); };
  }
}

std::function<void()> uneven(const Arguments& a, MPI_Comm comm, int rank) {
  // This rank's own block of a scatterv or gatherv.
  const auto own = static_cast<std::size_t>(rank);
  switch (a.collective) {
    case Collective::scatterv:
      return [a, comm, own] {
        MPI_Scatterv(a.input, a.sent.counts.data(), a.sent.begins.data(), a.type,
                     a.in_place && a.at_root ? MPI_IN_PLACE : a.output, a.sent.counts[own], a.type,
                     a.root, comm);
      };
    case Collective::gatherv:
      return [a, comm, own] {
        MPI_Gatherv(a.input_or_in_place(a.at_root), a.received.counts[own], a.type, a.output,
                    a.received.counts.data(), a.received.begins.data(), a.type, a.root, comm);
      };
    case Collective::allgatherv:
      return [a, comm, own] {
        MPI_Allgatherv(a.input_or_in_place(), a.received.counts[own], a.type, a.output,
                       a.received.counts.data(), a.received.begins.data(), a.type, comm);
      };
    case Collective::reduce_scatterv:
      return [a, comm] {
        MPI_Reduce_scatter(a.input_or_in_place(), a.output, a.sent.counts.data(), a.type, a.op,
                           comm);
      };
    default:
      return [a, comm] {
        MPI_Alltoallv(a.input_or_in_place(), a.sent.counts.data(), a.sent.begins.data(), a.type,
                      a.output, a.received.counts.data(), a.received.begins.data(), a.type, comm);
      };
  }
}

class Mpi final : public MpiPeer {
 public:
  [[nodiscard]] std::string library() const override {
#if defined(OPEN_MPI)
    return "openmpi";
#elif defined(I_MPI_VERSION)
    return "intelmpi";
#else
    return "mpich";
#endif
  }

  [[nodiscard]] std::string version() const override {
#if defined(OPEN_MPI)
    return std::to_string(OMPI_MAJOR_VERSION) + "." + std::to_string(OMPI_MINOR_VERSION) + "." +
           std::to_string(OMPI_RELEASE_VERSION);
#elif defined(I_MPI_VERSION)
    return I_MPI_VERSION;
#else
    return MPICH_VERSION;
#endif
  }

  [[nodiscard]] bool supports(const Case& c, bool in_place) const override {
    return c.dtype != DType::f16 && !faulty(c) &&
           (!in_place || c.collective != Collective::alltoallv);
  }

  [[nodiscard]] std::function<void()> prepare(const Call& call) override {
    const Arguments a = arguments(call, ranks(), rank());
    const bool equal =
        call.what.collective < Collective::scatterv || call.what.collective == Collective::barrier;
    return equal ? even(a, MPI_COMM_WORLD) : uneven(a, MPI_COMM_WORLD, rank());
  }
};

}  // namespace

int main(int argc, char** argv) { return run_under_mpi<Mpi>(argc, argv); }
