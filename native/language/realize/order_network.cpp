// Reading trees and scoring steps by the order network (order_network.h).
#include "language/realize/order_network.h"

#include <limits>

#include "core/clones.h"

namespace wellput {

WELLPUT_CLONES void vector_products(const std::int16_t* vector, std::size_t columns,
                                    const std::int16_t* others, std::size_t n, std::int32_t* sums) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::int16_t* const other = others + i * columns;
        std::int32_t sum = 0;
        for (std::size_t c = 0; c < columns; ++c) sum += std::int32_t{vector[c]} * other[c];
        sums[i] = sum;
    }
}

WELLPUT_CLONES float rounded(const float* values, std::size_t n, float steps, std::int16_t* whole) {
    // Several maxima side by side, and no branches: the compiler makes vector instructions of it.
    constexpr std::size_t MAXIMUM_LANES = 16;
    float lanes[MAXIMUM_LANES] = {};
    std::size_t i = 0;
    for (; i + MAXIMUM_LANES <= n; i += MAXIMUM_LANES)
        for (std::size_t lane = 0; lane < MAXIMUM_LANES; ++lane) {
            const float size = std::fabs(values[i + lane]);
            lanes[lane] = lanes[lane] < size ? size : lanes[lane];
        }
    for (; i < n; ++i) {
        const float size = std::fabs(values[i]);
        lanes[0] = lanes[0] < size ? size : lanes[0];
    }
    float largest = 0;
    for (const float size : lanes) largest = largest < size ? size : largest;
    // Numbers that are not finite come only from a damaged file: they count as 0.
    if (!(largest > 1e-20f && largest < 1e20f)) {
        for (i = 0; i < n; ++i) whole[i] = 0;
        return 0.0f;
    }
    const float factor = steps / largest;
    for (i = 0; i < n; ++i) {
        const float scaled = values[i] == values[i] ? values[i] * factor : 0.0f;
        whole[i] = static_cast<std::int16_t>(
            static_cast<std::int32_t>(scaled + std::copysign(0.5f, scaled)));
    }
    return largest / steps;
}

namespace {

// e to the power of x for x <= 0, to about seven digits: the same on every machine.
inline float power_of_e(float x) {
    x = x > -80.0f ? x : -80.0f;  // also for NaN
    const float whole = static_cast<float>(static_cast<std::int32_t>(x * 1.44269504f - 0.5f));
    const float r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    union {
        std::int32_t bits;
        float value;
    } scale = {(static_cast<std::int32_t>(whole) + 127) << 23};
    return p * scale.value;
}

constexpr float ADDED_VARIANCE = 1e-5f;  // added to variances, as in training
// Scores of steps lie within this on either side, so that sums of them are finite and can be sorted,
// whatever a damaged file says.
constexpr float MAX_STEP_SCORE = 1e6f;

// The class, from 0 to 6, of a number of words.
std::size_t count_class(std::size_t number) {
    return number <= 3 ? number : number <= 5 ? 4 : number <= 9 ? 5 : 6;
}

// How the word j stands to the word i in the tree; training has the same list.
std::uint8_t place_of(std::span<const std::uint32_t> mothers, std::uint32_t i, std::uint32_t j) {
    const auto is_root = [&](std::uint32_t word) { return mothers[word] == word; };
    const auto is_mother = [&](std::uint32_t of, std::uint32_t who) {
        return mothers[of] == who && !is_root(of);
    };
    const auto is_grandmother = [&](std::uint32_t of, std::uint32_t who) {
        return !is_root(of) && is_mother(mothers[of], who);
    };
    const auto is_aunt = [&](std::uint32_t of, std::uint32_t who) {
        return !is_root(of) && !is_root(mothers[of]) && is_mother(who, mothers[mothers[of]]);
    };
    if (i == j) return 0;
    if (is_mother(i, j)) return 1;
    if (is_mother(j, i)) return 2;
    if (!is_root(i) && is_mother(j, mothers[i])) return 3;
    if (is_grandmother(i, j)) return 4;
    if (is_grandmother(j, i)) return 5;
    if (is_aunt(i, j)) return 6;
    if (is_aunt(j, i)) return 7;
    return is_root(j) ? 8 : 9;
}

}  // namespace

WELLPUT_CLONES void soft_shares(float* scores, std::size_t n) {
    float highest = scores[0];
    for (std::size_t i = 1; i < n; ++i) highest = highest < scores[i] ? scores[i] : highest;
    for (std::size_t i = 0; i < n; ++i) scores[i] = power_of_e(scores[i] - highest);
    float sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += scores[i];
    for (std::size_t i = 0; i < n; ++i) scores[i] /= sum;
}

