#include <sys/syscall.h>

#include <cerrno>

#include <gtest/gtest.h>

#include <tutti/bucketer.hpp>
#include <tutti/retry.hpp>

#include "support/errors.hpp"
#include "support/forked_child.hpp"
#include "support/processes.hpp"
#include "support/sanitizer.hpp"
#include "support/seccomp.hpp"

/// Invalid calls throw errors and do not crash.
namespace tutti::test {
namespace {

constexpr ErrorCode invalid = ErrorCode::invalid_argument;
using Body = std::function<void(Communicator&)>;

TEST(Misuse, MovedFromCommunicator) {
  run_threads(2, [](Communicator& comm) {
    Communicator moved(std::move(comm));
    std::vector<int> data(10);
    const auto refused = [](auto&& call) { expect_error(call, invalid, "was moved from"); };
    refused([&] { (void)comm.rank(); });
    refused([&] { (void)comm.size(); });
    refused([&] { comm.all_reduce(data); });
    refused([&] { (void)comm.all_reduce_async(data); });
    refused([&] { comm.send(data, 1); });
    refused([&] { (void)comm.split(0); });
    refused([&] { (void)comm.duplicate(); });
    refused([&] { comm.abort(""); });
    refused([&] { (void)comm.verdict(); });
    refused([&] { (void)comm.shrink(); });
    refused([&] { (void)comm.grow({}); });
    refused([&] { (void)comm.counters(Collective::allreduce); });
    refused([&] { (void)comm.algorithm_for({}); });
    refused([&] { (void)comm.description(); });
    refused([&] {
      (void)with_retry(
          comm, [](Communicator&) {}, data);
    });
    comm = std::move(moved);
    comm.all_reduce(data);
    Communicator& self = comm;
    comm = std::move(self);
    comm.all_reduce(data);
  });
}

TEST(Misuse, MovedFromBucketer) {
  run_threads(1, [](Communicator& comm) {
    std::vector<float> data(10);
    const std::vector<Tensor> tensors{tensor(data)};
    Bucketer bucketer(comm, tensors);
    Bucketer moved(std::move(bucketer));
    expect_error([&] { bucketer.ready(0); }, invalid, "was moved from");
    expect_error([&] { bucketer.finish(); }, invalid, "was moved from");
    expect_error([&] { (void)bucketer.state(); }, invalid, "was moved from");
    moved.ready(0);
    moved.finish();
  });
}

TEST(Misuse, EmptyFunctions) {
  expect_error([] { run_threads(2, Body()); }, invalid,
               "run_threads: the function to run is empty");
  expect_error([] { run_threads(1, nullptr); }, invalid, "the function to run is empty");
  run_threads(2, [](Communicator& comm) {
    std::vector<float> data(10);
    expect_error([&] { (void)with_retry(comm, Body(), data); }, invalid,
                 "with_retry: the function to call is empty");
    expect_error([&] { comm.all_reduce(data, Reduction(Reduction::Combine())); }, invalid,
                 "the function to combine by is empty");
    using Function = std::function<float(float, float)>;
    expect_error([&] { comm.all_reduce(data, reduction<float>(Function())); }, invalid,
                 "the function to combine by is empty");
    using Pointer = float (*)(float, float);
    expect_error([&] { comm.all_reduce(data, reduction<float>(Pointer{nullptr})); }, invalid,
                 "the function to combine by is empty");
    comm.all_reduce(data, reduction<float>([](float a, float b) { return a + b; }));
    comm.all_reduce(data, reduction<float>(std::plus<>{}));
  });
}

TEST(Misuse, ShapesThatDoNotFit) {
  run_threads(4, [](Communicator& comm) {
    std::vector<float> data(1000);
    const auto reduce = [&](const Shape& shape, const std::string& algorithm) {
      CallOptions options;
      options.algorithm = algorithm;
      options.shape = shape;
      comm.all_reduce(data, Op::sum, options);
    };
    constexpr std::uint32_t large = 1U << 31;
    for (const Shape& shape :
         {Shape{{0}}, Shape{{0, 4}}, Shape{{4, 0}}, Shape{{3, 3}}, Shape{{65536, 65536}},
          Shape{{large, large, 4}}, Shape{{large, large, large, large}}, Shape{{8, 1}}}) {
      for (const char* const algorithm : {"", "allreduce/ring", "allreduce/ring_ring"}) {
        expect_error([&] { reduce(shape, algorithm); }, invalid,
                     "the shape " + to_string(shape) + " is for ");
      }
    }
    reduce(Shape{{2, 2}}, "allreduce/ring_ring");
    reduce(Shape{{2, 2}}, "");
  });
}

/// As in a container that limits the number of threads.
TEST(Misuse, ThreadCreationFails) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers have threads of their own";
  ForkedChild child([]() -> std::string {
    return run_processes(2, Way::memory, [](Communicator& comm) -> std::string {
      if (!forbid(SYS_clone3, EAGAIN) || !forbid(SYS_clone, EAGAIN)) return "";
      std::vector<int> data(10, 1);
      const auto refused = [](auto&& call) {
        expect_error(call, ErrorCode::unsupported, "cannot start a thread: ");
      };
      refused([&] { (void)comm.all_reduce_async(data); });
      refused([&] { (void)comm.all_reduce_async(data); });
      comm.all_reduce(data);
      refused([&] { run_threads(3, [](Communicator&) {}); });
      return data[0] == 2 && !testing::Test::HasFailure() ? "" : "wrong";
    });
  });
  EXPECT_EQ(child.wait(), "");
}

}  // namespace
}  // namespace tutti::test
