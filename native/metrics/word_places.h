// The positions of each word in a sequence, as a bit string for each word: a bit per position, in
// blocks of 64.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace wellput {

class WordPlaces {
public:
    // Reads a sequence of words, which are numbers below `bound`.
    void index(std::span<const int> words, int bound) {
        blocks_ = (words.size() + 63) / 64;
        bits_.assign(static_cast<std::size_t>(bound) * blocks_, 0);
        for (std::size_t j = 0; j < words.size(); ++j)
            bits_[static_cast<std::size_t>(words[j]) * blocks_ + j / 64] |= std::uint64_t{1}
                                                                            << (j % 64);
    }
    std::size_t blocks() const { return blocks_; }
    const std::uint64_t* operator[](int word) const {
        return bits_.data() + static_cast<std::size_t>(word) * blocks_;
    }

private:
    std::size_t blocks_ = 0;
    std::vector<std::uint64_t> bits_;
};

}  // namespace wellput
