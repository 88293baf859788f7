#pragma once

/// Marks what a shared libtutti shows to its users; everything else stays hidden.
/// A class inside of one that is marked would be shown too: TUTTI_HIDDEN keeps it back.
#if defined(TUTTI_SHARED)
#define TUTTI_API __attribute__((visibility("default")))
#define TUTTI_HIDDEN __attribute__((visibility("hidden")))
#else
#define TUTTI_API
#define TUTTI_HIDDEN
#endif
