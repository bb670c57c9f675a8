// Counts n-grams of a stream of word numbers by sorting. The sorted counts of one part of the stream
// are a run; runs go to disk and are merged. An n-gram is written last word first. In the stream, one
// SENTENCE_BEGIN stands before each sentence; in n-grams it is repeated, so that all have the same
// length.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "language/ngrams/ngram_trie.h"

namespace wellput {

struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

inline File open_file(const std::string& path, const char* mode) {
    File file(std::fopen(path.c_str(), mode));
    if (!file) throw std::runtime_error("cannot open " + path);
    return file;
}

inline void write_numbers(std::FILE* file, const std::uint32_t* numbers, std::size_t n) {
    if (n == 0) return;  // the pointer may be null
    if (std::fwrite(numbers, sizeof *numbers, n, file) != n)
        throw std::runtime_error("cannot write: the disk is full");
}

inline void flush(std::FILE* file) {
    if (std::fflush(file) != 0) throw std::runtime_error("cannot write: the disk is full");
}

// Radix sort by digits of 11 bits, the least significant first. Equal keys are identical, so the
// result does not depend on the way of sorting.
inline void radix_sort(std::uint64_t* keys, std::uint64_t* buffer, std::size_t n, int bits) {
    std::uint64_t *from = keys, *to = buffer;
    for (int shift = 0; shift < bits; shift += 11) {
        std::array<std::size_t, 2048> place{};
        for (std::size_t i = 0; i < n; ++i) ++place[from[i] >> shift & 2047];
        std::size_t total = 0;
        for (auto& p : place) total += std::exchange(p, total);
        for (std::size_t i = 0; i < n; ++i) to[place[from[i] >> shift & 2047]++] = from[i];
        std::swap(from, to);
    }
    if (from != keys) std::copy_n(from, n, keys);
}

// Each thread sorts a slice of the keys; neighboring slices are then merged in pairs.
inline void sort_keys(std::vector<std::uint64_t>& keys, int bits, int threads) {
    std::vector<std::uint64_t> buffer(keys.size());
    const auto slices =
        static_cast<std::size_t>(keys.size() < (1 << 16) ? 1 : std::max(threads, 1));
    const auto begin_of = [&](std::size_t slice) { return keys.size() * slice / slices; };
    parallel_for(
        slices, threads,
        [&](std::size_t first, std::size_t last) {
            for (std::size_t s = first; s < last; ++s)
                radix_sort(keys.data() + begin_of(s), buffer.data() + begin_of(s),
                           begin_of(s + 1) - begin_of(s), bits);
        },
        /*chunk=*/1);
    for (std::size_t width = 1; width < slices; width *= 2) {
        parallel_for((slices + 2 * width - 1) / (2 * width), threads,
                     [&](std::size_t first, std::size_t last) {
                         for (std::size_t pair = first; pair < last; ++pair) {
                             const std::size_t left = 2 * width * pair;
                             const auto* data = keys.data();
                             const std::size_t a = begin_of(left);
                             const std::size_t b = begin_of(std::min(left + width, slices));
                             const std::size_t c = begin_of(std::min(left + 2 * width, slices));
                             std::merge(data + a, data + b, data + b, data + c, buffer.data() + a);
                         }
                     },
                     /*chunk=*/1);
        keys.swap(buffer);
    }
}

// Calls emit(reversed n-gram, count) in order for the n-grams that end in stream[first..], each
// once.
template <typename Emit>
void count_sorted(const std::vector<std::uint32_t>& stream, std::size_t first, int order,
                  std::uint32_t n_words, int threads, Emit emit) {
    const auto n = static_cast<std::size_t>(order);
    const int bits = std::bit_width(n_words);
    std::vector<std::uint32_t> reversed(n);
    if (bits * order <= 64) {  // an n-gram in one number
        const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
        const int last_word_shift = bits * (order - 1);
        std::uint64_t begin_key = 0;  // nothing but SENTENCE_BEGIN
        for (int i = 0; i < order; ++i) begin_key |= std::uint64_t{SENTENCE_BEGIN} << (bits * i);
        std::vector<std::uint64_t> keys;
        keys.reserve(stream.size() - first);
        std::uint64_t key = begin_key;
        for (std::size_t i = 0; i < stream.size(); ++i) {
            key = stream[i] == SENTENCE_BEGIN
                      ? begin_key
                      : std::uint64_t{stream[i]} << last_word_shift | key >> bits;
            if (i >= first && stream[i] != SENTENCE_BEGIN) keys.push_back(key);
        }
        sort_keys(keys, bits * order, threads);
        for (std::size_t i = 0, j; i < keys.size(); i = j) {
            for (j = i + 1; j < keys.size() && keys[j] == keys[i]; ++j) {
            }
            for (std::size_t k = 0; k < n; ++k)
                reversed[k] = static_cast<std::uint32_t>(
                    keys[i] >> (last_word_shift - bits * static_cast<int>(k)) & mask);
            emit(reversed.data(), static_cast<std::uint32_t>(j - i));
        }
        return;
    }
    const auto compare = [&](std::size_t a, std::size_t b) -> int {
        for (std::size_t k = 0; k < n; ++k, --a, --b) {
            if (stream[a] != stream[b]) return stream[a] < stream[b] ? -1 : 1;
            if (stream[a] == SENTENCE_BEGIN) return 0;
        }
        return 0;
    };
    std::vector<std::size_t> ends;
    for (std::size_t i = first; i < stream.size(); ++i)
        if (stream[i] != SENTENCE_BEGIN) ends.push_back(i);
    std::sort(ends.begin(), ends.end(), [&](auto a, auto b) { return compare(a, b) < 0; });
    for (std::size_t i = 0, j; i < ends.size(); i = j) {
        for (j = i + 1; j < ends.size() && compare(ends[i], ends[j]) == 0; ++j) {
        }
        std::size_t at = ends[i];
        for (auto& word : reversed) {
            word = stream[at];
            if (word != SENTENCE_BEGIN) --at;
        }
        emit(reversed.data(), static_cast<std::uint32_t>(j - i));
    }
}

// A sorted run on disk, read record by record: the reversed n-gram, then its count.
class Run {
public:
    Run(const std::string& path, std::size_t record_size)
        : file_(open_file(path, "rb")), record_(record_size) {}
    bool next() {
        return std::fread(record_.data(), sizeof(std::uint32_t), record_.size(), file_.get()) ==
               record_.size();
    }
    const std::vector<std::uint32_t>& record() const { return record_; }

private:
    File file_;
    std::vector<std::uint32_t> record_;
};

// Calls emit(reversed n-gram, count) in order for the n-grams of all runs, equal ones added up.
template <typename Emit>
void merge_runs(const std::vector<std::string>& paths, int order, Emit emit) {
    const auto n = static_cast<std::size_t>(order);
    std::vector<std::unique_ptr<Run>> runs;
    const auto later = [&](std::size_t a, std::size_t b) {
        const auto &x = runs[a]->record(), &y = runs[b]->record();
        return std::lexicographical_compare(y.begin(), y.end() - 1, x.begin(), x.end() - 1);
    };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> queue(later);
    for (const auto& path : paths) {
        runs.push_back(std::make_unique<Run>(path, n + 1));
        if (runs.back()->next()) queue.push(runs.size() - 1);
    }
    std::vector<std::uint32_t> current;
    std::uint64_t count = 0;
    while (!queue.empty()) {
        const std::size_t from = queue.top();
        queue.pop();
        const auto& record = runs[from]->record();
        if (current.empty() || !std::equal(current.begin(), current.end(), record.begin())) {
            if (count) emit(current.data(), count);
            current.assign(record.begin(), record.end() - 1);
            count = 0;
        }
        count += record[n];
        if (runs[from]->next()) queue.push(from);
    }
    if (count) emit(current.data(), count);
}

}  // namespace wellput
