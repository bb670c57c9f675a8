// Brown clustering (Brown et al. 1992): classes of words such that neighboring classes have the
// most mutual information. Exact greedy agglomeration with a window: the most frequent words begin
// as classes of one word each. Each further word joins as one more class, and then the two classes
// are merged that lose the least mutual information.
//
// With x(a, b) the times class b follows class a, and g(n) = n ln n, the mutual information (times the
// number of pairs, up to a constant) is Σ g(x(a, b)) − Σ g(left(a)) − Σ g(right(a)). Here left(a) is
// the number of pairs with class a on the left (the sum of row a of x), right(a) that with a on the
// right.
// With h(m, n) = g(m + n) − g(m) − g(n) ≥ 0, merging a and b loses
//   h(left(a), left(b)) + h(right(a), right(b)) − Σ_{d ≠ a, b} [h(x(a,d), x(b,d)) + h(x(d,a), x(d,b))]
//   − [g(sum of the four cells x(a,a), x(a,b), x(b,a), x(b,b)) − Σ g(each of these cells)].
// h(m, n) is 0 if m or n is 0: of the other classes d, only those next to both a and b matter, and they
// are few.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/arrays.h"
#include "core/checks.h"
#include "kernels.h"

namespace wellput {
namespace {

namespace nb = nanobind;
template <typename T>
using Input = Array<T>;

class Entropies {  // g(n), from a table where n is small
public:
    Entropies() : table_(1 << 16) {
        for (std::size_t n = 1; n < table_.size(); ++n)
            table_[n] = static_cast<double>(n) * std::log(static_cast<double>(n));
    }
    double operator()(std::int64_t n) const {
        if (n < static_cast<std::int64_t>(table_.size()))
            return table_[static_cast<std::size_t>(n)];
        return static_cast<double>(n) * std::log(static_cast<double>(n));
    }
    double together(std::int64_t m, std::int64_t n) const {  // h(m, n)
        return m && n ? (*this)(m + n) - (*this)(m) - (*this)(n) : 0;
    }

private:
    std::vector<double> table_;
};

// The words that follow (or precede) each word w, with the counts of these pairs: others[begins[w]] to
// others[begins[w + 1]], without the end.
struct Bigrams {
    const std::uint64_t* begins;
    const std::uint32_t* others;
    const std::uint32_t* counts;
};

class Clustering {
public:
    Clustering(const Bigrams& after, const Bigrams& before, std::size_t words, std::size_t classes)
        : after_(after), before_(before), n_slots_(classes + 1), class_of_(words, NO_CLASS),
          cells_(n_slots_ * n_slots_), shared_(n_slots_ * n_slots_), left_(n_slots_),
          right_(n_slots_), is_used_(n_slots_), members_(n_slots_) {}

    void run(std::vector<std::pair<std::uint32_t, std::uint32_t>>& merges) {
        const std::size_t words = class_of_.size();
        for (std::size_t word = 0; word < words; ++word) {
            const std::size_t slot = free_slot();
            insert(word, slot);
            if (word + 1 >= n_slots_) merges.push_back(merge_best());
        }
    }

    // By word, its class, numbered in order of their first words.
    std::vector<std::uint32_t> classes() const {
        std::vector<std::uint32_t> number(n_slots_, NO_CLASS), result;
        std::uint32_t next = 0;
        for (const auto slot : class_of_) {
            if (number[slot] == NO_CLASS) number[slot] = next++;
            result.push_back(number[slot]);
        }
        return result;
    }

private:
    static constexpr std::uint32_t NO_CLASS = ~std::uint32_t{0};

    std::int64_t& cell(std::size_t a, std::size_t b) { return cells_[a * n_slots_ + b]; }
    double& shared(std::size_t a, std::size_t b) {
        return a < b ? shared_[a * n_slots_ + b] : shared_[b * n_slots_ + a];
    }

    std::size_t free_slot() const {
        std::size_t slot = 0;
        while (is_used_[slot]) ++slot;
        return slot;
    }

    void insert(std::size_t word, std::size_t slot) {
        is_used_[slot] = true;
        members_[slot] = {static_cast<std::uint32_t>(word)};
        class_of_[word] = static_cast<std::uint32_t>(slot);
        for (std::uint64_t k = after_.begins[word]; k < after_.begins[word + 1]; ++k)
            add_pair(slot, after_.others[k], after_.counts[k]);
        for (std::uint64_t k = before_.begins[word]; k < before_.begins[word + 1]; ++k)
            if (before_.others[k] != word && class_of_[before_.others[k]] != NO_CLASS) {
                const std::size_t other = class_of_[before_.others[k]];
                cell(other, slot) += before_.counts[k];
                left_[other] += before_.counts[k];
                right_[slot] += before_.counts[k];
            }
        change_shared_of_others(slot, 1);
        compute_shared(slot);
    }

    void add_pair(std::size_t slot, std::uint32_t word, std::uint32_t count) {
        if (class_of_[word] == NO_CLASS) return;
        cell(slot, class_of_[word]) += count;
        left_[slot] += count;
        right_[class_of_[word]] += count;
    }

    std::vector<std::uint32_t> classes_after(std::size_t slot) {
        std::vector<std::uint32_t> found;
        for (std::size_t d = 0; d < n_slots_; ++d)
            if (d != slot && cell(slot, d)) found.push_back(static_cast<std::uint32_t>(d));
        return found;
    }
    std::vector<std::uint32_t> classes_before(std::size_t slot) {
        std::vector<std::uint32_t> found;
        for (std::size_t d = 0; d < n_slots_; ++d)
            if (d != slot && cell(d, slot)) found.push_back(static_cast<std::uint32_t>(d));
        return found;
    }

