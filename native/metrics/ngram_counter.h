// N-grams as paths in a trie (a tree of tokens): a node is an n-gram, its parent is the n-gram without
// the last token. Nodes are found by the key (parent, token), so different n-grams are never confused.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/tokenize.h"
#include "text/word_table.h"

namespace wellput {

namespace nb = nanobind;

using Node = std::uint32_t;
using Token = std::uint32_t;

inline constexpr Node ROOT_NODE = 0;

class Trie {
public:
    static constexpr Node NO_NODE = 0xffffffff;

    Trie() { clear(); }
    void clear() {
        size_ = 1;
        if (++stamp_ == 0) {  // after 2^32 items the stamps start over
            for (auto& slot : slots_) slot.stamp = 0;
            stamp_ = 1;
        }
    }
    std::size_t size() const { return size_; }

    // The child of a node for a token; NO_NODE if there is none.
    Node find(Node parent, Token token) const {
        if (slots_.empty()) return NO_NODE;
        const Slot& slot = slots_[place(parent, token)];
        return slot.stamp == stamp_ ? slot.node : NO_NODE;
    }

    // Loads the place of a child into the processor's cache, where most of a big trie is not. To be
    // called some time before the child is used.
    void prefetch(Node parent, Token token) const {
        if (!slots_.empty()) __builtin_prefetch(&slots_[start(key(parent, token))]);
    }

    // The child, added if it is new. Nodes are numbered 1, 2, 3, ... in the order of adding; the root
    // is 0.
    Node add(Node parent, Token token) {
        if (size_ * 2 >= slots_.size()) grow();
        Slot& slot = slots_[place(parent, token)];
        if (slot.stamp != stamp_) {
            if (size_ == NO_NODE) throw std::bad_alloc();  // no number is left
            slot = {key(parent, token), stamp_, static_cast<Node>(size_++)};
        }
        return slot.node;
    }

private:
    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t stamp = 0;  // a slot with another stamp than stamp_ is empty
        Node node = 0;
    };

    static std::uint64_t key(Node parent, Token token) {
        return std::uint64_t{parent} << 32 | token;
    }

    std::size_t start(std::uint64_t key) const {
        const std::uint64_t h = key * 0x9e3779b97f4a7c15ull;
        return (h ^ h >> 32) & (slots_.size() - 1);
    }

    // Where the child is, or the free slot where it would be.
    std::size_t place(Node parent, Token token) const {
        const std::uint64_t wanted = key(parent, token);
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = start(wanted);
        while (slots_[at].stamp == stamp_ && slots_[at].key != wanted) at = (at + 1) & mask;
        return at;
    }

    void grow() {
        std::vector<Slot> old(std::max<std::size_t>(256, slots_.size() * 2));
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.stamp == stamp_)
                slots_[place(static_cast<Node>(slot.key >> 32), static_cast<Token>(slot.key))] =
                    slot;
    }

    std::vector<Slot> slots_;
    std::size_t size_ = 1;
    std::uint32_t stamp_ = 0;
};

// Counts every n-gram up to an order in texts that arrive in parts.
class NgramCounter {
public:
    NgramCounter(std::uint8_t order, std::string tokenizer)
        : order_(order), name_(std::move(tokenizer)), tokenizer_(tokenizer_named(name_)),
          totals_(order, 0), distinct_(order, 0) {}

    void add(std::string_view text) {
        tokenize(tokenizer_, text, buffer_, tokens_);
        ids_.clear();
        for (const auto token : tokens_) ids_.push_back(words_.add(token));
        counts_[ROOT_NODE] += static_cast<std::int64_t>(ids_.size());
        // Order by order, so that the memory accesses of one order overlap.
        nodes_.assign(ids_.size(), ROOT_NODE);
        for (std::size_t i = 0; i < std::min<std::size_t>(order_, ids_.size()); ++i) {
            const std::size_t ngrams = ids_.size() - i;
            totals_[i] += static_cast<std::int64_t>(ngrams);
            for (std::size_t at = 0; at < ngrams; ++at) trie_.prefetch(nodes_[at], ids_[at + i]);
            for (std::size_t at = 0; at < ngrams; ++at) {
                nodes_[at] = child(nodes_[at], ids_[at + i], i);
                ++counts_[nodes_[at]];
            }
        }
    }

