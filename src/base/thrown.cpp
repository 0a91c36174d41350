#include "base/thrown.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <typeinfo>

#include <fmt/format.h>

namespace baton {
namespace {

std::string readable_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? name.get() : type.name();
}

}  // namespace

std::string describe_thrown() {
  try {
    throw;
  } catch (const std::exception& error) {
    return fmt::format("{}: {}", readable_name(typeid(error)), error.what());
  } catch (const std::string& text) {
    return fmt::format("the string \"{}\"", text);
  } catch (const char* text) {
    return text == nullptr ? "a null pointer" : fmt::format("the string \"{}\"", text);
  } catch (int number) {
    return fmt::format("the int {}", number);
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    return type == nullptr ? "something that is not a C++ exception"
                           : fmt::format("an object of type {}", readable_name(*type));
  }
}

}  // namespace baton
