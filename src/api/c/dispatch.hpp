#pragma once

#include <memory>

#include "api/c/group.hpp"
#include "api/c/handles.hpp"
#include "api/c/request.hpp"

// Runs the calls of the C API that move data: blocking, asynchronously, or as part of a group.

namespace tutti {

/// Allocates the handle before it starts the work: a failed allocation must not lose started work.
template <class Start>
tuttiResult_t start_with(const char* function, tuttiWork_t* work, Start&& start) noexcept {
  return guarded(function, [&] {
    tuttiWork_t& place = pointed_to(work, "work");
    place = nullptr;
    auto handle = std::make_unique<tuttiWork>();
    handle->work = start();
    place = handle.release();
  });
}

/// `describe` returns the Call.
template <class Describe>
tuttiResult_t run_call(const char* function, tuttiComm_t comm, Describe&& describe) noexcept {
  return guarded(function, [&] {
    Communicator& communicator = communicator_of(comm);
    const Call call = describe();
    if (CallGroup& group = CallGroup::own(); group.is_open()) {
      group.add(communicator.start(call));
    } else {
      communicator.run(call);
    }
  });
}

template <class Describe>
tuttiResult_t start_call(const char* function, tuttiComm_t comm, tuttiWork_t* work,
                         Describe&& describe) noexcept {
  return start_with(function, work, [&] {
    Communicator& communicator = communicator_of(comm);
    return communicator.start(describe());
  });
}

/// `envelope` gets the envelope of the received message and may be null.
inline tuttiResult_t run_messages(const char* function, tuttiComm_t comm,
                                  const PairRequest& request,
                                  tuttiEnvelope_t* envelope = nullptr) noexcept {
  return guarded(function, [&] {
    Communicator& communicator = communicator_of(comm);
    const PairOfMessages messages = messages_of(request);
    if (CallGroup& group = CallGroup::own(); group.is_open()) {
      group.add(communicator, messages, envelope);
      return;
    }
    const std::vector<Envelope> received = communicator.run(messages.out, messages.in);
    if (envelope != nullptr && !received.empty()) *envelope = envelope_of(received.front());
  });
}

inline tuttiResult_t start_messages(const char* function, tuttiComm_t comm, tuttiWork_t* work,
                                    const PairRequest& request) noexcept {
  return start_with(function, work, [&] {
    Communicator& communicator = communicator_of(comm);
    const PairOfMessages messages = messages_of(request);
    return communicator.start(messages.out, messages.in);
  });
}

}  // namespace tutti
