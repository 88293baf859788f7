#pragma once

namespace tutti {

class BlackBox;

/// From now on this box is dumped when a signal asks for it (SIGUSR2) or is about to end the
/// process (SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGTERM), after which the signal does what it did
/// before.
///
/// Handlers are installed with the first box. A signal that the program ignores is left alone, and
/// so is SIGUSR2 if the program has a use for it. Of a process the first 1024 boxes are dumped.
void dump_on_signals(const BlackBox& box);

/// To be called before the box goes.
void leave_signals(const BlackBox& box);

}  // namespace tutti
