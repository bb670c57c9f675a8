// What is kept of a lattice while it is searched: pieces of paths, and probabilities looked up.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace wellput {

// Up to three words in the lanes of an integer, as local numbers from 1; an empty lane is 0.
using Lanes = std::uint64_t;

struct Piece {
    double score;
    double estimate;     // of the first words, as long as nothing is known before them
    Lanes first, last;   // first word in the lowest lane; last word in the lowest lane
    std::uint64_t hash;  // of the words
    std::uint32_t length;
    std::int32_t before, inside;  // the pieces put together; without them the piece is `word`
    std::int32_t word;

    // What is no number ranks last: sorting needs an order of all.
    double rank() const {
        const double sum = score + estimate;
        return std::isnan(sum) ? -std::numeric_limits<double>::infinity() : sum;
    }
    bool has_ends_of(const Piece& other) const {
        return first == other.first && last == other.last;
    }
    // Any fixed order would do among equals, so that results never depend on a table's.
    static bool is_better(const Piece& a, const Piece& b) {
        const double x = a.rank(), y = b.rank();
        return std::tie(y, a.before, a.inside) < std::tie(x, b.before, b.inside);
    }
};

// What was looked up in the n-gram model, by n-gram.
class LogProbs {
public:
    static constexpr double UNSET = 1;

    void clear() {
        slots_.assign(1024, {});
        size_ = 0;
    }
    double& operator[](std::uint64_t key) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        Slot& slot = slots_[place(key)];
        size_ += slot.key == 0;
        slot.key = key;
        return slot.value;
    }

private:
    struct Slot {
        std::uint64_t key = 0;  // of no n-gram
        double value = UNSET;
    };
    std::size_t place(std::uint64_t key) const {
        std::size_t at = (key * 0x9e3779b97f4a7c15ull >> 20) & (slots_.size() - 1);
        while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
        return at;
    }
    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.key) slots_[place(slot.key)] = slot;
    }

    std::vector<Slot> slots_;
    std::size_t size_ = 0;
};

// The pieces that lead to one state: of those with the same ends the n best that differ.
class PiecesOfState {
public:
    void clear() {
        pieces_.clear();
        next_.clear();
        n_ends_ = 0;
        floor_ = -std::numeric_limits<double>::infinity();
        std::fill(heads_.begin(), heads_.end(), NONE);
    }
    const std::vector<Piece>& pieces() const { return pieces_; }
    std::size_t n_ends() const { return n_ends_; }

    void add(const Piece& piece, std::size_t n_best) {
        if (piece.rank() < floor_) return;
        if (heads_.size() < 2 * (n_ends_ + 1)) grow();
        const std::size_t slot = slot_of(piece);
        std::size_t alike = 0;
        std::uint32_t worst = NONE;
        for (std::uint32_t x = heads_[slot]; x != NONE; x = next_[x], ++alike) {
            Piece& other = pieces_[x];
            if (other.hash == piece.hash) {
                if (precedes(piece, other)) other = piece;
                return;
            }
            if (worst == NONE || precedes(pieces_[worst], other)) worst = x;
        }
        if (alike >= n_best) {
            if (precedes(piece, pieces_[worst])) pieces_[worst] = piece;
            return;
        }
        n_ends_ += alike == 0;
        next_.push_back(heads_[slot]);
        heads_[slot] = static_cast<std::uint32_t>(pieces_.size());
        pieces_.push_back(piece);
    }

    void sort() { std::sort(pieces_.begin(), pieces_.end(), Piece::is_better); }

    // What comes later and ranks lower than all of these will not be taken.
    void keep_best(std::size_t room) {
        if (pieces_.size() > room) {
            const auto last = pieces_.begin() + static_cast<std::ptrdiff_t>(room) - 1;
            std::nth_element(pieces_.begin(), last, pieces_.end(), Piece::is_better);
            floor_ = last->rank();
            pieces_.resize(room);
        }
        rebuild();
    }

private:
    static constexpr std::uint32_t NONE = ~std::uint32_t{0};

    static bool precedes(const Piece& a, const Piece& b) {
        return std::tie(b.score, a.before, a.inside) < std::tie(a.score, b.before, b.inside);
    }
    // A slot holds a list of pieces with the same ends.
    std::size_t slot_of(const Piece& piece) const {
        const std::uint64_t h =
            (piece.first * 0x9e3779b97f4a7c15ull ^ piece.last) * 0xff51afd7ed558ccdull;
        std::size_t slot = (h >> 32) & (heads_.size() - 1);
        while (heads_[slot] != NONE && !pieces_[heads_[slot]].has_ends_of(piece))
            slot = (slot + 1) & (heads_.size() - 1);
        return slot;
    }
    void grow() {
        heads_.resize(std::max<std::size_t>(64, 2 * heads_.size()));
        rebuild();
    }
    void rebuild() {
        std::fill(heads_.begin(), heads_.end(), NONE);
        next_.assign(pieces_.size(), NONE);
        n_ends_ = 0;
        for (std::uint32_t x = 0; x < pieces_.size(); ++x) {
            const std::size_t slot = slot_of(pieces_[x]);
            n_ends_ += heads_[slot] == NONE;
            next_[x] = heads_[slot];
            heads_[slot] = x;
        }
    }

    std::vector<Piece> pieces_;
    std::vector<std::uint32_t> heads_, next_;
    std::size_t n_ends_ = 0;
    double floor_ = 0;
};

}  // namespace wellput
