#include "kernel/signature.hpp"

#include <baton/kernel_types.hpp>

#include "base/fail.hpp"

namespace baton::kernel {
namespace {

/// What a kernel can take: slots of tensors and of scalars.
constexpr std::uint32_t kMostTensors = 32;
constexpr std::uint32_t kMostScalars = 16;

std::string type_of_parameter(const BatonKernelParameter& parameter) {
  if (parameter.direction == BATON_DIRECTION_SCALAR) {
    return parameter.type == BATON_TYPE_ANY ? "a scalar" : type_name(parameter.type);
  }
  const std::string dims = parameter.dims == BATON_ANY_DIMS ? "" : fmt::format(", {}", parameter.dims);
  return fmt::format("{}<{}{}>", direction_name(parameter.direction), type_name(parameter.type), dims);
}

std::string describe_given(const GivenArgument& given) {
  if (given.kind == GivenArgument::Kind::tensor) return fmt::format("a tensor of {}", type_name(given.type));
  return given.type == BATON_TYPE_ANY ? "a scalar" : fmt::format("a scalar of {}", type_name(given.type));
}

[[noreturn]] void fail_argument(std::string_view kernel, const BatonKernelSignature& signature, std::size_t index,
                                const std::string& got) {
  const BatonKernelParameter& parameter = signature.parameters[index];
  const bool named = parameter.name != nullptr && *parameter.name != '\0';
  std::vector<std::string> notes = {describe(kernel, signature)};
  if (signature.line != 0) notes.front() += fmt::format(" at {}:{}", signature.file, signature.line);
  throw Error(Code::invalid_argument,
              fmt::format("{}: argument {}{} is {}, got {}", kernel, index + 1,
                          named ? fmt::format(" '{}'", parameter.name) : "", type_of_parameter(parameter), got),
              std::move(notes));
}

void check_argument(std::string_view kernel, const BatonKernelSignature& signature, std::size_t index,
                    const GivenArgument& given) {
  const BatonKernelParameter& parameter = signature.parameters[index];
  const bool wants_scalar = parameter.direction == BATON_DIRECTION_SCALAR;
  if (wants_scalar != (given.kind == GivenArgument::Kind::scalar)) {
    fail_argument(kernel, signature, index, describe_given(given));
  }
  if (wants_scalar) return;
  if (parameter.type != BATON_TYPE_ANY && parameter.type != given.type) {
    fail_argument(kernel, signature, index, describe_given(given));
  }
  if (parameter.dims != BATON_ANY_DIMS && parameter.dims != static_cast<std::int64_t>(given.dims)) {
    fail_argument(kernel, signature, index,
                  fmt::format("a tensor of {} dimension{}", given.dims, given.dims == 1 ? "" : "s"));
  }
}

}  // namespace

void check_arguments(std::string_view kernel, const BatonKernelSignature& signature,
                     std::span<const GivenArgument> given) {
  if (given.size() != signature.parameter_count) {
    std::vector<std::string> notes = {describe(kernel, signature)};
    for (std::size_t i = given.size(); i < signature.parameter_count; ++i) {
      notes.push_back(fmt::format("argument {} is missing: {}", i + 1, describe(signature.parameters[i])));
    }
    throw Error(Code::invalid_argument,
                fmt::format("{}: takes {} argument{}, got {}", kernel, signature.parameter_count,
                            signature.parameter_count == 1 ? "" : "s", given.size()),
                std::move(notes));
  }
  for (std::size_t i = 0; i < given.size(); ++i) check_argument(kernel, signature, i, given[i]);
}

std::string describe(const BatonKernelParameter& parameter) {
  const bool named = parameter.name != nullptr && *parameter.name != '\0';
  return named ? fmt::format("{} {}", type_of_parameter(parameter), parameter.name) : type_of_parameter(parameter);
}

std::string describe(std::string_view kernel, const BatonKernelSignature& signature) {
  std::string text(kernel);
  text += '(';
  for (std::uint32_t i = 0; i < signature.parameter_count; ++i) {
    if (i > 0) text += ", ";
    text += describe(signature.parameters[i]);
  }
  return text + ')';
}

WrittenSignature::WrittenSignature(std::vector<Parameter> parameters) {
  auto parts = std::make_shared<Parts>();
  parts->written = std::move(parameters);
  std::uint32_t tensors = 0;
  for (const Parameter& written : parts->written) tensors += written.direction != BATON_DIRECTION_SCALAR ? 1 : 0;
  const auto scalars = static_cast<std::uint32_t>(parts->written.size()) - tensors;
  if (tensors > kMostTensors || scalars > kMostScalars) {
    fail(Code::invalid_argument, "a signature of {} tensors and {} scalars; a kernel takes at most {} and {}", tensors,
         scalars, kMostTensors, kMostScalars);
  }
  std::uint32_t next_tensor = 0;
  std::uint32_t next_scalar = tensors;
  for (const Parameter& written : parts->written) {
    const bool scalar = written.direction == BATON_DIRECTION_SCALAR;
    parts->parameters.push_back({written.name.c_str(), written.direction, written.type, scalar ? 0 : written.dims,
                                 scalar ? next_scalar++ : next_tensor++});
  }
  parts->signature = {parts->parameters.data(), static_cast<std::uint32_t>(parts->parameters.size()), 0, ""};
  parts_ = std::move(parts);
}

}  // namespace baton::kernel