    // Adds (sign 1) or takes away (−1) what class `slot`, as d, contributes to pairs of other classes.
    void change_shared_of_others(std::size_t slot, double sign) {
        const auto after = classes_after(slot), before = classes_before(slot);
        for (std::size_t i = 0; i < after.size(); ++i)
            for (std::size_t j = i + 1; j < after.size(); ++j)
                shared(after[i], after[j]) +=
                    sign * g_.together(cell(slot, after[i]), cell(slot, after[j]));
        for (std::size_t i = 0; i < before.size(); ++i)
            for (std::size_t j = i + 1; j < before.size(); ++j)
                shared(before[i], before[j]) +=
                    sign * g_.together(cell(before[i], slot), cell(before[j], slot));
    }

    void compute_shared(std::size_t slot) {
        const auto after = classes_after(slot), before = classes_before(slot);
        for (std::size_t other = 0; other < n_slots_; ++other) {
            if (other == slot || !is_used_[other]) continue;
            double sum = 0;
            for (const auto d : after)
                if (d != other) sum += g_.together(cell(slot, d), cell(other, d));
            for (const auto d : before)
                if (d != other) sum += g_.together(cell(d, slot), cell(d, other));
            shared(slot, other) = sum;
        }
    }

    double loss(std::size_t a, std::size_t b) {
        const std::int64_t aa = cell(a, a), ab = cell(a, b), ba = cell(b, a), bb = cell(b, b);
        double inner = 0;
        if (aa + ab + ba + bb) inner = g_(aa + ab + ba + bb) - g_(aa) - g_(ab) - g_(ba) - g_(bb);
        return g_.together(left_[a], left_[b]) + g_.together(right_[a], right_[b]) -
               shared_[a * n_slots_ + b] - inner;
    }

    std::pair<std::uint32_t, std::uint32_t> merge_best() {
        double least = std::numeric_limits<double>::infinity();
        std::size_t first = 0, second = 1;
        for (std::size_t a = 0; a < n_slots_; ++a)
            for (std::size_t b = a + 1; b < n_slots_; ++b) {
                const double found = loss(a, b);
                if (found < least - 1e-7) {
                    least = found;
                    first = a;
                    second = b;
                }
            }
        const std::pair<std::uint32_t, std::uint32_t> merged{members_[first][0],
                                                             members_[second][0]};
        merge(first, second);
        return merged;
    }

    // Class b becomes part of class a, and its slot is free.
    void merge(std::size_t a, std::size_t b) {
        change_shared_of_others(a, -1);
        change_shared_of_others(b, -1);
        for (std::size_t d = 0; d < n_slots_; ++d) {
            cell(a, d) += cell(b, d);
            cell(b, d) = 0;
        }
        for (std::size_t d = 0; d < n_slots_; ++d) {
            cell(d, a) += cell(d, b);
            cell(d, b) = 0;
        }
        left_[a] += left_[b];
        right_[a] += right_[b];
        left_[b] = right_[b] = 0;
        is_used_[b] = false;
        for (const auto word : members_[b]) class_of_[word] = static_cast<std::uint32_t>(a);
        members_[a].insert(members_[a].end(), members_[b].begin(), members_[b].end());
        members_[b].clear();
        change_shared_of_others(a, 1);
        compute_shared(a);
    }

    Bigrams after_, before_;
    std::size_t n_slots_;  // one more than classes: a new class joins before two are merged
    std::vector<std::uint32_t> class_of_;  // by word: the slot of its class
    std::vector<std::int64_t> cells_;      // x, by two slots
    std::vector<double> shared_;           // by slots a < b: the Σ_{d ≠ a, b} of the formula above
    std::vector<std::int64_t> left_, right_;
    std::vector<char> is_used_;
    std::vector<std::vector<std::uint32_t>> members_;
    Entropies g_;
};

void check_bigrams(const Input<std::uint64_t>& begins, const Input<std::uint32_t>& words,
                   const Input<std::uint32_t>& counts) {
    require_pieces(values_of(begins), words.size(), "the beginnings of the words are out of order");
    require_below(values_of(words), begins.size() - 1, "a word is out of range");
    require(counts.size() == words.size(), "a count is needed for each pair");
}

using Result =
    std::pair<std::vector<std::uint32_t>, std::vector<std::pair<std::uint32_t, std::uint32_t>>>;

// Words are numbered from the most frequent. Returns the class of each word, and for each merge the two
// classes, each by the first word that was put into it.
Result brown_clusters(Input<std::uint64_t> after_begins, Input<std::uint32_t> after_words,
                      Input<std::uint32_t> after_counts, Input<std::uint64_t> before_begins,
                      Input<std::uint32_t> before_words, Input<std::uint32_t> before_counts,
                      std::size_t classes) {
    require(classes > 0, "no classes");
    require(after_begins.size() == before_begins.size(), "words before and after differ in number");
    check_bigrams(after_begins, after_words, after_counts);
    check_bigrams(before_begins, before_words, before_counts);
    const std::size_t words = after_begins.size() - 1;
    Result result;
    nb::gil_scoped_release release;
    const Bigrams after{after_begins.data(), after_words.data(), after_counts.data()};
    const Bigrams before{before_begins.data(), before_words.data(), before_counts.data()};
    Clustering clustering(after, before, words, std::min(classes, words));
    clustering.run(result.second);
    result.first = clustering.classes();
    return result;
}

}  // namespace

void add_brown_clusters(nb::module_& m) {
    m.def("brown_clusters", &brown_clusters, nb::arg("after_begins"), nb::arg("after_words"),
          nb::arg("after_counts"), nb::arg("before_begins"), nb::arg("before_words"),
          nb::arg("before_counts"), nb::arg("classes"));
}

}  // namespace wellput
