// The transition system of the arc-hybrid parser, and its oracle for training.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wellput {

// The arc-hybrid transition system (Kuhlmann, Gómez-Rodríguez & Satta 2011) with the dynamic oracle
// of Goldberg & Nivre (2013).
//
// Words are numbered from 1; 0 is the head of the root and lies at the bottom of the stack. The buffer
// has the words that were not yet on the stack. SHIFT moves the first word of the buffer onto the
// stack. LEFT makes the first word of the buffer the head of the stack's top word, RIGHT the word
// below the top; both then take the top off the stack. A word may get the head 0 only when the buffer
// is empty: so every sequence of legal moves ends in a tree with one root, and every projective tree
// with one root can be reached.

enum Move : int { SHIFT_MOVE = 0, LEFT_MOVE = 1, RIGHT_MOVE = 2 };
constexpr int MOVE_KINDS = 3;
constexpr int ILLEGAL_MOVE = -1;

class ArcHybrid {
public:
    // A word's daughters so far on one of its sides. They are attached from the inside out.
    struct Daughters {
        int outer = 0, inner = 0;  // the outermost daughter and the next one inside, 0 for none
        int count = 0;
        std::uint64_t labels = 0;  // the set of their labels: a bit for each label modulo 64
        void add(int word, int label) {
            inner = outer;
            outer = word;
            ++count;
            labels |= std::uint64_t{1} << (label & 63);
        }
    };

    void start(std::size_t words) {
        n_words_ = static_cast<int>(words);
        next_ = 1;
        stack_.assign(1, 0);
        heads_.assign(words + 1, -1);
        labels_.assign(words + 1, -1);
        left_.assign(words + 1, {});
        right_.assign(words + 1, {});
    }

    bool is_final() const { return next_ > n_words_ && stack_.size() == 1; }
    bool is_legal(Move move) const {
        switch (move) {
            case SHIFT_MOVE: return next_ <= n_words_;
            case LEFT_MOVE: return next_ <= n_words_ && stack_.size() > 1;
            default: return stack_.size() > 2 || (stack_.size() == 2 && next_ > n_words_);
        }
    }
    void make(Move move, int label) {
        if (move == SHIFT_MOVE) {
            stack_.push_back(next_++);
            return;
        }
        const int word = stack_.back();
        stack_.pop_back();
        const int head = move == LEFT_MOVE ? next_ : stack_.back();
        heads_[word] = head;
        labels_[word] = label;
        (move == LEFT_MOVE ? left_ : right_)[head].add(word, label);
    }

    // The word `depth` places below the top of the stack, -1 for none.
    int stack(std::size_t depth) const {
        return depth < stack_.size() ? stack_[stack_.size() - 1 - depth] : -1;
    }
    // The word `ahead` places after the first word of the buffer, -1 for none.
    int buffer(int ahead) const { return ahead <= n_words_ - next_ ? next_ + ahead : -1; }
    // Also true for 0.
    bool is_on_stack(int word) const { return word < next_ && heads_[word] == -1; }
    const Daughters& left(int word) const { return left_[word]; }
    const Daughters& right(int word) const { return right_[word]; }
    int label(int word) const { return labels_[word]; }
    const std::vector<int>& heads() const { return heads_; }
    const std::vector<int>& labels() const { return labels_; }

private:
    int n_words_ = 0, next_ = 1;  // next_ is the first word of the buffer
    std::vector<int> stack_, heads_, labels_;
    std::vector<Daughters> left_, right_;
};

// A tree to be learned: heads, labels and daughters by word; place 0 is for the root's head.
struct GoldTree {
    std::vector<int> heads, labels;
    std::vector<std::vector<int>> daughters;

    GoldTree(const std::int32_t* word_heads, const std::int32_t* word_labels, std::size_t words)
        : heads(words + 1, -1), labels(words + 1, -1), daughters(words + 1) {
        for (std::size_t i = 0; i < words; ++i) {
            heads[i + 1] = word_heads[i];
            labels[i + 1] = word_labels[i];
            daughters[static_cast<std::size_t>(word_heads[i])].push_back(static_cast<int>(i) + 1);
        }
    }
};

// For each move, the number of the tree's arcs that it makes impossible; ILLEGAL_MOVE if it is illegal.
inline std::array<int, MOVE_KINDS> lost_arcs(const ArcHybrid& state, const GoldTree& gold) {
    const int top = state.stack(0), below = state.stack(1), first = state.buffer(0);
    const auto in_buffer = [&](int word) { return first != -1 && word >= first; };
    std::array<int, MOVE_KINDS> lost{ILLEGAL_MOVE, ILLEGAL_MOVE, ILLEGAL_MOVE};
    if (state.is_legal(SHIFT_MOVE)) {
        const int head = gold.heads[first];
        lost[SHIFT_MOVE] = head < first && head != top && state.is_on_stack(head);
        for (const int daughter : gold.daughters[first])
            lost[SHIFT_MOVE] += daughter < first && state.is_on_stack(daughter);
    }
    if (!state.is_legal(LEFT_MOVE) && !state.is_legal(RIGHT_MOVE)) return lost;
    // Daughters of `top` that are still in the buffer: LEFT and RIGHT lose them.
    int waiting = 0;
    for (const int daughter : gold.daughters[top]) waiting += in_buffer(daughter);
    const int head = gold.heads[top];
    if (state.is_legal(LEFT_MOVE))
        lost[LEFT_MOVE] = waiting + (head == below || (in_buffer(head) && head != first));
    if (state.is_legal(RIGHT_MOVE)) lost[RIGHT_MOVE] = waiting + in_buffer(head);
    return lost;
}

}  // namespace wellput
