// A function compiled twice, the version chosen when the module is loaded.
#pragma once

// AVX2 without FMA: the same digits as on a processor without either.
#if defined(__x86_64__) && defined(__linux__)
#define WELLPUT_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define WELLPUT_CLONES
#endif
