// A program of somebody else: the installed headers and library, nothing more.
#include <baton/device_list.hpp>
#include <baton/error.hpp>
#include <baton/options.hpp>

#include <iostream>

int main() {
  if (baton::parse_device_list("0,2-4") != std::vector<int>{0, 2, 3, 4}) return 1;
  if (baton::options().wait_timeout.count() <= 0) return 2;
  try {
    (void)baton::parse_device_list("4-2");
    return 3;
  } catch (const baton::Error& error) {  // thrown inside the library, caught by type outside
    if (error.code() != baton::Code::bad_device_list) return 4;
    std::cout << error.what() << '\n';
  }
}
