#include "api/c/group.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "api/c/handles.hpp"

namespace tutti {

CallGroup& CallGroup::own() {
  thread_local CallGroup group;
  return group;
}

void CallGroup::add(Communicator& communicator, const PairOfMessages& messages,
                    tuttiEnvelope_t* envelope) {
  auto found = std::find_if(messages_.begin(), messages_.end(), [&](const Messages& each) {
    return each.communicator == &communicator;
  });
  if (found == messages_.end()) {
    messages_.push_back({.communicator = &communicator, .out = {}, .in = {}, .envelopes = {}});
    found = messages_.end() - 1;
  }
  found->out.insert(found->out.end(), messages.out.begin(), messages.out.end());
  found->in.insert(found->in.end(), messages.in.begin(), messages.in.end());
  found->envelopes.resize(found->in.size(), envelope);
}

void CallGroup::close() {
  if (depth_ == 0) {
    throw Error(ErrorCode::invalid_argument, "no group is open: call tuttiGroupStart first");
  }
  if (--depth_ > 0) return;
  const std::vector<Messages> messages = std::exchange(messages_, {});
  const std::vector<Work> works = std::exchange(works_, {});
  std::exception_ptr failure;
  const auto attempt = [&](auto&& f) {
    try {
      f();
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<Work> exchanges(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    attempt(
        [&] { exchanges[i] = messages[i].communicator->start(messages[i].out, messages[i].in); });
  }
  for (const Work& work : works) attempt([&] { work.wait(); });
  for (std::size_t i = 0; i < messages.size(); ++i) {
    attempt([&] {
      exchanges[i].wait();
      const std::vector<Envelope> received = exchanges[i].envelopes();
      for (std::size_t k = 0; k < received.size(); ++k) {
        if (messages[i].envelopes[k] != nullptr)
          *messages[i].envelopes[k] = envelope_of(received[k]);
      }
    });
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tutti

using namespace tutti;

tuttiResult_t tuttiGroupStart(void) {
  return guarded(__func__, [] { CallGroup::own().open(); });
}

tuttiResult_t tuttiGroupEnd(void) {
  return guarded(__func__, [] { CallGroup::own().close(); });
}
