#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace tutti::test {

/// Does something else (SECCOMP_RET_…) in place of this system call, in this thread and its
/// children. Returns false if the system has no seccomp filters.
inline bool replace_call(int system_call, std::uint32_t action) {
  std::array<sock_filter, 4> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(system_call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{.len = filter.size(), .filter = filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Makes this system call fail, as in some containers.
inline bool forbid(int system_call, int error) {
  return replace_call(system_call, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error));
}

}  // namespace tutti::test
