// The smallest pipeline: f(x) = x² + 5 in two stages. Rank 0 squares and sends, rank 1 receives and
// adds five. While rank 1 adds to one number, rank 0 squares the next.
//
//   tutti run -n 2 -- build/examples/training/square_plus_five
//   build/examples/training/square_plus_five                  # alone: 2 threads
//
// With m numbers and p = 2 stages, each stage waits (p−1)/(m+p−1) of the time: the bubble.
#include <string>

#include "report.hpp"
#include "stages.hpp"

namespace {

using namespace training;

constexpr std::uint32_t numbers = 7;  // m

bool compute(tutti::Communicator& comm, const std::string& trace) {
  Report report(comm, "f(x) = x² + 5 in two stages");
  if (comm.size() != 2) {
    throw tutti::Error(
        tutti::ErrorCode::invalid_argument,
        "there are 2 stages and " + std::to_string(comm.size()) + " ranks: start 2 ranks");
  }
  std::vector<tutti::Work> works;
  Floats squares(numbers);
  Order order;
  bool is_right = true;
  for (std::uint32_t i = 0; i < numbers; ++i) {
    const std::span<float> value(&squares[i], 1);
    if (comm.rank() == 0) {
      const auto x = static_cast<float>(i);
      value[0] = x * x;
      works.push_back(comm.send_async(value, 1));
    } else {
      comm.receive(value, 0);
      value[0] += 5;
      std::printf("  f(%u) = %g\n", i, value[0]);
      is_right = is_right && value[0] == static_cast<float>(i * i + 5);
    }
    order.push_back({.microbatch = i});
  }
  for (const tutti::Work& work : works) work.wait();

  report.expect("right results", static_cast<double>(report.total(is_right ? 1 : 0)), "ranks", 2);
  report.expect("bytes sent",
                static_cast<double>(report.total(comm.message_counters().total().bytes_sent)),
                "m · 4 bytes", numbers * sizeof(float));
  const StageTimes times({order, order});
  report.expect("bubble", times.bubble(), "(p−1)/(m+p−1)", 1.0 / (numbers + 1));
  if (!trace.empty() && comm.rank() == 0) {
    Timeline drawing("f(x) = x² + 5 in two stages",
                     {std::to_string(numbers) + " numbers. Each stage waits once: the bubble is "
                                                "(p−1)/(m+p−1) = 1/8 of its time."});
    times.draw(drawing, {"rank 0: x²", "rank 1: + 5"});
    drawing.write(trace);
  }
  return report.good();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string trace = trace_file(argc, argv);
  if (argc > (trace.empty() ? 1 : 3)) return std::puts("usage: square_plus_five [--trace FILE]"), 2;
  return launch(2, [&](tutti::Communicator& comm) { return compute(comm, trace); });
}
