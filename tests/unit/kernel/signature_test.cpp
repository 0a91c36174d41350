#include "kernel/signature.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../base/expect_error.hpp"
#include "kernel/library.hpp"
#include "kernel_test_support.hpp"

namespace baton::kernel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr BatonKernelParameter kParameters[] = {
    {"x", BATON_DIRECTION_IN, BATON_TYPE_FLOAT32, BATON_ANY_DIMS, 0},
    {"factor", BATON_DIRECTION_SCALAR, BATON_TYPE_FLOAT32, 0, 2},
    {"y", BATON_DIRECTION_OUT, BATON_TYPE_FLOAT32, 2, 1},
};
constexpr BatonKernelSignature kScale = {kParameters, 3, 7, "scale.cpp"};

/// What a call of `scale` is told.
std::string complaint(const std::vector<GivenArgument>& given, const BatonKernelSignature& signature = kScale) {
  try {
    check_arguments("scale", signature, given);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.message();
  }
}

TEST(Signature, ARightCallPasses) {
  EXPECT_EQ(complaint({GivenArgument::tensor(BATON_TYPE_FLOAT32, 4), GivenArgument::scalar(BATON_TYPE_INT64),
                       GivenArgument::tensor(BATON_TYPE_FLOAT32, 2)}),
            "");
}

TEST(Signature, AWrongCallNamesTheArgument) {
  const GivenArgument x = GivenArgument::tensor(BATON_TYPE_FLOAT32, 1);
  const GivenArgument y = GivenArgument::tensor(BATON_TYPE_FLOAT32, 2);
  const GivenArgument factor = GivenArgument::scalar();
  EXPECT_EQ(complaint({x, factor, GivenArgument::tensor(BATON_TYPE_INT32, 2)}),
            "scale: argument 3 'y' is Out<float, 2>, got a tensor of int32");
  EXPECT_EQ(complaint({GivenArgument::tensor(BATON_TYPE_FLOAT16, 1), factor, y}),
            "scale: argument 1 'x' is In<float>, got a tensor of half");
  EXPECT_EQ(complaint({x, factor, x}), "scale: argument 3 'y' is Out<float, 2>, got a tensor of 1 dimension");
  EXPECT_EQ(complaint({x, x, y}), "scale: argument 2 'factor' is float, got a tensor of float");
  EXPECT_EQ(complaint({factor, factor, y}), "scale: argument 1 'x' is In<float>, got a scalar");
}

TEST(Signature, AWrongNumberOfArgumentsShowsWhatIsTaken) {
  const auto error = error_of([&] { check_arguments("scale", kScale, {}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message(), "scale: takes 3 arguments, got 0");
  EXPECT_THAT(error->notes(),
              ElementsAre("scale(In<float> x, float factor, Out<float, 2> y)", "argument 1 is missing: In<float> x",
                          "argument 2 is missing: float factor", "argument 3 is missing: Out<float, 2> y"));
}

TEST(Signature, AMistakeTellsWhereTheKernelIs) {
  const std::vector<GivenArgument> given(3, GivenArgument::scalar());
  const auto error = error_of([&] { check_arguments("scale", kScale, given); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->notes(), ElementsAre(HasSubstr("at scale.cpp:7")));
}

TEST(Signature, AUserMayWriteOneForARawKernel) {
  const WrittenSignature written(
      {{.direction = BATON_DIRECTION_IN}, {.direction = BATON_DIRECTION_SCALAR}, {.direction = BATON_DIRECTION_OUT}});
  const WrittenSignature copy = written;
  const BatonKernelSignature& signature = copy.get();
  ASSERT_EQ(signature.parameter_count, 3U);
  EXPECT_EQ(signature.parameters[0].slot, 0U);
  EXPECT_EQ(signature.parameters[1].slot, 2U);
  EXPECT_EQ(signature.parameters[2].slot, 1U);
  const GivenArgument any = GivenArgument::tensor(BATON_TYPE_INT8, 3);
  EXPECT_EQ(complaint({any, GivenArgument::scalar(), any}, signature), "");
  EXPECT_EQ(complaint({any, any, any}, signature), "scale: argument 2 is a scalar, got a tensor of int8");
}

TEST(Signature, WhatNoKernelCanTakeIsRefused) {
  const std::vector<WrittenSignature::Parameter> tensors(33, {.direction = BATON_DIRECTION_IN});
  const std::vector<WrittenSignature::Parameter> scalars(17, {.direction = BATON_DIRECTION_SCALAR});
  EXPECT_THAT(error_of([&] { WrittenSignature{tensors}; })->message(), HasSubstr("33 tensors"));
  EXPECT_THAT(error_of([&] { WrittenSignature{scalars}; })->message(), HasSubstr("17 scalars"));
}

class TypedLibrary : public KernelTest {
 protected:
  const std::string text_ =
      "#include <typed/kernel.hpp>\n"
      "BATON_KERNEL(scale, In<float> x, Out<float, 2> y, double factor) {\n"
      "  y.data()[0] = static_cast<float>(factor) * x.data()[1];\n}\n"
      "BATON_CUBE_KERNEL(multiply, InOut<half> z, uint16_t n) { z.data()[0] = n; }\n"
      "extern \"C\" void raw(int64_t* args) { args[0] = 5; }\n"
      "BATON_KERNEL_ENTRY(raw);\n";
};

TEST_F(TypedLibrary, HasSignaturesAndCores) {
  const KernelLibrary library = load(compile_text("typed", text_).library);
  EXPECT_THAT(library.names(), ElementsAre("multiply", "raw", "scale"));
  EXPECT_EQ(library.signature("raw"), nullptr);
  const BatonKernelEntry scale = library.kernel("scale");
  ASSERT_NE(scale.signature, nullptr);
  EXPECT_EQ(describe("scale", *scale.signature), "scale(In<float> x, Out<float, 2> y, double factor)");
  EXPECT_EQ(scale.signature->line, 2U);
  EXPECT_STREQ(scale.signature->file, "typed");
  EXPECT_EQ(scale.core, uint32_t{BATON_CORE_VECTOR});
  EXPECT_EQ(library.kernel("multiply").core, uint32_t{BATON_CORE_CUBE});
  EXPECT_EQ(describe("multiply", *library.signature("multiply")), "multiply(InOut<half> z, uint16 n)");
  EXPECT_EQ(result_of(library.path(), "raw"), 5);
}

TEST_F(TypedLibrary, TheCoreIsTheOneItIsCompiledFor) {
  const auto compiled = compile(
      {.source = "typed", .text = text_, .core = CoreType::cube, .include_dirs = {}, .defines = {}, .flags = {}},
      options_);
  const KernelLibrary library = load(compiled.library);
  EXPECT_EQ(library.kernel("scale").core, uint32_t{BATON_CORE_CUBE});
  EXPECT_EQ(library.kernel("raw").core, uint32_t{BATON_CORE_CUBE});
}

TEST_F(TypedLibrary, DataIsNoKernel) {
  const KernelLibrary library = load(compile_text("typed", text_).library);
  for (const char* name : {"baton_kernel_table", "baton_kernel_handle_scale", "baton_kernel_abi_version"}) {
    const auto error = error_of([&] { static_cast<void>(library.entry(name)); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->code(), Code::not_a_kernel);
  }
}

}  // namespace
}  // namespace baton::kernel
