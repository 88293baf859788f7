#pragma once

#include <mpi.h>

#include <cstdio>
#include <exception>

#include "peers/peer.hpp"
#include "peers/program.hpp"

namespace peers {

/// A peer whose ranks are started by an MPI launcher. The measurement itself uses MPI on a
/// communicator of its own, so that settings of the measured one do not affect it.
class MpiPeer : public Peer {
 public:
  MpiPeer() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    MPI_Comm_dup(MPI_COMM_WORLD, &aside_);
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return ranks_; }

  void barrier() override { MPI_Barrier(aside_); }

  void maximum(std::span<double> numbers) override {
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE,
                  MPI_MAX, aside_);
  }

  void share(std::span<char> bytes) override {
    MPI_Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_CHAR, 0, aside_);
  }

 private:
  MPI_Comm aside_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
};

/// Runs the program of a peer of type P, derived from MpiPeer. Returns the exit status.
template <class P>
int run_under_mpi(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    P peer;
    status = run_program(peer, {argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}

}  // namespace peers
