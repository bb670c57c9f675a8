// The probabilities of daughters' roles.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "language/models/tree_model.h"

namespace wellput {

// Under one mother at a time, whose counts are laid out by role.
class RoleScores {
public:
    explicit RoleScores(const TreeProbabilities& model)
        : p_(model), kinds_(model.slot_kinds()), at_site_(model.a.role_slot.size(), 0),
          at_lexeme_(model.a.role_slot.size(), 0), totals_(kinds_) {}

    void enter(int site, int mother) {
        for (const int role : touched_) at_site_[role] = at_lexeme_[role] = 0;
        std::fill(totals_.begin(), totals_.end(), Totals{});
        touched_.clear();
        site_ = site;
        for (int i = p_.site_begin_[site]; i < p_.site_begin_[site + 1]; ++i) {
            const std::int32_t* row = &p_.a.role_counts[3 * i];
            at_site_[row[1]] = row[2];
            touched_.push_back(row[1]);
        }
        if (mother >= p_.a.words) return;
        for (int i = p_.lexical_begin_[mother]; i < p_.lexical_begin_[mother + 1]; ++i) {
            const std::int32_t* row = &p_.a.lexical_counts[4 * i];  // mother, category, role, count
            if (row[1] != p_.a.site_category[site]) continue;
            at_lexeme_[row[2]] = row[3];
            totals_[p_.a.role_slot[row[2]]].add(row[3]);
            touched_.push_back(row[2]);
        }
    }

    // Of a role, given that the daughter fills a slot of its kind or is an adjunct.
    double operator()(int role) const {
        const int slot = p_.a.role_slot[role];
        const Totals& site = p_.site_totals_[site_ * kinds_ + slot];
        const double wide = p_.coarse_role_[p_.a.site_coarse[site_] * p_.a.role_slot.size() + role];
        const double p = site.interpolated(at_site_[role], p_.a.weights[2], wide);
        return std::log(totals_[slot].interpolated(at_lexeme_[role], p_.a.weights[3], p));
    }

private:
    const TreeProbabilities& p_;
    std::size_t kinds_;
    int site_ = 0;
    std::vector<double> at_site_, at_lexeme_;
    std::vector<Totals> totals_;
    Ints touched_;
};

}  // namespace wellput
