// The positions of each word in a sequence, as a bit string for each word: a bit per position, in
// blocks of 64.
//
// The bit strings of all words need memory that grows with the product of the number of words and the
// length. If that is too much, only words with at least as many places as a bit string has blocks get
// a bit string in advance; there are at most 64 of them. For any other word the bit string is made from
// the list of its places when it is asked for. So the memory grows with the length only, and making a
// bit string takes no longer than reading it.
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
        has_all_ = static_cast<std::size_t>(bound) * blocks_ <= MAX_BLOCKS;
        if (!has_all_) return index_lists(words, static_cast<std::size_t>(bound));
        bits_.assign(static_cast<std::size_t>(bound) * blocks_, 0);
        for (std::size_t j = 0; j < words.size(); ++j)
            set(bits_.data() + static_cast<std::size_t>(words[j]) * blocks_, j);
    }
    std::size_t blocks() const { return blocks_; }
    // The bit string of a word; it is valid until the next one is asked for.
    const std::uint64_t* operator[](int word) {
        const auto number = static_cast<std::size_t>(word);
        return has_all_ ? bits_.data() + number * blocks_ : bits_of(number);
    }

private:
    static constexpr std::size_t MAX_BLOCKS = std::size_t{1} << 21;  // 16 MiB

    static void set(std::uint64_t* bits, std::size_t place) {
        bits[place / 64] |= std::uint64_t{1} << (place % 64);
    }

    void index_lists(std::span<const int> words, std::size_t bound) {
        begins_.assign(bound + 1, 0);
        for (const int word : words) ++begins_[static_cast<std::size_t>(word) + 1];
        for (std::size_t word = 0; word < bound; ++word) begins_[word + 1] += begins_[word];
        places_.resize(words.size());
        // Until now begins_[word + 1] is the end of the word's list. Filling the lists from their ends
        // moves it to the list's begin; the lines after that move all begins one entry to the front.
        for (std::size_t j = words.size(); j-- > 0;)
            places_[--begins_[static_cast<std::size_t>(words[j]) + 1]] = j;
        begins_.erase(begins_.begin());
        begins_.push_back(words.size());
        frequent_.clear();
        bits_.clear();
        for (std::size_t word = 0; word < bound; ++word) {
            if (begins_[word + 1] - begins_[word] < blocks_) continue;
            frequent_.push_back(word);
            bits_.resize(bits_.size() + blocks_);
            set_all(word, bits_.data() + bits_.size() - blocks_);
        }
        made_.assign(blocks_, 0);
        made_word_ = NO_MADE_WORD;
    }

    void set_all(std::size_t word, std::uint64_t* bits) const {
        for (std::size_t at = begins_[word]; at < begins_[word + 1]; ++at) set(bits, places_[at]);
    }

    const std::uint64_t* bits_of(std::size_t word) {
        if (begins_[word + 1] - begins_[word] >= blocks_) {
            const auto found = std::lower_bound(frequent_.begin(), frequent_.end(), word);
            return bits_.data() + static_cast<std::size_t>(found - frequent_.begin()) * blocks_;
        }
        if (made_word_ != NO_MADE_WORD)
            for (std::size_t at = begins_[made_word_]; at < begins_[made_word_ + 1]; ++at)
                made_[places_[at] / 64] = 0;
        made_word_ = word;
        set_all(word, made_.data());
        return made_.data();
    }

    static constexpr std::size_t NO_MADE_WORD = ~std::size_t{0};

    std::size_t blocks_ = 0;
    bool has_all_ = true;
    std::vector<std::uint64_t> bits_;  // of all words, or of the frequent ones
    // The places of word w are places_[begins_[w]] up to places_[begins_[w + 1]].
    std::vector<std::size_t> begins_, places_;
    std::vector<std::size_t> frequent_;  // words, in ascending order
    std::vector<std::uint64_t> made_;    // the last bit string that was made when asked for
    std::size_t made_word_ = NO_MADE_WORD;
};

}  // namespace wellput
