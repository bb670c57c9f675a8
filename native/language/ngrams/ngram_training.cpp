// Interpolated modified Kneser-Ney from text (Chen & Goodman 1998), as KenLM's lmplz estimates it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "core/checks.h"
#include "core/texts.h"
#include "kernels.h"
#include "language/ngrams/ngram_runs.h"
#include "language/ngrams/ngram_trie.h"
#include "text/tokenize.h"
#include "text/word_table.h"

namespace wellput {
namespace {

using Discounts = std::array<double, 4>;  // by count: 0, 1, 2, 3 and more

// Discounts from the number of n-grams with each count. If one is undefined or not between 0 and
// the count, lmplz's fallback (--discount_fallback) replaces them. If no n-gram has the next higher
// count, a discount is the whole count. lmplz accepts such a discount, but then frequent words are as
// improbable as unknown ones.
Discounts discounts_of(const std::vector<std::uint64_t>& counts) {
    std::array<double, 5> n{};
    for (const auto count : counts)
        if (count > 0 && count < n.size()) ++n[count];
    const Discounts fallback{0, 0.5, 1, 1.5};
    if (n[1] == 0 || n[2] == 0 || n[3] == 0) return fallback;
    const double y = n[1] / (n[1] + 2 * n[2]);
    Discounts result{};
    for (std::size_t c = 1; c <= 3; ++c) {
        const auto d = static_cast<double>(c);
        result[c] = d - (d + 1) * y * n[c + 1] / n[c];
        if (result[c] <= 0 || result[c] >= d) return fallback;
    }
    return result;
}

// Sums over the n-grams that continue a context by one word.
struct Totals {
    std::uint64_t sum = 0;
    std::uint32_t with_count[4] = {};

