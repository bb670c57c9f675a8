// Numbers for words: 0, 1, 2, ... in order of first appearance. The table consists of three arrays,
// which can be written to a file and used from there without reading the file into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "text/hash.h"

namespace wellput {

constexpr std::uint32_t NO_WORD = 0xffffffff;

// The hash of a word in the table. Files depend on it.
inline std::uint64_t word_hash(std::string_view word) {
    std::uint64_t h = fnv1a(word);
    h ^= h >> 32;
    return h * 0x9e3779b97f4a7c15ull >> 20;
}

// A table of words to read from. `slots` is a hash table with open addressing: a slot has the number
// of a word plus one, 0 if it is empty; the number of slots is a power of two. Word i is the bytes from
// offsets[i] to offsets[i + 1] of `text`. All numbers are checked, because they may come from a damaged
// file: none leads beyond the arrays, and every search ends.
struct WordView {
    const std::uint64_t* offsets = nullptr;
    std::size_t n_words = 0;
    const char* text = nullptr;
    std::size_t text_size = 0;
    const std::uint32_t* slots = nullptr;
    std::size_t mask = 0;

    std::string_view operator[](std::uint32_t id) const {
        if (id >= n_words) return {};
        const std::uint64_t begin = offsets[id], end = offsets[id + 1];
        if (begin > end || end > text_size) return {};
        return {text + begin, static_cast<std::size_t>(end - begin)};
    }
    std::size_t slot_of(std::string_view word) const {
        std::size_t at = word_hash(word) & mask;
        for (std::size_t tries = 0;
             tries < mask && slots[at] != 0 && (*this)[slots[at] - 1] != word; ++tries)
            at = (at + 1) & mask;
        return at;
    }
    // The number of a word; NO_WORD if the table does not have it.
    std::uint32_t find(std::string_view word) const {
        const std::uint32_t found = slots[slot_of(word)];
        return found && found <= n_words ? found - 1 : NO_WORD;
    }
};

class WordTable {
public:
    // The words of `first` get the first numbers.
    explicit WordTable(std::span<const std::string_view> first = {}) {
        resize(16);
        for (const auto word : first) add(word);
    }
    std::uint32_t size() const { return static_cast<std::uint32_t>(offsets_.size() - 1); }
    WordView view() const {
        return {offsets_.data(), size(),        text_.data(),
                text_.size(),    slots_.data(), slots_.size() - 1};
    }

    // Makes room for `n_words`, so that adding them is faster. The final table is the same.
    void reserve(std::size_t n_words) {
        std::size_t n_slots = slots_.size();
        while (2 * (n_words + 1) > n_slots) n_slots *= 2;
        resize(n_slots);
    }

    std::uint32_t add(std::string_view word) {
        if ((offsets_.size() + 1) * 2 > slots_.size()) resize(slots_.size() * 2);
        const std::size_t at = view().slot_of(word);
        if (slots_[at] == 0) {
            text_.insert(text_.end(), word.begin(), word.end());
            offsets_.push_back(text_.size());
            slots_[at] = size();
        }
        return slots_[at] - 1;
    }

    std::vector<std::uint64_t>& offsets() { return offsets_; }
    std::vector<char>& text() { return text_; }
    std::vector<std::uint32_t>& slots() { return slots_; }

private:
    void resize(std::size_t n_slots) {
        slots_.assign(n_slots, 0);
        for (std::uint32_t id = 0; id < size(); ++id) slots_[view().slot_of(view()[id])] = id + 1;
    }

    std::vector<std::uint64_t> offsets_{0};
    std::vector<char> text_;
    std::vector<std::uint32_t> slots_;
};

}  // namespace wellput
