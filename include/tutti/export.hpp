#pragma once

/// Marks what a shared libtutti shows to its users; everything else stays hidden.
#if defined(TUTTI_SHARED)
#define TUTTI_API __attribute__((visibility("default")))
#else
#define TUTTI_API
#endif
