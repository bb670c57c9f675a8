// WELLPUT_CLONES before a function compiles it twice. When the module is loaded, the version that the
// processor can run fastest is chosen.
#pragma once

// The second version uses AVX2 (vectors of four doubles) but not FMA (multiplication and addition with
// one rounding), so both versions give the same digits. The thread sanitizer crashes when such a
// version is chosen, so there it is left out.
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_THREAD__)
#define WELLPUT_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define WELLPUT_CLONES
#endif
