#include "node_platform.hpp"

namespace baton::test {

std::string node_platform() { return "a2a3sim"; }
std::vector<NodeShape> possible(std::vector<NodeShape> shapes) { return shapes; }
Code refusal_of_kernels() { return Code::invalid_argument; }
std::vector<std::string> words_of_a_late_kernel(const std::string& kernel, const std::string& limit) {
  return {"kernel '" + kernel + "' on vector core 0.", "more than " + limit};
}
Callable on_chip(const Kernel& linked) { return linked; }
const Kernel& loaded(const Kernel& linked) { return linked; }

}  // namespace baton::test
