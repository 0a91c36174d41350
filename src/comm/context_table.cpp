#include "comm/context_table.hpp"

#include <algorithm>
#include <cstring>

#include <baton/comm_context.h>

namespace baton::comm {

std::vector<std::uint64_t> make_context(std::uint32_t rank, std::uint64_t window_bytes,
                                        std::span<const std::uint64_t> windows) {
  const std::size_t plain = std::min<std::size_t>(windows.size(), COMM_MAX_RANK_NUM);
  CommContext context{};
  context.rankId = rank;
  context.rankNum = static_cast<std::uint32_t>(windows.size());
  context.winSize = window_bytes;
  std::copy_n(windows.begin(), plain, context.windowsIn);
  std::copy_n(windows.begin(), plain, context.windowsOut);
  std::vector<std::uint64_t> words(sizeof context / sizeof(std::uint64_t));
  std::memcpy(words.data(), &context, sizeof context);
  words.insert(words.end(), windows.begin() + static_cast<std::ptrdiff_t>(plain), windows.end());
  // The context is its own workspace: kernels test the address against null, and pass it back to find the windows.
  words[offsetof(CommContext, workSpace) / sizeof(std::uint64_t)] = reinterpret_cast<std::uint64_t>(words.data());
  words[offsetof(CommContext, workSpaceSize) / sizeof(std::uint64_t)] = words.size() * sizeof(std::uint64_t);
  return words;
}

}  // namespace baton::comm