void multiply(const WholeMatrix& matrix, const float* from, std::size_t n, std::vector<float>& to) {
    static thread_local std::vector<Step> whole;
    static thread_local std::vector<float> sizes;
    const std::size_t columns = matrix.columns(), width = matrix.width();
    whole.assign(n * width, 0);
    sizes.resize(n);
    to.resize(n * matrix.rows());
    for (std::size_t i = 0; i < n; ++i)
        sizes[i] =
            rounded(from + i * columns, columns, MAX_STEPS_FOR_MATRIX, whole.data() + i * width);
    matrix.multiply(whole.data(), n, sizes.data(), true, to.data());
}

void Normalization::apply(const float* from, std::size_t n, std::vector<float>& to) const {
    const std::size_t width = gain.size();
    to.resize(n * width);
    for (std::size_t i = 0; i < n; ++i) {
        const float* const in = from + i * width;
        float* const out = to.data() + i * width;
        float mean = 0, variance = 0;
        for (std::size_t c = 0; c < width; ++c) mean += in[c];
        mean /= static_cast<float>(width);
        for (std::size_t c = 0; c < width; ++c) variance += (in[c] - mean) * (in[c] - mean);
        const float factor =
            1.0f / std::sqrt(variance / static_cast<float>(width) + ADDED_VARIANCE);
        for (std::size_t c = 0; c < width; ++c)
            out[c] = (in[c] - mean) * factor * gain[c] + bias[c];
    }
}

void OrderNetwork::check() const {
    constexpr const char* MISFIT_MESSAGE = "the parts of the order network do not fit together";
    const std::size_t word_width = as_head.rows();
    const auto check_size = [&](const WholeMatrix& part, std::size_t rows, std::size_t columns) {
        require(part.rows() == rows && part.columns() == columns, MISFIT_MESSAGE);
    };
    const auto check_normalization = [&](const Normalization& part) {
        require(part.gain.size() == word_width && part.bias.size() == word_width, MISFIT_MESSAGE);
    };
    require(word_width > 0 && decoder_size() > 0 && query_size() > 0 && pieces.rows() > 0,
            MISFIT_MESSAGE);
    require(query_size() <= MAX_SUMMED_PRODUCTS, MISFIT_MESSAGE);
    require(attention_heads > 0 && word_width % attention_heads == 0, MISFIT_MESSAGE);
    check_size(from_pieces, word_width, pieces.columns());
    check_size(as_head, word_width, word_width);
    check_size(items, 3 * decoder_size() + 3 * query_size(), word_width);
    check_size(ends, decoder_size() + 2 * query_size(), word_width);
    check_size(context, decoder_size(), word_width);
    check_size(query, query_size(), decoder_size());
    require(tables.size() == VECTOR_TABLES && starts.size() == 2 * decoder_size() + query_size(),
            MISFIT_MESSAGE);
    for (const WholeVectors& table : tables) require(table.columns() == word_width, MISFIT_MESSAGE);
    // Tables 6 to 8 are for seven classes of numbers of daughters, of sizes and of depths.
    for (std::size_t t = 6; t < VECTOR_TABLES; ++t) require(tables[t].rows() == 7, MISFIT_MESSAGE);
    check_normalization(last);
    for (const OrderLayer& layer : layers) {
        check_normalization(layer.before);
        check_normalization(layer.between);
        check_size(layer.attention, 3 * word_width, word_width);
        check_size(layer.joined, word_width, word_width);
        check_size(layer.inner, layer.inner.rows(), word_width);
        check_size(layer.outer, word_width, layer.inner.rows());
        require(layer.place_bias.size() == attention_heads * PLACE_KINDS, MISFIT_MESSAGE);
    }
}

void OrderNetwork::check_numbers(std::span<const std::int32_t> numbers) const {
    constexpr std::size_t PIECE = VECTOR_TABLES;  // a number of a piece, -1 if there is none
    static constexpr std::size_t TABLE_OF_NUMBER[NumberedTree::WORD_NUMBERS] = {
        0, 1, 2, PIECE, PIECE, PIECE, PIECE, 3, 4, 5};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::size_t table = TABLE_OF_NUMBER[i % NumberedTree::WORD_NUMBERS];
        const auto bound =
            static_cast<std::int64_t>(table == PIECE ? pieces.rows() : tables[table].rows());
        const std::int64_t least = table == PIECE ? -1 : 0;
        require(numbers[i] >= least && numbers[i] < bound,
                "a number of a word is beyond the order network");
    }
}