    void add(std::uint64_t count) {
        sum += count;
        if (count) ++with_count[std::min<std::uint64_t>(count, 3)];
    }
    // The weight of the shorter context.
    double gamma(const Discounts& discounts) const {
        double freed = 0;
        for (std::size_t c = 1; c <= 3; ++c) freed += discounts[c] * with_count[c];
        return freed / static_cast<double>(sum);
    }
};

double discounted(std::uint64_t count, const Discounts& discounts) {
    return static_cast<double>(count) - discounts[std::min<std::uint64_t>(count, 3)];
}

float log10_float(double p) { return static_cast<float>(std::log10(p)); }

constexpr float IMPOSSIBLE_LOG_PROB = -99;  // SRILM's log10 probability of <s>

// Sets the log probabilities and back-off weights of `levels`; returns the discounts by depth (n-grams
// at depth d have d + 1 words). `counts` are adjusted counts by depth: the number of different words
// that an n-gram was seen after, or the number of its occurrences if it begins a sentence or has the
// full length.
std::vector<Discounts> estimate(std::vector<TrieLevel>& levels,
                                const std::vector<std::vector<std::uint64_t>>& counts) {
    std::vector<Discounts> discounts;
    for (const auto& level : counts) discounts.push_back(discounts_of(level));

    Totals all;
    for (const auto count : counts[0]) all.add(count);
    const auto n_words = counts[0].size();
    // The empty context backs off to all words equally, except <s>, which never follows a word.
    const double share = all.gamma(discounts[0]) / static_cast<double>(n_words - 1);
    std::vector<double> shorter(n_words), probs;
    levels[0].log_probs.resize(n_words);
    for (std::size_t w = 0; w < n_words; ++w) {
        shorter[w] = discounted(counts[0][w], discounts[0]) / static_cast<double>(all.sum) + share;
        levels[0].log_probs[w] =
            w == SENTENCE_BEGIN ? IMPOSSIBLE_LOG_PROB : log10_float(shorter[w]);
    }

    std::vector<std::uint32_t> contexts;
    for (std::size_t depth = 1; depth < levels.size(); ++depth) {
        contexts = contexts_at(levels, depth, contexts);
        const auto size = contexts.size();
        require_below<std::uint32_t>(contexts, shorter.size(), "an n-gram has no context");
        require(size == counts[depth].size(), "n-grams and their counts differ in number");
        std::vector<Totals> totals(shorter.size());
        for (std::size_t x = 0; x < size; ++x) totals[contexts[x]].add(counts[depth][x]);
        auto& above = levels[depth - 1];
        above.backoffs.assign(shorter.size(), 0);
        for (std::size_t c = 0; c < totals.size(); ++c)
            if (totals[c].sum) above.backoffs[c] = log10_float(totals[c].gamma(discounts[depth]));
        probs.resize(size);
        levels[depth].log_probs.resize(size);
        for (std::size_t parent = 0; parent < shorter.size(); ++parent)
            for (std::uint32_t x = above.begins[parent]; x < above.begins[parent + 1]; ++x) {
                const Totals& context = totals[contexts[x]];
                probs[x] = discounted(counts[depth][x], discounts[depth]) /
                               static_cast<double>(context.sum) +
                           context.gamma(discounts[depth]) * shorter[parent];
                levels[depth].log_probs[x] = log10_float(probs[x]);
            }
        shorter.swap(probs);
    }
    return discounts;
}

// The number of occurrences of each n-gram, by depth, without the longest n-grams. If an n-gram begins
// a sentence or has the full length, its adjusted count is this number. All other n-grams occur only
// after some word: their number is the sum over their children.
std::vector<std::vector<std::uint64_t>> occurrences_of(
    const std::vector<TrieLevel>& levels, std::vector<std::vector<std::uint64_t>>&& adjusted) {
    for (std::size_t depth = levels.size() - 1; depth-- > 0;)
        for (std::size_t x = 0; x < adjusted[depth].size(); ++x) {
            const auto first = static_cast<std::size_t>(levels[depth].begins[x]);
            const auto last = static_cast<std::size_t>(levels[depth].begins[x + 1]);
            const bool begins_sentence =
                depth == 0 ? x == SENTENCE_BEGIN : levels[depth].words[x] == SENTENCE_BEGIN;
            if (begins_sentence) continue;
            adjusted[depth][x] = 0;
            for (std::size_t child = first; child < last; ++child)
                adjusted[depth][x] += adjusted[depth + 1][child];
        }
    // As many sentences begin as end.
    adjusted[0][SENTENCE_BEGIN] = adjusted[0][SENTENCE_END];
    adjusted.pop_back();
    return std::move(adjusted);
}

// Makes a model from texts. If they have more than `run_tokens` tokens, the numbers of their words go
// to a file in `folder`, and so do sorted runs of n-grams. `resume` continues with the files of an
// interrupted training; without it they are overwritten.
class NgramTrainer {
public:
    NgramTrainer(int order, std::size_t run_tokens, std::string folder, int threads)
        : order_(order), run_tokens_(run_tokens), folder_(std::move(folder)), threads_(threads) {
        constexpr int MAX_ORDER = 1000;
        require(order > 0 && order <= MAX_ORDER,
                "an n-gram model has at least one order, at most 1000");
        require(run_tokens > 0, "run_tokens must be at least 1");
    }

    // All words but these count as unknown.
    void know_only(nb::handle sequence) {
        require_unfinished();
        const Texts texts(sequence);
        for (std::size_t i = 0; i < texts.size(); ++i) words_.add(texts[i]);
        has_fixed_words_ = true;
    }

    // Writes all word numbers so far to the file; returns how many there are.
    std::uint64_t checkpoint() {
        require_unfinished();
        nb::gil_scoped_release release;
        spill();
        flush(spilled_.get());
        return n_spilled_;
    }

    // Continues after the first `n_numbers` of the file, which were made with these words.
    void resume(std::uint64_t n_numbers, nb::handle sequence) {
        require_unfinished();
        const Texts texts(sequence);
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < texts.size(); ++i) words_.add(texts[i]);
        occurrences_.resize(words_.size());
        std::filesystem::resize_file(folder_ + "/tokens", n_numbers * sizeof(std::uint32_t));
        spilled_ = open_file(folder_ + "/tokens", "r+b");
        std::vector<std::uint32_t> chunk(1 << 16);
        while (const std::size_t n =
                   std::fread(chunk.data(), sizeof chunk[0], chunk.size(), spilled_.get())) {
            for (std::size_t i = 0; i < n; ++i) ++occurrences_.at(chunk[i]);
            n_spilled_ += n;
        }
        std::fseek(spilled_.get(), 0, SEEK_END);  // needed between reading and writing
        has_runs_ = true;
    }

