// Prints one page of the reference: reference_pages errors | options.
#include <iostream>
#include <string_view>

#include "reference_pages/pages.hpp"

int main(int argument_count, char** arguments) {
  const std::string_view page = argument_count == 2 ? arguments[1] : "";
  if (page == "errors") {
    std::cout << baton::error_page();
  } else if (page == "options") {
    std::cout << baton::options_page();
  } else {
    std::cerr << "usage: reference_pages errors|options\n";
    return 2;
  }
  return std::cout.flush() ? 0 : 1;
}