std::vector<float> OrderNetwork::words_of(const NumberedTree& tree) const {
    const std::size_t n = tree.mothers.size(), piece_width = pieces.columns(),
                      word_width = as_head.rows();
    std::vector<float> means(n * piece_width, 0.0f), x;
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t count = 0;
        for (std::size_t p = 0; p < WORD_PIECES; ++p)
            if (const std::int32_t piece = tree.numbers[i][3 + p]; piece >= 0) {
                pieces.add_to(static_cast<std::size_t>(piece), means.data() + i * piece_width);
                ++count;
            }
        for (std::size_t c = 0; c < piece_width && count > 1; ++c)
            means[i * piece_width + c] /= static_cast<float>(count);
    }
    multiply(from_pieces, means.data(), n, x);
    std::vector<std::size_t> daughters(n, 0), sizes(n, 1), depths(n, 0);
    for (std::size_t i = n; i-- > 1;) {
        ++daughters[tree.mothers[i]];
        sizes[tree.mothers[i]] += sizes[i];
    }
    for (std::size_t i = 1; i < n; ++i) depths[i] = depths[tree.mothers[i]] + 1;
    for (std::size_t i = 0; i < n; ++i) {
        const std::int32_t* const own = tree.numbers[i];
        const std::size_t rows[VECTOR_TABLES] = {
            static_cast<std::size_t>(own[0]),   static_cast<std::size_t>(own[1]),
            static_cast<std::size_t>(own[2]),   static_cast<std::size_t>(own[7]),
            static_cast<std::size_t>(own[8]),   static_cast<std::size_t>(own[9]),
            count_class(daughters[i]),          count_class(sizes[i]),
            std::min<std::size_t>(depths[i], 6)};
        for (std::size_t t = 0; t < VECTOR_TABLES; ++t)
            tables[t].add_to(rows[t], x.data() + i * word_width);
    }
    return x;
}

void OrderNetwork::add_attention(const OrderLayer& layer, const std::vector<std::uint8_t>& places,
                                 std::size_t n, std::vector<float>& x) const {
    const std::size_t word_width = as_head.rows(), head_width = word_width / attention_heads;
    static thread_local std::vector<float> normal, projected, keys, scores, seen, joined;
    layer.before.apply(x.data(), n, normal);
    // For each word: the query, the key and the value of each attention head.
    multiply(layer.attention, normal.data(), n, projected);
    seen.assign(n * word_width, 0.0f);
    keys.resize(head_width * n);
    scores.resize(n);
    for (std::size_t h = 0; h < attention_heads; ++h) {
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t c = 0; c < head_width; ++c)
                keys[c * n + j] = projected[j * 3 * word_width + word_width + h * head_width + c];
        const float* const bias = layer.place_bias.data() + h * PLACE_KINDS;
        for (std::size_t i = 0; i < n; ++i) {
            const float* const query = projected.data() + i * 3 * word_width + h * head_width;
            for (std::size_t j = 0; j < n; ++j) scores[j] = bias[places[i * n + j]];
            for (std::size_t c = 0; c < head_width; ++c)
                for (std::size_t j = 0; j < n; ++j) scores[j] += query[c] * keys[c * n + j];
            soft_shares(scores.data(), n);
            float* const to = seen.data() + i * word_width + h * head_width;
            for (std::size_t j = 0; j < n; ++j) {
                const float* const value =
                    projected.data() + j * 3 * word_width + 2 * word_width + h * head_width;
                for (std::size_t c = 0; c < head_width; ++c) to[c] += scores[j] * value[c];
            }
        }
    }
    multiply(layer.joined, seen.data(), n, joined);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += joined[k];
}

ReadTree OrderNetwork::read(const NumberedTree& tree) const {
    const std::size_t n = tree.mothers.size();
    std::vector<float> x = words_of(tree), normal, inner, outer;
    std::vector<std::uint8_t> places(n * n);
    for (std::uint32_t i = 0; i < n; ++i)
        for (std::uint32_t j = 0; j < n; ++j) places[i * n + j] = place_of(tree.mothers, i, j);
    for (const OrderLayer& layer : layers) {
        add_attention(layer, places, n, x);
        layer.between.apply(x.data(), n, normal);
        multiply(layer.inner, normal.data(), n, inner);
        for (float& value : inner) value = value > 0 ? value : 0.0f;
        multiply(layer.outer, inner.data(), n, outer);
        for (std::size_t k = 0; k < x.size(); ++k) x[k] += outer[k];
    }
    last.apply(x.data(), n, normal);
    ReadTree found;
    std::vector<float> heads;
    multiply(items, normal.data(), n, found.words);
    multiply(ends, normal.data(), n, found.ends);
    multiply(context, normal.data(), n, found.contexts);
    multiply(as_head, normal.data(), n, heads);
    multiply(items, heads.data(), n, found.heads);
    return found;
}