    // The words from number `begin` on, a line each.
    nb::bytes words_from(std::uint32_t begin) const {
        require_unfinished();
        std::string lines;
        for (std::uint32_t id = begin; id < words_.size(); ++id)
            lines.append(words_.view()[id]).push_back('\n');
        return nb::bytes(lines.data(), lines.size());
    }

    // Every text is a sentence; those without a token are left out. Returns the number of tokens.
    std::uint64_t add(nb::handle sequence, const char* tokenizer_name) {
        require_unfinished();
        const Tokenizer tokenizer = tokenizer_named(tokenizer_name);
        const Texts texts(sequence);
        nb::gil_scoped_release release;
        std::string buffer;
        std::vector<std::string_view> tokens;
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            tokenize(tokenizer, texts[i], buffer, tokens);
            if (tokens.empty()) continue;
            total += tokens.size();
            put(SENTENCE_BEGIN);
            for (const auto token : tokens) {
                const std::uint32_t id =
                    has_fixed_words_ ? find_in_text(words_.view(), token) : words_.add(token);
                put(id < FIRST_PLAIN_WORD ? UNKNOWN_WORD : id);
            }
            put(SENTENCE_END);
        }
        return total;
    }

    // (vocabulary, levels, discounts, occurrences); words rarer than `min_count` become unknown. A
    // trainer cannot be used afterwards: it gives its words away.
    nb::tuple finish(std::uint64_t min_count) {
        require_unfinished();
        is_finished_ = true;
        std::vector<TrieLevel> levels;
        std::vector<Discounts> discounts;
        std::vector<std::vector<std::uint64_t>> counts;
        {
            nb::gil_scoped_release release;
            cut_vocabulary(min_count);
            counts.resize(static_cast<std::size_t>(order_));
            levels = count_ngrams(counts, min_count);
            discounts = estimate(levels, counts);
            counts = occurrences_of(levels, std::move(counts));
        }
        nb::list listed;
        for (const auto& d : discounts) listed.append(nb::make_tuple(d[1], d[2], d[3]));
        const nb::tuple arrays = as_arrays(words_, levels);
        nb::list occurrences;
        for (auto& level : counts) occurrences.append(as_array(std::move(level)));
        return nb::make_tuple(arrays[0], arrays[1], listed, occurrences);
    }

private:
    void require_unfinished() const { require(!is_finished_, "a trainer makes one model"); }

    void put(std::uint32_t id) {
        if (stream_.size() >= run_tokens_) spill();
        stream_.push_back(id);
        if (id >= occurrences_.size()) occurrences_.resize(words_.size());
        ++occurrences_[id];
    }

    void spill() {
        if (!spilled_) spilled_ = open_file(folder_ + "/tokens", "w+b");
        // More text makes the last run longer, and may change the numbers of words.
        if (!stream_.empty()) has_runs_ = false;
        write_numbers(spilled_.get(), stream_.data(), stream_.size());
        n_spilled_ += stream_.size();
        stream_.clear();
    }

    void cut_vocabulary(std::uint64_t min_count) {
        final_number_.resize(words_.size());
        occurrences_.resize(words_.size());
        WordTable kept(SPECIAL_WORDS);
        for (std::uint32_t id = 0; id < words_.size(); ++id) {
            const bool is_kept =
                has_fixed_words_ || id < FIRST_PLAIN_WORD || occurrences_[id] >= min_count;
            final_number_[id] = is_kept ? kept.add(words_.view()[id]) : UNKNOWN_WORD;
        }
        words_ = std::move(kept);
    }

    // Returns the trie without probabilities; `counts` gets the adjusted counts that `estimate` needs.
    std::vector<TrieLevel> count_ngrams(std::vector<std::vector<std::uint64_t>>& counts,
                                        std::uint64_t min_count) {
        TrieBuilder trie(order_, words_.size());
        counts[0].resize(words_.size());
        const auto take = [&](const std::uint32_t* reversed, std::uint64_t count) {
            std::size_t length = 1;
            while (length < counts.size() && reversed[length - 1] != SENTENCE_BEGIN) ++length;
            trie.add(reversed, length, [&](std::size_t depth) {
                if (depth > 0) counts[depth].push_back(0);
                if (depth == 1) ++counts[0][reversed[0]];
                if (depth > 1) ++counts[depth - 1].back();
            });
            (length == 1 ? counts[0][reversed[0]] : counts[length - 1].back()) += count;
        };
        if (!spilled_) {
            for (auto& id : stream_) id = final_number_[id];
            count_sorted(stream_, 0, order_, words_.size(), threads_, take);
            return trie.finish();
        }
        const auto runs = write_runs(min_count);
        std::vector<std::uint32_t> last;
        merge_runs(runs, order_, [&](const std::uint32_t* reversed, std::uint64_t count) {
            const auto* end = reversed + order_;
            const bool is_known =
                std::all_of(reversed, end, [&](auto id) { return id < words_.size(); });
            if (!is_known || !std::lexicographical_compare(last.begin(), last.end(), reversed, end))
                throw std::runtime_error("a run of counts is damaged");
            last.assign(reversed, end);
            take(reversed, count);
        });
        return trie.finish();
    }

