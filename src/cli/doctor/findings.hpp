// What `baton doctor` finds out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace baton::cli {

enum class Verdict : std::uint8_t { ok, limited, missing };
/// Whether Baton works without it.
enum class Need : std::uint8_t { essential, optional };

[[nodiscard]] const char* name_of(Verdict verdict) noexcept;

struct Finding {
  std::string item;
  Verdict verdict;
  /// What it means, and how to get it if it is not there.
  std::string text;
  Need need = Need::optional;
};

/// Runs a check; whatever it throws makes the item missing.
[[nodiscard]] Finding try_out(std::string item, Need need, const std::function<Finding()>& check);

/// What ranks in one process and ranks in several need from the kernel. Everything is really tried.
[[nodiscard]] std::vector<Finding> check_backends();
/// How much of the machine this process may use.
[[nodiscard]] std::vector<Finding> check_limits();
/// What `baton run --hosts` needs.
[[nodiscard]] std::vector<Finding> check_hosts();
/// A platform of devices, cuda, a2a3 or a5: a device of it, and the compiler of its kernels. Throws Error
/// (invalid_argument) for other names.
[[nodiscard]] std::vector<Finding> check_platform(std::string_view name);
/// Other software that Baton, or its benchmarks, can make use of.
[[nodiscard]] std::vector<Finding> check_optional();

}  // namespace baton::cli
