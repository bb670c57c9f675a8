// An unordered tree of words, walked in an order that depends only on the words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace wellput {

struct TreeNode {
    int lexeme, shape, head;  // head -1 at the root
    int category, relation;   // -1 where they are not known
    std::uint64_t name;       // a hash of the form, to tell sisters apart
};

// The daughters of each word, sorted by what is below them, and the words from the root down: the
// same for every order of the input.
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
        descend(root);
        std::vector<std::uint64_t> names(nodes.size());
        for (auto x = order_.rbegin(); x != order_.rend(); ++x) {
            auto& sisters = daughters_[*x];
            std::sort(sisters.begin(), sisters.end(),
                      [&](int a, int b) { return names[a] < names[b]; });
            std::uint64_t name = nodes[*x].name;
            name = mixed(name, static_cast<std::uint64_t>(nodes[*x].category) + 1);
            name = mixed(name, static_cast<std::uint64_t>(nodes[*x].relation) + 1);
            for (const int d : sisters) name = mixed(name, names[d]);
            names[*x] = name;
        }
        descend(root);
    }

    std::size_t size() const { return nodes_.size(); }
    int root() const { return order_[0]; }
    const TreeNode& operator[](int x) const { return nodes_[static_cast<std::size_t>(x)]; }
    const std::vector<int>& daughters(int x) const { return daughters_[x]; }
    const std::vector<int>& order() const { return order_; }

private:
    static std::uint64_t mixed(std::uint64_t name, std::uint64_t part) {
        name = (name ^ part) * 0xff51afd7ed558ccdull + 1;
        return name ^ name >> 32;
    }
    void descend(int root) {
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
