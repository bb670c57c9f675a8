// What kernels that compare hypotheses with references ask of them.
#pragma once

#include <stdexcept>
#include <string>

#include "core/texts.h"

namespace wellput {

inline void require_references(const Texts& hypotheses, const TextLists& references) {
    if (hypotheses.size() != references.size())
        throw std::invalid_argument(std::to_string(hypotheses.size()) + " hypotheses but " +
                                    std::to_string(references.size()) + " lists of references");
    for (std::size_t i = 0; i < references.size(); ++i)
        if (references.count(i) == 0)
            throw std::invalid_argument("row " + std::to_string(i) + " has no reference");
}

}  // namespace wellput
