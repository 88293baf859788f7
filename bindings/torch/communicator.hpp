#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <tutti/tutti.h>

namespace tutti_torch {

/// What a program may choose for a group, beside the timeout.
struct CommunicatorChoice {
  std::string algorithm{};   ///< "allreduce/ring", as in TUTTI_ALGO.
  std::string transport{};   ///< "auto", "shm" or "tcp".
  std::string interfaces{};  ///< As in TUTTI_SOCKET_IFNAME.
  tuttiReproducible_t reproducible = tuttiReproducibleRun;
};

/// Why a group failed.
struct Failure {
  tuttiResult_t result = tuttiSuccess;
  std::string reason{};
  std::vector<int> ranks{};  ///< The ranks that caused it, if known.
};

/// A communicator of tutti's C API. Destroyed with the last reference: every call that is under way
/// holds one.
class Communicator {
 public:
  [[nodiscard]] static std::shared_ptr<Communicator> from_store(
      const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
      std::chrono::milliseconds timeout, const CommunicatorChoice& choice);
  /// The ranks exchange addresses by the id of rank 0.
  [[nodiscard]] static std::shared_ptr<Communicator> from_id(const std::string& id, int rank,
                                                             int size,
                                                             std::chrono::milliseconds timeout,
                                                             const CommunicatorChoice& choice);
  /// An id whose rank 0 is this process.
  [[nodiscard]] static std::string make_id();

  explicit Communicator(tuttiComm_t comm) : comm_(comm) {}
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() { (void)tuttiCommDestroy(comm_); }

  [[nodiscard]] tuttiComm_t handle() const { return comm_; }
  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;

  [[nodiscard]] Failure failure() const;
  void abort(const std::string& reason) const;
  /// For later calls. All ranks must set the same level.
  void set_reproducible(tuttiReproducible_t level) const;
  /// A communicator of the ranks that survive, and the ranks that do not.
  struct Survivors {
    std::shared_ptr<Communicator> communicator;
    std::vector<int> gone;
  };
  [[nodiscard]] Survivors shrink() const;

 private:
  tuttiComm_t comm_;
};

}  // namespace tutti_torch
