// Device lists: refused with an error that marks a spot, or read into devices that are written and read back.
#include <algorithm>
#include <string_view>

#include <baton/device_list.hpp>
#include <baton/error.hpp>

#include "fuzz_target.hpp"

namespace {

void require_readable(std::string_view text, const std::vector<int>& devices) {
  FUZZ_REQUIRE(!devices.empty() && devices.size() <= 65'536);
  FUZZ_REQUIRE(std::ranges::all_of(devices, [](int device) { return device >= 0 && device <= 1'000'000; }));
  std::vector<int> sorted = devices;
  std::ranges::sort(sorted);
  FUZZ_REQUIRE(std::ranges::adjacent_find(sorted) == sorted.end());
  const std::string written = baton::format_device_list(devices);
  FUZZ_REQUIRE(written.size() <= text.size());
  FUZZ_REQUIRE(baton::parse_device_list(written) == devices);
}

void require_report(std::string_view text, const baton::Error& error) {
  FUZZ_REQUIRE(error.code() == baton::Code::bad_device_list);
  FUZZ_REQUIRE(error.message().find_first_of('\n') == std::string::npos);
  FUZZ_REQUIRE(error.notes().size() == (text.empty() ? 0U : 2U));
  if (text.empty()) return;
  const std::string& excerpt = error.notes()[0];
  const std::string& mark = error.notes()[1];
  FUZZ_REQUIRE(mark.find('^') != std::string::npos);
  FUZZ_REQUIRE(mark.size() <= excerpt.size() + 1);
  FUZZ_REQUIRE(excerpt.size() <= 400);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    require_readable(text, baton::parse_device_list(text));
  } catch (const baton::Error& error) {
    require_report(text, error);
  }
  return 0;
}
