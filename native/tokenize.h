// Text to tokens, on UTF-8 bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wellput {

// Those of sacreBLEU that need no Unicode tables; `none` is Python's str.split().
enum class Tokenizer { none, v13a, character };

// Throws std::invalid_argument for a name that is not "none", "13a" or "char".
Tokenizer tokenizer_named(std::string_view name);

// Replaces `tokens` by the tokens of `text`. They point into `text` or into `buffer`, which is
// overwritten: keep one buffer per text for as long as its tokens are in use.
void tokenize(Tokenizer tokenizer, std::string_view text, std::string& buffer,
              std::vector<std::string_view>& tokens);

// The length in bytes of the whitespace character (one of Python's 29) that starts at p, else 0.
int whitespace_at(const char* p, const char* end);

}  // namespace wellput
