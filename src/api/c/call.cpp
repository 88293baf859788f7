#include <algorithm>
#include <memory>

#include <tutti/tutti.h>

#include "api/c/dispatch.hpp"

// Collectives that a tuttiCall_t describes, prepared or not.

struct tuttiPrepared {
  tutti::PreparedCall call;
};

namespace tutti {
namespace {

Call call_on(tuttiComm_t comm, const tuttiCall_t* given) {
  Call call = call_of(pointed_to(given, "call"), communicator_of(comm));
  call.options.reproducible = std::max(call.options.reproducible, comm->reproducible);
  return call;
}

}  // namespace
}  // namespace tutti

using namespace tutti;

tuttiResult_t tuttiRun(const tuttiCall_t* call, tuttiComm_t comm) {
  return run_call(__func__, comm, [&] { return call_on(comm, call); });
}

tuttiResult_t tuttiStart(const tuttiCall_t* call, tuttiComm_t comm, tuttiWork_t* work) {
  return start_call(__func__, comm, work, [&] { return call_on(comm, call); });
}

tuttiResult_t tuttiPrepare(const tuttiCall_t* call, tuttiComm_t comm, tuttiPrepared_t* prepared) {
  return guarded(__func__, [&] {
    tuttiPrepared_t& place = pointed_to(prepared, "prepared");
    place = nullptr;
    Communicator& communicator = communicator_of(comm);
    place = std::make_unique<tuttiPrepared>(
                tuttiPrepared{.call = communicator.prepare(call_on(comm, call))})
                .release();
  });
}

tuttiResult_t tuttiPreparedRun(tuttiPrepared_t prepared) {
  return guarded(__func__, [&] {
    PreparedCall& call = pointed_to(prepared, "prepared").call;
    if (CallGroup& group = CallGroup::own(); group.is_open()) {
      group.add(call.start());
    } else {
      call.run();
    }
  });
}

tuttiResult_t tuttiPreparedStart(tuttiPrepared_t prepared, tuttiWork_t* work) {
  return start_with(__func__, work, [&] { return pointed_to(prepared, "prepared").call.start(); });
}

tuttiResult_t tuttiPreparedDestroy(tuttiPrepared_t prepared) {
  return guarded(__func__, [&] { delete &pointed_to(prepared, "prepared"); });
}
