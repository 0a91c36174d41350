#include "base/thrown.hpp"

#include <cxxabi.h>

#include <exception>
#include <typeinfo>

#include <fmt/format.h>

#include "base/demangled.hpp"

namespace baton {

std::string describe_thrown() {
  try {
    throw;
  } catch (const std::exception& error) {
    return fmt::format("{}: {}", demangled(typeid(error).name()), error.what());
  } catch (const std::string& text) {
    return fmt::format("the string \"{}\"", text);
  } catch (const char* text) {
    return text == nullptr ? "a null pointer" : fmt::format("the string \"{}\"", text);
  } catch (int number) {
    return fmt::format("the int {}", number);
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    return type == nullptr ? "something that is not a C++ exception"
                           : fmt::format("an object of type {}", demangled(type->name()));
  }
}

}  // namespace baton
