#include "net/crypto_use.hpp"

#include <pthread.h>

namespace tutti {
namespace {

// Not std::mutex: a child may not unlock what its parent has locked, but can initialise it again.
constinit pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void lock() { pthread_mutex_lock(&mutex); }
void unlock() { pthread_mutex_unlock(&mutex); }
void reset() { mutex = PTHREAD_MUTEX_INITIALIZER; }

[[maybe_unused]] const bool is_registered = pthread_atfork(lock, unlock, reset) == 0;

}  // namespace

CryptoUse::CryptoUse() { lock(); }
CryptoUse::~CryptoUse() { unlock(); }

}  // namespace tutti
