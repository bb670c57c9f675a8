// A function compiled twice; the processor decides, when the module is loaded, which version runs.
#pragma once

// AVX2 without FMA: the same digits as without AVX2. Not under the thread sanitizer, which crashes
// when such a version is chosen.
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_THREAD__)
#define WELLPUT_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define WELLPUT_CLONES
#endif
