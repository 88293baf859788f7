#pragma once

namespace tutti {

class BlackBox;

/// Dumps this box on SIGUSR2, and before a signal that ends the process (SIGSEGV, SIGBUS, SIGABRT,
/// SIGFPE, SIGTERM). After the dump the signal has its former effect.
///
/// The handlers are installed with the first box. Signals that the program ignores are not handled,
/// nor is SIGUSR2 if the program has its own handler. A process dumps at most 1024 boxes.
void dump_on_signals(const BlackBox& box);

/// Call before the box is destroyed.
void leave_signals(const BlackBox& box);

}  // namespace tutti