    std::vector<std::string> write_runs(std::uint64_t min_count) {
        spill();
        std::rewind(spilled_.get());
        std::vector<std::string> paths;
        std::vector<std::uint32_t> chunk;
        const auto history = static_cast<std::size_t>(order_ - 1);
        // The name of a run says all that it depends on, except the text.
        std::string settings;
        for (const auto setting :
             {static_cast<std::uint64_t>(order_), min_count, std::uint64_t{run_tokens_}})
            settings.append("-").append(std::to_string(setting));
        while (true) {
            // The words before the chunk stay before it: n-grams reach back over its beginning.
            chunk.erase(chunk.begin(),
                        chunk.end() - static_cast<std::ptrdiff_t>(std::min(history, chunk.size())));
            const std::size_t first = chunk.size();
            chunk.resize(first + run_tokens_);
            chunk.resize(first + std::fread(chunk.data() + first, sizeof(std::uint32_t),
                                            run_tokens_, spilled_.get()));
            if (chunk.size() == first) return paths;
            for (std::size_t i = first; i < chunk.size(); ++i) {
                if (chunk[i] >= final_number_.size())
                    throw std::runtime_error("the file of tokens was changed during training");
                chunk[i] = final_number_[chunk[i]];
            }
            paths.push_back(folder_ + "/run" + std::to_string(paths.size()) + settings);
            // write_run renames a file when it is complete: this one is from an interrupted training.
            if (!has_runs_ || !std::filesystem::exists(paths.back()))
                write_run(chunk, first, paths.back());
        }
    }

    void write_run(const std::vector<std::uint32_t>& chunk, std::size_t first,
                   const std::string& path) const {
        File file = open_file(path + ".part", "wb");
        std::vector<std::uint32_t> record(static_cast<std::size_t>(order_) + 1);
        count_sorted(chunk, first, order_, words_.size(), threads_,
                     [&](const std::uint32_t* reversed, std::uint32_t count) {
                         std::copy_n(reversed, order_, record.begin());
                         record.back() = count;
                         write_numbers(file.get(), record.data(), record.size());
                     });
        flush(file.get());
        file.reset();
        std::filesystem::rename(path + ".part", path);
    }

    int order_;
    std::size_t run_tokens_;
    std::string folder_;
    int threads_;
    bool has_fixed_words_ = false, is_finished_ = false;
    bool has_runs_ = false;  // whether runs that are in the folder belong to this text
    WordTable words_{SPECIAL_WORDS};
    std::vector<std::uint64_t> occurrences_;
    std::vector<std::uint32_t> stream_;        // the numbers of words that are not yet in the file
    std::vector<std::uint32_t> final_number_;  // by word: its number without the rare words
    File spilled_;
    std::uint64_t n_spilled_ = 0;
};

}  // namespace

void add_ngram_training(nb::module_& m) {
    nb::class_<NgramTrainer>(m, "NgramTrainer")
        .def(nb::init<int, std::size_t, std::string, int>(), nb::arg("order"),
             nb::arg("run_tokens"), nb::arg("folder"), nb::arg("threads"))
        .def("know_only", &NgramTrainer::know_only, nb::arg("words"))
        .def("checkpoint", &NgramTrainer::checkpoint)
        .def("resume", &NgramTrainer::resume, nb::arg("n_numbers"), nb::arg("words"))
        .def("words_from", &NgramTrainer::words_from, nb::arg("begin"))
        .def("add", &NgramTrainer::add, nb::arg("texts"), nb::arg("tokenizer"))
        .def("finish", &NgramTrainer::finish, nb::arg("min_count"));
}

}  // namespace wellput
