// An unordered tree of words, arranged in an order that depends only on its words and arcs, not on the
// order of the input. A word is given by its place in the input (often called `x`).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace wellput {

struct TreeNode {
    // The numbers of the word and of a shape (tree_model.h) whose supertags it may also have, -1 for no
    // shape; and its head, -1 at the root.
    int lexeme, shape, head;
    int category, relation;   // -1 where they are not known
    std::uint64_t form_hash;  // to distinguish sisters
};

// The daughters of each word, sorted by a hash of all words below them, and the words from the root
// down: the same for every order of the input.
class ArrangedTree {
public:
    void arrange(std::span<const TreeNode> nodes) {
        nodes_ = nodes;
        daughters_.assign(nodes.size(), {});
        int root = 0;
        for (std::size_t x = 0; x < nodes.size(); ++x)
            if (nodes[x].head < 0)
                root = static_cast<int>(x);
            else
                daughters_[nodes[x].head].push_back(static_cast<int>(x));
        list_words(root);
        std::vector<std::uint64_t> hashes(nodes.size());  // of a word with everything below it
        for (auto x = order_.rbegin(); x != order_.rend(); ++x) {
            auto& sisters = daughters_[*x];
            std::sort(sisters.begin(), sisters.end(),
                      [&](int a, int b) { return hashes[a] < hashes[b]; });
            std::uint64_t hash = nodes[*x].form_hash;
            hash = mixed(hash, static_cast<std::uint64_t>(nodes[*x].category) + 1);
            hash = mixed(hash, static_cast<std::uint64_t>(nodes[*x].relation) + 1);
            for (const int d : sisters) hash = mixed(hash, hashes[d]);
            hashes[*x] = hash;
        }
        list_words(root);
    }

    std::size_t size() const { return nodes_.size(); }
    int root() const { return order_[0]; }
    const TreeNode& operator[](int x) const { return nodes_[static_cast<std::size_t>(x)]; }
    const std::vector<int>& daughters(int x) const { return daughters_[x]; }
    // The words from the root down: each word before its daughters.
    const std::vector<int>& order() const { return order_; }

private:
    static std::uint64_t mixed(std::uint64_t hash, std::uint64_t part) {
        hash = (hash ^ part) * 0xff51afd7ed558ccdull + 1;
        return hash ^ hash >> 32;
    }
    void list_words(int root) {
        order_.assign(1, root);
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const auto& below = daughters_[order_[i]];
            order_.insert(order_.end(), below.begin(), below.end());
        }
    }

    std::span<const TreeNode> nodes_;
    std::vector<std::vector<int>> daughters_;
    std::vector<int> order_;
};

}  // namespace wellput
