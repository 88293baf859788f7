#include "net/crypto_use.hpp"

#include "core/fork_safe_mutex.hpp"

namespace tutti {
namespace {

ForkSafeMutex mutex;

}  // namespace

CryptoUse::CryptoUse() { mutex.lock(); }
CryptoUse::~CryptoUse() { mutex.unlock(); }

}  // namespace tutti
