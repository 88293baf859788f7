#include <tutti/tutti.h>

#include "api/c/dispatch.hpp"

// Point-to-point messages in C.

namespace tutti {
namespace {

PairRequest sending(const void* data, std::size_t count, tuttiDataType_t type, int peer,
                    int tag = 0) {
  return {.out = PairRequest::Out{.data = data, .count = count, .peer = peer},
          .type = type,
          .tag = tag};
}

PairRequest receiving(void* data, std::size_t count, tuttiDataType_t type, int peer) {
  return {.in = PairRequest::In{.data = data, .count = count, .peer = peer}, .type = type};
}

PairRequest receiving_any(void* data, std::size_t count, tuttiDataType_t type, int peer, int tag) {
  PairRequest request = receiving(data, count, type, peer);
  request.tag = tag;
  request.takes_any = true;
  return request;
}

PairRequest exchange(const PairRequest::Out& out, const PairRequest::In& in, tuttiDataType_t type) {
  return {.out = out, .in = in, .type = type};
}

}  // namespace
}  // namespace tutti

using namespace tutti;

tuttiResult_t tuttiSend(const void* sendbuff, size_t count, tuttiDataType_t datatype, int peer,
                        tuttiComm_t comm) {
  return run_messages(__func__, comm, sending(sendbuff, count, datatype, peer));
}

tuttiResult_t tuttiSendAsync(const void* sendbuff, size_t count, tuttiDataType_t datatype, int peer,
                             tuttiComm_t comm, tuttiWork_t* work) {
  return start_messages(__func__, comm, work, sending(sendbuff, count, datatype, peer));
}

tuttiResult_t tuttiRecv(void* recvbuff, size_t count, tuttiDataType_t datatype, int peer,
                        tuttiComm_t comm) {
  return run_messages(__func__, comm, receiving(recvbuff, count, datatype, peer));
}

tuttiResult_t tuttiRecvAsync(void* recvbuff, size_t count, tuttiDataType_t datatype, int peer,
                             tuttiComm_t comm, tuttiWork_t* work) {
  return start_messages(__func__, comm, work, receiving(recvbuff, count, datatype, peer));
}

tuttiResult_t tuttiSendRecv(const void* sendbuff, size_t sendcount, int to, void* recvbuff,
                            size_t recvcount, int from, tuttiDataType_t datatype,
                            tuttiComm_t comm) {
  return run_messages(__func__, comm,
                      exchange({sendbuff, sendcount, to}, {recvbuff, recvcount, from}, datatype));
}

tuttiResult_t tuttiSendRecvAsync(const void* sendbuff, size_t sendcount, int to, void* recvbuff,
                                 size_t recvcount, int from, tuttiDataType_t datatype,
                                 tuttiComm_t comm, tuttiWork_t* work) {
  return start_messages(__func__, comm, work,
                        exchange({sendbuff, sendcount, to}, {recvbuff, recvcount, from}, datatype));
}

tuttiResult_t tuttiSendTag(const void* sendbuff, size_t count, tuttiDataType_t datatype, int peer,
                           int tag, tuttiComm_t comm) {
  return run_messages(__func__, comm, sending(sendbuff, count, datatype, peer, tag));
}

tuttiResult_t tuttiSendTagAsync(const void* sendbuff, size_t count, tuttiDataType_t datatype,
                                int peer, int tag, tuttiComm_t comm, tuttiWork_t* work) {
  return start_messages(__func__, comm, work, sending(sendbuff, count, datatype, peer, tag));
}

tuttiResult_t tuttiRecvTag(void* recvbuff, size_t count, tuttiDataType_t datatype, int peer,
                           int tag, tuttiComm_t comm, tuttiEnvelope_t* envelope) {
  return run_messages(__func__, comm, receiving_any(recvbuff, count, datatype, peer, tag),
                      envelope);
}

tuttiResult_t tuttiRecvTagAsync(void* recvbuff, size_t count, tuttiDataType_t datatype, int peer,
                                int tag, tuttiComm_t comm, tuttiWork_t* work) {
  return start_messages(__func__, comm, work, receiving_any(recvbuff, count, datatype, peer, tag));
}

tuttiResult_t tuttiProbe(int peer, int tag, tuttiComm_t comm, tuttiEnvelope_t* envelope) {
  return guarded(__func__, [&] {
    Communicator& communicator = communicator_of(comm);
    tuttiEnvelope_t& place = pointed_to(envelope, "envelope");
    place = envelope_of(communicator.probe(peer_or_any(peer), {.tag = tag_or_any(tag)}));
  });
}

tuttiResult_t tuttiTryProbe(int peer, int tag, tuttiComm_t comm, int* found,
                            tuttiEnvelope_t* envelope) {
  return guarded(__func__, [&] {
    Communicator& communicator = communicator_of(comm);
    int& is_found = pointed_to(found, "found");
    tuttiEnvelope_t& place = pointed_to(envelope, "envelope");
    const std::optional<Envelope> known =
        communicator.try_probe(peer_or_any(peer), tag_or_any(tag));
    is_found = known ? 1 : 0;
    if (known) place = envelope_of(*known);
  });
}
