#include "net/crypto_use.hpp"

#include <pthread.h>

#include <mutex>

namespace tutti {
namespace {

constinit std::mutex mutex;

void lock() { mutex.lock(); }
void unlock() { mutex.unlock(); }

// The thread that forks locks, and its copy in the child unlocks, as glibc allows for this purpose.
[[maybe_unused]] const bool is_registered = pthread_atfork(lock, unlock, unlock) == 0;

}  // namespace

CryptoUse::CryptoUse() { lock(); }
CryptoUse::~CryptoUse() { unlock(); }

}  // namespace tutti