    std::size_t order() const { return order_; }
    Tokenizer tokenizer() const { return tokenizer_; }
    std::int64_t total(std::size_t n) const { return totals_.at(n - 1); }
    std::int64_t distinct(std::size_t n) const { return distinct_.at(n - 1); }

    // The number of a token; NO_WORD if no text has it.
    Token find_token(std::string_view token) const { return words_.view().find(token); }
    void prefetch(Node parent, Token token) const { trie_.prefetch(parent, token); }
    Node find(Node parent, Token token) const { return trie_.find(parent, token); }
    // The root's count is the number of all tokens.
    std::int64_t count(Node node) const { return counts_[node]; }

    // The whole counter as Python objects: (order, tokenizer, tokens, nodes). A node is its parent,
    // its token and its count; nodes are in the order of adding.
    nb::tuple state() const {
        nb::list tokens;
        for (Token id = 0; id < words_.size(); ++id) {
            const std::string_view word = words_.view()[id];
            tokens.append(nb::bytes(word.data(), word.size()));
        }
        std::vector<std::int64_t> nodes;
        nodes.reserve(3 * counts_.size());
        for (Node node = 0; node < counts_.size(); ++node)
            nodes.insert(nodes.end(), {parents_[node], last_[node], counts_[node]});
        return nb::make_tuple(order_, name_, tokens,
                              nb::bytes(reinterpret_cast<const char*>(nodes.data()),
                                        nodes.size() * sizeof(std::int64_t)));
    }

    static NgramCounter from_state(const nb::tuple& state) {
        NgramCounter counter(nb::cast<std::uint8_t>(state[0]), nb::cast<std::string>(state[1]));
        for (const nb::handle token : nb::cast<nb::list>(state[2])) {
            const auto bytes = nb::cast<nb::bytes>(token);
            counter.words_.add({bytes.c_str(), bytes.size()});
        }
        const auto packed = nb::cast<nb::bytes>(state[3]);
        std::vector<std::int64_t> nodes(packed.size() / sizeof(std::int64_t));
        std::memcpy(nodes.data(), packed.c_str(), nodes.size() * sizeof(std::int64_t));
        counter.counts_[ROOT_NODE] = nodes.at(2);  // the root is the first node
        std::vector<std::size_t> lengths = {0};    // in tokens, of the nodes so far
        for (std::size_t at = 3; at + 2 < nodes.size(); at += 3) {
            const auto parent = static_cast<Node>(nodes[at]);
            const std::size_t i = lengths.at(parent);
            const Node node = counter.child(parent, static_cast<Token>(nodes[at + 1]), i);
            counter.counts_[node] = nodes[at + 2];
            counter.totals_.at(i) += nodes[at + 2];
            lengths.push_back(i + 1);
        }
        return counter;
    }

private:
    // The child of an n-gram of i tokens, added if it is new.
    Node child(Node parent, Token token, std::size_t i) {
        const Node node = trie_.add(parent, token);
        if (node == counts_.size()) {
            parents_.push_back(parent);
            last_.push_back(token);
            counts_.push_back(0);
            ++distinct_[i];
        }
        return node;
    }

    std::uint8_t order_;
    std::string name_;
    Tokenizer tokenizer_;
    WordTable words_;
    Trie trie_;
    // For each node, the root first: its parent, its last token, its count.
    std::vector<Node> parents_ = {ROOT_NODE};
    std::vector<Token> last_ = {0};
    std::vector<std::int64_t> counts_ = {0};
    // For each order: all n-grams, and distinct ones.
    std::vector<std::int64_t> totals_, distinct_;
    std::string buffer_;
    std::vector<std::string_view> tokens_;
    std::vector<Token> ids_;
    std::vector<Node> nodes_;
};

}  // namespace wellput