void OrderSteps::start(const OrderNetwork& network, const ReadTree& tree,
                       std::span<const Item> items) {
    network_ = &network;
    n_ = items.size();
    decoder_size_ = network.decoder_size();
    query_size_ = network.query_size();
    const std::size_t d = decoder_size_, q = query_size_, item_width = network.items.rows(),
                      end_width = network.ends.rows();
    const auto* const context = tree.contexts.data() + items[0].word * d;
    context_.assign(context, context + d);
    as_last_.resize((n_ + 1) * d);
    as_before_last_.resize((n_ + 1) * d);
    placed_.resize(n_ * d);
    query_as_last_.resize((n_ + 1) * q);
    query_if_left_.resize(n_ * q);
    keys_.resize(n_ * q);
    key_steps_.resize(n_);
    std::vector<float> key(q);
    for (std::size_t i = 0; i < n_; ++i) {
        // Item 0 is the head. `own` has the part of the item's word in the six vectors below; `last`
        // and `first` have the parts of the item's last and first word in three of them.
        const float* const own = (i ? tree.words : tree.heads).data() + items[i].word * item_width;
        const float* const last = tree.ends.data() + items[i].last * end_width;
        const float* const first = tree.ends.data() + items[i].first * end_width;
        for (std::size_t c = 0; c < d; ++c) {
            as_last_[i * d + c] = own[c] + last[c];
            as_before_last_[i * d + c] = own[d + c];
            placed_[i * d + c] = own[2 * d + c];
        }
        for (std::size_t c = 0; c < q; ++c) {
            query_as_last_[i * q + c] = own[3 * d + c] + last[d + c];
            query_if_left_[i * q + c] = own[3 * d + q + c];
            key[c] = own[3 * d + 2 * q + c] + first[d + q + c];
        }
        key_steps_[i] = rounded(key.data(), q, MAX_STEPS_FOR_VECTOR, keys_.data() + i * q);
    }
    const float* const starts = network.starts.data();
    std::copy(starts, starts + d, as_last_.begin() + static_cast<std::ptrdiff_t>(n_ * d));
    std::copy(starts + d, starts + 2 * d,
              as_before_last_.begin() + static_cast<std::ptrdiff_t>(n_ * d));
    std::copy(starts + 2 * d, starts + 2 * d + q,
              query_as_last_.begin() + static_cast<std::ptrdiff_t>(n_ * q));
}

void OrderSteps::first_state(float* state) const {
    std::copy(context_.begin(), context_.end(), state);
    float* const left = state + decoder_size_;
    std::fill(left, left + query_size_, 0.0f);
    for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t c = 0; c < query_size_; ++c)
            left[c] += query_if_left_[i * query_size_ + c];
}

void OrderSteps::place(std::size_t item, float* state) const {
    for (std::size_t c = 0; c < decoder_size_; ++c) state[c] += placed_[item * decoder_size_ + c];
    for (std::size_t c = 0; c < query_size_; ++c)
        state[decoder_size_ + c] -= query_if_left_[item * query_size_ + c];
}

void OrderSteps::next(const float* state, std::size_t last, std::size_t before_last,
                      std::span<const std::uint64_t> used, std::vector<float>& found) {
    hidden_.resize(decoder_size_);
    const float* const a = as_last_.data() + last * decoder_size_;
    const float* const b = as_before_last_.data() + before_last * decoder_size_;
    for (std::size_t c = 0; c < decoder_size_; ++c) {
        const float sum = state[c] + a[c] + b[c];
        hidden_[c] = sum > 0 ? sum : 0.0f;
    }
    multiply(network_->query, hidden_.data(), 1, query_);
    const float* const more = query_as_last_.data() + last * query_size_;
    for (std::size_t c = 0; c < query_size_; ++c) query_[c] += state[decoder_size_ + c] + more[c];
    whole_query_.resize(query_size_);
    const float size =
        rounded(query_.data(), query_size_, MAX_STEPS_FOR_VECTOR, whole_query_.data());
    static thread_local std::vector<std::int32_t> sums;
    sums.resize(n_);
    vector_products(whole_query_.data(), query_size_, keys_.data(), n_, sums.data());
    found.assign(n_, 0.0f);
    float highest = -std::numeric_limits<float>::infinity();
    const auto is_used = [&](std::size_t i) { return used[i / 64] >> (i % 64) & 1; };
    for (std::size_t i = 0; i < n_; ++i) {
        if (is_used(i)) continue;
        const float score = static_cast<float>(sums[i]) * (size * key_steps_[i]);
        found[i] = score > MAX_STEP_SCORE    ? MAX_STEP_SCORE
                   : score > -MAX_STEP_SCORE ? score
                                             : -MAX_STEP_SCORE;
        highest = std::max(highest, found[i]);
    }
    float sum = 0;
    for (std::size_t i = 0; i < n_; ++i)
        if (!is_used(i)) sum += power_of_e(found[i] - highest);
    const float total = highest + std::log(sum);
    for (std::size_t i = 0; i < n_; ++i)
        if (!is_used(i)) found[i] -= total;
}

}  // namespace wellput
