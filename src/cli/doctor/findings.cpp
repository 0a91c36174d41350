#include "cli/doctor/findings.hpp"

#include <baton/error.hpp>

namespace baton::cli {

const char* name_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::ok: return "ok";
    case Verdict::limited: return "limited";
    case Verdict::missing: return "missing";
  }
  return "?";
}

Finding try_out(std::string item, Need need, const std::function<Finding()>& check) {
  Finding finding;
  try {
    finding = check();
  } catch (const Error& error) {
    finding = {.item = {}, .verdict = Verdict::missing, .text = error.message()};
  } catch (const std::exception& error) {
    finding = {.item = {}, .verdict = Verdict::missing, .text = error.what()};
  }
  finding.item = std::move(item);
  finding.need = need;
  return finding;
}

}  // namespace baton::cli
