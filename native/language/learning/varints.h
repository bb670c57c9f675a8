// Whole numbers in few bytes: seven bits in each byte, the lowest first; the eighth bit is set if
// more bytes follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace wellput {

inline void put_varint(std::string& bytes, std::uint32_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
}

// Zigzag: 0, -1, 1, -2, 2 are written as 0, 1, 2, 3, 4 and so on. So small numbers of either sign take
// one byte.
inline void put_signed_varint(std::string& bytes, std::int32_t value) {
    put_varint(bytes,
               static_cast<std::uint32_t>(value) << 1 ^ static_cast<std::uint32_t>(value >> 31));
}

// Reads the numbers in the order of writing. Throws std::invalid_argument if the bytes end too
// early.
class VarintReader {
public:
    explicit VarintReader(std::string_view bytes) : bytes_(bytes) {}

    bool is_at_end() const { return place_ == bytes_.size(); }

    std::uint32_t take() {
        std::uint32_t value = 0;
        for (int shift = 0; shift < 32 && !is_at_end(); shift += 7) {
            const auto byte = static_cast<std::uint8_t>(bytes_[place_++]);
            value |= std::uint32_t{byte & 0x7fu} << shift;
            if (byte < 0x80) return value;
        }
        throw std::invalid_argument("damaged weights");
    }

    std::int32_t take_signed() {
        const std::uint32_t zigzag = take();
        return static_cast<std::int32_t>(zigzag >> 1 ^ (0u - (zigzag & 1)));
    }

private:
    std::string_view bytes_;
    std::size_t place_ = 0;
};

}  // namespace wellput
