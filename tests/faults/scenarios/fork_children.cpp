#include "faults/scenarios/fork_children.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <thread>

namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using Ending = ForkedChild::Ending;

/// Checks that a call on an inherited object fails with a message about fork(). Returns the error.
std::string fault_of_call(const char* name, const std::function<void()>& call) {
  try {
    call();
    return std::string(name) + " throws nothing; ";
  } catch (const Error& error) {
    const std::string text = error.what();
    if (error.code() == ErrorCode::aborted && text.find("fork") != std::string::npos) return "";
    return std::string(name) + " says " + text + "; ";
  }
}

std::string misuse(Communicator& communicator) {
  std::vector<std::uint32_t> data(500, 99);
  std::string fault =
      fault_of_call("all_reduce", [&] { communicator.all_reduce(data); }) +
      fault_of_call("all_reduce_async", [&] { (void)communicator.all_reduce_async(data); }) +
      fault_of_call("barrier", [&] { communicator.barrier(); }) +
      fault_of_call("send", [&] { communicator.send(data, 0); }) +
      fault_of_call("receive", [&] { communicator.receive(data, any_rank); }) +
      fault_of_call("send_async", [&] { (void)communicator.send_async(data, 0); }) +
      fault_of_call("probe", [&] { (void)communicator.probe(any_rank); }) +
      fault_of_call("try_probe", [&] { (void)communicator.try_probe(any_rank); }) +
      fault_of_call("duplicate", [&] { (void)communicator.duplicate(); }) +
      fault_of_call("split", [&] { (void)communicator.split(0); }) +
      fault_of_call("abort", [&] { communicator.abort("a child aborts"); }) +
      fault_of_call("verdict", [&] { (void)communicator.verdict(); }) +
      fault_of_call("shrink", [&] { (void)communicator.shrink(); });
  if (communicator.rank() >= communicator.size()) fault += "no rank; ";
  return fault;
}

/// A Work that was done before the fork, well or not, is done here, too. No call waits.
std::string misuse(const Work& work) {
  if (!work.test()) return "Work::test() says no; ";
  try {
    work.wait();
    if (!work.wait_for(1s)) return "Work::wait_for() says no; ";
  } catch (const Error&) {
    // Because of the fork, or of a failure before it.
  }
  auto called = std::make_shared<std::atomic<bool>>(false);
  work.then([called](const std::exception_ptr&) { *called = true; });
  for (int i = 0; i < 5000 && !*called; ++i) std::this_thread::sleep_for(1ms);
  return *called ? "" : "Work::then() does not call back; ";
}

std::string misuse_all(Inheritance& inherited) {
  std::string fault = misuse(*inherited.group);
  if (inherited.twin) fault += misuse(*inherited.twin);
  for (const Work& work : inherited.works) fault += misuse(work);
  return fault;
}

std::string allocate(Inheritance& inherited) {
  std::string fault = inherited.fault_of_kept();
  std::fill(inherited.kept->begin(), inherited.kept->end(), 8U);
  inherited.kept.reset();
  for (int i = 0; i < 5; ++i) {
    const SharedNumbers own(10000, 3);
    if (std::accumulate(own.begin(), own.end(), 0U) != 30000) fault += "a wrong sum; ";
  }
  return fault;
}

std::string destroy(Inheritance& inherited) {
  {
    const Communicator gone = std::move(*inherited.group);
    inherited.twin.reset();
    inherited.works.clear();
  }
  std::vector<std::uint32_t> numbers(1000, 1);
  return std::accumulate(numbers.begin(), numbers.end(), 0U) == 1000 ? "" : "a wrong sum; ";
}

std::string start_own_group() {
  std::string fault;
  run_threads(2, [&](Communicator& own) {
    SharedNumbers data(5000, own.rank() + 1);
    own.all_reduce(data);
    std::vector<std::uint32_t> more(100, 1);
    own.all_reduce_async(more).wait();
    if (own.rank() == 0 && (data.back() != 3 || more.back() != 2)) fault = "a wrong sum; ";
  });
  return fault;
}

void wait_for_end_of(pid_t parent) {
  for (int i = 0; i < 10000 && getppid() == parent; ++i) std::this_thread::sleep_for(2ms);
}

}  // namespace

std::string Inheritance::fault_of_kept() const {
  const bool is_whole =
      std::ranges::all_of(*kept, [](std::uint32_t each) { return each == kept_value; });
  return is_whole ? "" : "memory of the parent has changed; ";
}

void ForkChildren::add() {
  const Ending ending = random_.one_in(2) ? Ending::exit : Ending::at_once;
  const auto start = [&](const std::function<std::string()>& work) {
    return Child{.process = std::make_unique<ForkedChild>(work, ending)};
  };
  switch (random_.below(9U)) {
    case 0:
    case 1:
      return add(start([this] { return misuse_all(inherited_); }));
    case 2:
      return add(start([this] { return allocate(inherited_); }));
    case 3:
      return add(start([this] { return destroy(inherited_); }));
    case 4:
      return add(start([] { return start_own_group(); }));
    case 5:
      return add(start([]() -> std::string {
        execl("/bin/true", "true", nullptr);
        return "no exec; ";
      }));
    case 6:
      return add(start([this] {
        ForkedChild grandchild([this] { return misuse_all(inherited_); });
        return grandchild.wait();
      }));
    case 7: {
      Child child = start([this] {
        (void)misuse(*inherited_.group);
        raise(SIGKILL);
        return "";
      });
      child.expected = " ended by signal 9";
      return add(std::move(child));
    }
    default: {
      Child child = start([parent = getpid()] {
        wait_for_end_of(parent);
        return "not killed; ";
      });
      child.expected = " ended by signal 9";
      child.is_to_be_killed = true;
      return add(std::move(child));
    }
  }
}

void ForkChildren::add_survivor() {
  const pid_t parent = getpid();
  Child child{.process = std::make_unique<ForkedChild>([parent] {
                for (int i = 0; i < 10000 && getppid() == parent; ++i)
                  std::this_thread::sleep_for(2ms);
                std::this_thread::sleep_for(300ms);
                return "";
              })};
  add(std::move(child));
}

std::string ForkChildren::wait() {
  std::string fault;
  for (Child& child : children_) {
    if (child.is_to_be_killed) child.process->kill();
    const std::string said = child.process->wait();
    if (said != child.expected) fault += "a child:" + (said.empty() ? " is not killed" : said);
  }
  children_.clear();
  return fault;
}

}  // namespace tutti::test
