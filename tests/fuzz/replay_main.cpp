// Runs a fuzz target without a fuzzer: over the files of a corpus, then over mutations of them that depend on a seed
// only. Usage: NAME_replay CORPUS [--mutations N] [--seed N] [--print-each]
// --print-each writes each input to standard error before it runs: after a crash the last one is the culprit.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuzz_target.hpp"

namespace {

using Input = std::vector<std::uint8_t>;

struct Settings {
  std::filesystem::path corpus;
  unsigned long mutations = 20'000;
  unsigned long seed = 1;
  bool print_each = false;
};

Settings read_settings(const std::vector<std::string>& arguments) {
  Settings settings;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool has_value = i + 1 < arguments.size();
    if (argument == "--print-each") {
      settings.print_each = true;
    } else if (argument == "--mutations" && has_value) {
      settings.mutations = std::stoul(arguments[++i]);
    } else if (argument == "--seed" && has_value) {
      settings.seed = std::stoul(arguments[++i]);
    } else if (settings.corpus.empty() && !argument.starts_with("--")) {
      settings.corpus = argument;
    } else {
      throw std::invalid_argument("cannot make sense of " + argument);
    }
  }
  if (settings.corpus.empty()) throw std::invalid_argument("no corpus given");
  return settings;
}

/// By name, so that the order is the same everywhere.
std::vector<Input> read_corpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<Input> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

class Mutator {
 public:
  Mutator(const std::vector<Input>& corpus, unsigned long seed) : corpus_(corpus), random_(seed) {}

  Input next() {
    Input input = corpus_[below(corpus_.size())];
    for (std::size_t edits = 1 + below(5); edits > 0; --edits) edit(input);
    return input;
  }

 private:
  // Not std::uniform_int_distribution, whose results differ among standard libraries.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  std::uint8_t interesting_byte() {
    static constexpr std::string_view kBytes("0123456789-,.=+ \t\n\0\x7f\x80\xff", 22);
    return below(2) == 0 ? static_cast<std::uint8_t>(kBytes[below(kBytes.size())])
                         : static_cast<std::uint8_t>(below(256));
  }

  void edit(Input& input) {
    const auto place = [&](std::size_t size) { return static_cast<std::ptrdiff_t>(below(size)); };
    const std::size_t kind = input.empty() ? 0 : below(6);
    switch (kind) {
      case 0:  // insert
        input.insert(input.begin() + place(input.size() + 1), interesting_byte());
        break;
      case 1:  // replace
        input[below(input.size())] = interesting_byte();
        break;
      case 2:  // flip one bit
        input[below(input.size())] ^= static_cast<std::uint8_t>(1U << below(8));
        break;
      case 3: {  // remove a stretch
        const auto begin = place(input.size());
        const auto length = 1 + place(std::min<std::size_t>(8, input.size() - static_cast<std::size_t>(begin)));
        input.erase(input.begin() + begin, input.begin() + begin + length);
        break;
      }
      case 4: {  // repeat a stretch
        const auto begin = place(input.size());
        const auto length = 1 + place(std::min<std::size_t>(16, input.size() - static_cast<std::size_t>(begin)));
        const Input stretch(input.begin() + begin, input.begin() + begin + length);
        input.insert(input.begin() + begin, stretch.begin(), stretch.end());
        break;
      }
      default: {  // continue with the tail of another seed
        const Input& other = corpus_[below(corpus_.size())];
        input.resize(below(input.size() + 1));
        input.insert(input.end(), other.begin() + place(other.size() + 1), other.end());
        break;
      }
    }
  }

  const std::vector<Input>& corpus_;
  std::mt19937_64 random_;
};

void run(const Input& input, const Settings& settings) {
  if (settings.print_each) {
    for (const std::uint8_t byte : input) {
      if (std::isprint(byte) != 0 && byte != '\\') {
        std::cerr << static_cast<char>(byte);
      } else {
        static constexpr std::string_view kHex = "0123456789abcdef";
        std::cerr << "\\x" << kHex[byte >> 4] << kHex[byte & 15];
      }
    }
    std::cerr << '\n';
  }
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int argument_count, char** arguments) try {
  const Settings settings = read_settings({arguments + 1, arguments + argument_count});
  const std::vector<Input> corpus = read_corpus(settings.corpus);
  if (corpus.empty()) throw std::invalid_argument(settings.corpus.string() + " holds no seed");
  run({}, settings);
  for (const Input& input : corpus) run(input, settings);
  Mutator mutator(corpus, settings.seed);
  for (unsigned long i = 0; i < settings.mutations; ++i) run(mutator.next(), settings);
  std::cout << corpus.size() << " seeds and " << settings.mutations << " mutations of them\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
