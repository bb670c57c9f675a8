// A function compiled twice, the version chosen when the module is loaded.
#pragma once

// AVX2 without FMA: the same digits as on a processor without either. Not under the thread sanitizer,
// which looks into the choosing before the functions it needs for that are linked, and crashes.
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_THREAD__)
#define WELLPUT_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define WELLPUT_CLONES
#endif
