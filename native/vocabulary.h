// Tokens to small integers, anew for every item: equal tokens get equal numbers, 0, 1, 2, ... in
// order of first appearance. No collisions: the hash only finds the place, the bytes decide.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace wellput {

class Vocabulary {
public:
    void clear() {
        tokens_.clear();
        if (++stamp_ == 0) {  // after 2^32 items the stamps start over
            for (auto& slot : slots_) slot.stamp = 0;
            stamp_ = 1;
        }
    }
    int size() const { return static_cast<int>(tokens_.size()); }
    std::string_view operator[](int id) const { return tokens_[static_cast<std::size_t>(id)]; }

    // The token's number. The bytes must stay where they are until clear().
    int add(std::string_view token) {
        if ((tokens_.size() + 1) * 2 > slots_.size()) grow();
        const std::uint64_t h = hash(token);
        for (std::size_t at = h & mask_;; at = (at + 1) & mask_) {
            Slot& slot = slots_[at];
            if (slot.stamp != stamp_) {
                slot = {h, stamp_, static_cast<int>(tokens_.size())};
                tokens_.push_back(token);
                return slot.id;
            }
            if (slot.hash == h && tokens_[static_cast<std::size_t>(slot.id)] == token)
                return slot.id;
        }
    }

private:
    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t stamp = 0;
        int id = 0;
    };

    static std::uint64_t hash(std::string_view token) {
        std::uint64_t h = 0x9e3779b97f4a7c15ull ^ token.size();
        const char* p = token.data();
        std::size_t left = token.size();
        for (; left >= 8; left -= 8, p += 8) {
            std::uint64_t word;
            std::memcpy(&word, p, 8);
            h = (h ^ word) * 0xff51afd7ed558ccdull;
            h ^= h >> 32;
        }
        std::uint64_t word = 0;
        // The tail byte by byte: reading past the end of a token is not ours to do.
        for (std::size_t i = 0; i < left; ++i)
            word |= static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
        h = (h ^ word) * 0xff51afd7ed558ccdull;
        h ^= h >> 32;
        return h;
    }

    void grow() {
        const std::size_t size = slots_.empty() ? 256 : slots_.size() * 2;
        slots_.assign(size, Slot{});
        mask_ = size - 1;
        for (std::size_t id = 0; id < tokens_.size(); ++id) {
            const std::uint64_t h = hash(tokens_[id]);
            std::size_t at = h & mask_;
            while (slots_[at].stamp == stamp_) at = (at + 1) & mask_;
            slots_[at] = {h, stamp_, static_cast<int>(id)};
        }
    }

    std::vector<std::string_view> tokens_;
    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
    std::uint32_t stamp_ = 1;
};

}  // namespace wellput
