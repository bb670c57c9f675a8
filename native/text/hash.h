// A hash of a text that is the same on every machine, so it can be used in files.
#pragma once

#include <cstdint>
#include <string_view>

namespace wellput {

// FNV-1a, 64 bits.
inline std::uint64_t fnv1a(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325ull;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    return hash;
}

}  // namespace wellput
