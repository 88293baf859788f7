#pragma once

/// TUTTI_API exports a symbol from a shared libtutti; all other symbols are hidden. TUTTI_HIDDEN
/// hides a class nested in an exported class, which would be exported otherwise.
#if defined(TUTTI_SHARED)
#define TUTTI_API __attribute__((visibility("default")))
#define TUTTI_HIDDEN __attribute__((visibility("hidden")))
#else
#define TUTTI_API
#define TUTTI_HIDDEN
#endif
