#include "net/crypto_use.hpp"

#include <pthread.h>

namespace tutti {
namespace {

// Not std::mutex: a child cannot unlock what a thread of its parent has locked, but may start anew.
constinit pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void lock() { pthread_mutex_lock(&mutex); }
void unlock() { pthread_mutex_unlock(&mutex); }
void start_anew() { mutex = PTHREAD_MUTEX_INITIALIZER; }

[[maybe_unused]] const bool is_registered = pthread_atfork(lock, unlock, start_anew) == 0;

}  // namespace

CryptoUse::CryptoUse() { lock(); }
CryptoUse::~CryptoUse() { unlock(); }

}  // namespace tutti
