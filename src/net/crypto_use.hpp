#pragma once

namespace tutti {

/// Held during every use of libcrypto and libssl. fork() waits for its end.
///
/// The locks of libcrypto are not released in a forked child. If another thread of the parent holds
/// one at that moment, the child waits forever at its next use of libcrypto, even by code that has
/// nothing to do with tutti. Not recursive.
class CryptoUse {
 public:
  CryptoUse();
  ~CryptoUse();
  CryptoUse(const CryptoUse&) = delete;
  CryptoUse& operator=(const CryptoUse&) = delete;
};

}  // namespace tutti
