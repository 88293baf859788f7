#include "cli/measure/bench.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "cli/measure/limit.hpp"
#include "cli/measure/operands.hpp"
#include "cli/measure/party.hpp"
#include "cli/measure/result_check.hpp"

namespace tutti::measure {
namespace {

bool on_one_host(const std::vector<Place>& places) {
  return std::all_of(places.begin(), places.end(),
                     [&](const Place& each) { return each.host == places.front().host; });
}

/// The part of one rank.
class Bench {
 public:
  Bench(Communicator& communicator, const Workload& workload, const BenchObserver& observer)
      : communicator_(communicator),
        aside_(communicator.duplicate()),
        workload_(workload),
        observer_(observer),
        buffers_(workload.largest_buffer(communicator.size()), workload.memory) {
    report_.collective = workload.collective;
    report_.ranks = communicator.size();
    report_.transport = communicator.description();
    report_.shared_buffers = workload.memory == BufferPair::Kind::shared;
    report_.prepared_calls = workload.prepared;
  }

  Report run() {
    gather_places();
    measure_machine_if_asked();
    if (leads() && observer_.begin) observer_.begin(report_);
    for (const Case& each : workload_.cases) {
      report_.rows.push_back(measure(each));
      if (leads() && observer_.row) observer_.row(report_.rows.back());
    }
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool leads() const { return communicator_.rank() == 0; }

  void gather_places() {
    const std::array<Place, 1> own{own_place()};
    report_.places.resize(communicator_.size());
    aside_.all_gather(own, report_.places);
  }

  /// Rank 0 measures; the others wait, or they would disturb it.
  void measure_machine_if_asked() {
    if (workload_.limit && leads() && report_.ranks > 1 && on_one_host(report_.places)) {
      const bool loopback = !in_memory(party_of(communicator_).reach);
      report_.machine =
          measure_machine(report_.ranks, workload_.largest_buffer(report_.ranks), loopback);
    }
    aside_.barrier();
  }

  [[nodiscard]] Row measure(const Case& what) {
    Row row{.what = what,
            .bytes = larger_bytes(what, report_.ranks),
            .ranks = report_.ranks,
            .algorithm = communicator_.algorithm_for(call_of(what, operands(what, false))),
            .out_of_place = finding(what, false)};
    if (what.collective != Collective::barrier) row.in_place = finding(what, true);
    if (report_.machine) {
      row.limit = limit(row, {.in_place = false, .barrier = waits()});
      row.limit_in_place = limit(row, {.in_place = true, .barrier = waits()});
    }
    return row;
  }

  /// Whether a barrier, or the wait after inputs were rewritten, comes before each call.
  [[nodiscard]] bool waits() const { return workload_.pace.barrier || workload_.pace.fresh; }

  [[nodiscard]] double limit(const Row& row, Manner manner) const {
    return 1e6 *
           limit_seconds(*report_.machine, row.what.collective, report_.ranks, row.bytes, manner);
  }

  [[nodiscard]] Operands operands(const Case& what, bool in_place) const {
    return operands_in(buffers_, what, in_place, communicator_.rank(), report_.ranks);
  }

  [[nodiscard]] Finding finding(const Case& what, bool in_place) {
    Operands data = operands(what, in_place);
    const Call call = call_of(what, data);
    Finding found;
    if (workload_.check) found.wrong = wrong(what, call, data);
    buffers_.clear(larger_bytes(what, report_.ranks));
    found.timing =
        time_call(aside_, workload_.pace, way_of_making(call), [&] { data.rewrite_input(); });
    return found;
  }

  /// The call outlives what is returned.
  [[nodiscard]] std::function<void()> way_of_making(const Call& call) {
    if (!workload_.prepared) return [&] { communicator_.run(call); };
    return [prepared = std::make_shared<PreparedCall>(communicator_.prepare(call))] {
      prepared->run();
    };
  }

  /// The wrong elements on all ranks.
  [[nodiscard]] std::uint64_t wrong(const Case& what, const Call& call, const Operands& data) {
    const ResultCheck check(checked(what), communicator_.rank(), report_.ranks, ++seed_);
    check.prepare(data.input, data.output);
    communicator_.run(call);
    std::uint64_t count = check.count_wrong(data.output);
    aside_.all_reduce(std::span(&count, 1));
    return count;
  }

  Communicator& communicator_;
  Communicator aside_;  // For the measurement itself.
  const Workload& workload_;
  const BenchObserver& observer_;
  BufferPair buffers_;
  Report report_;
  std::uint64_t seed_ = 0;
};

}  // namespace

Report bench(Communicator& communicator, const Workload& workload, const BenchObserver& observer) {
  return Bench(communicator, workload, observer).run();
}

}  // namespace tutti::measure
