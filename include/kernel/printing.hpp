// What the functions of the standard library that write to standard output and error become inside kernels: lines that
// are whole, say where they come from, and appear at once. So is what a failed assert says; it and exit() end the
// kernel.
//
// `baton compile` puts it behind baton/kernel_library.hpp and links with --wrap=NAME for each function below, so that
// it makes no difference how a kernel writes the name, or what the compiler makes of the call. libbaton has the same
// for programs that bring kernels along: the CMake target baton::kernel_headers links them so.
#ifndef BATON_KERNEL_PRINTING_HPP
#define BATON_KERNEL_PRINTING_HPP
#if !defined(__CUDACC__)

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pto/target/core.hpp>

// A kernel that links what kernels share finds these functions there.
#if !defined(BATON_PRINTING_IS_LINKED)

#if !defined(BATON_PRINTING_IN_LIBBATON)
#define BATON_PRINTING_LINKAGE __attribute__((weak, visibility("hidden")))
#define BATON_PRINTING_REAL(name) __real_##name
extern "C" {
int __real_vfprintf(FILE* file, const char* format, va_list arguments);
size_t __real_fwrite(const void* bytes, size_t size, size_t count, FILE* file);
[[noreturn]] void __real___assert_fail(const char* assertion, const char* file, unsigned line, const char* function);
[[noreturn]] void __real_exit(int status);
[[noreturn]] void __real__exit(int status);
[[noreturn]] void __real__Exit(int status);
[[noreturn]] void __real_quick_exit(int status);
// Of baton/kernel_library.hpp; null until the library is loaded.
extern __attribute__((weak, visibility("hidden"))) BatonCore* (*baton_kernel_core_provider)();
}
#define BATON_PRINTING_CORE() (baton_kernel_core_provider == nullptr ? nullptr : baton_kernel_core_provider())
#endif

namespace baton::kernel {

/// The core that runs the caller, if it runs on one and `file` is what people read; else null.
static inline BatonCore* printing_core(FILE* file) {
  return file == stdout || file == stderr ? BATON_PRINTING_CORE() : nullptr;
}

static inline size_t print_bytes(FILE* file, const char* text, size_t bytes) {
  BatonCore* const core = printing_core(file);
  if (core == nullptr) return BATON_PRINTING_REAL(fwrite)(text, 1, bytes, file);
  core->table->print(core, file == stderr ? BATON_STANDARD_ERROR : BATON_STANDARD_OUTPUT, text, bytes);
  return bytes;
}

__attribute__((format(printf, 2, 0))) static inline int print_formatted(FILE* file, const char* format,
                                                                        va_list arguments) {
  if (printing_core(file) == nullptr) return BATON_PRINTING_REAL(vfprintf)(file, format, arguments);
  char room[1024];
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(room, sizeof room, format, arguments);
  if (length < 0 || static_cast<size_t>(length) < sizeof room) {
    if (length > 0) print_bytes(file, room, static_cast<size_t>(length));
  } else if (char* const text = static_cast<char*>(malloc(static_cast<size_t>(length) + 1))) {
    vsnprintf(text, static_cast<size_t>(length) + 1, format, again);
    print_bytes(file, text, static_cast<size_t>(length));
    free(text);
  }
  va_end(again);
  return length;
}

/// What exit() and its like become on a core, for the call that returns to `from`.
[[noreturn]] static inline void leave_by_exit(BatonCore* core, const char* name, int status, const void* from) {
  char how[64];
  snprintf(how, sizeof how, "%s(%d)", name, status);
  core->table->leaving(core, BATON_LEAVING_BY_EXIT, how, from);
  abort();
}

}  // namespace baton::kernel

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,cert-dcl50-cpp,readability-identifier-naming)
extern "C" {

#define BATON_PRINTING_FORMATS(file)                                           \
  va_list arguments;                                                           \
  va_start(arguments, format);                                                 \
  const int printed = baton::kernel::print_formatted(file, format, arguments); \
  va_end(arguments);                                                           \
  return printed

BATON_PRINTING_LINKAGE int __wrap_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
int __wrap_printf(const char* format, ...) { BATON_PRINTING_FORMATS(stdout); }
BATON_PRINTING_LINKAGE int __wrap_fprintf(FILE* file, const char* format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_fprintf(FILE* file, const char* format, ...) { BATON_PRINTING_FORMATS(file); }
BATON_PRINTING_LINKAGE int __wrap_vprintf(const char* format, va_list arguments) __attribute__((format(printf, 1, 0)));
int __wrap_vprintf(const char* format, va_list arguments) {
  return baton::kernel::print_formatted(stdout, format, arguments);
}
BATON_PRINTING_LINKAGE int __wrap_vfprintf(FILE* file, const char* format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
int __wrap_vfprintf(FILE* file, const char* format, va_list arguments) {
  return baton::kernel::print_formatted(file, format, arguments);
}
// What they become where the compiler fortifies.
BATON_PRINTING_LINKAGE int __wrap___printf_chk(int flag, const char* format, ...) __attribute__((format(printf, 2, 3)));
int __wrap___printf_chk(int /*flag*/, const char* format, ...) { BATON_PRINTING_FORMATS(stdout); }
BATON_PRINTING_LINKAGE int __wrap___fprintf_chk(FILE* file, int flag, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
int __wrap___fprintf_chk(FILE* file, int /*flag*/, const char* format, ...) { BATON_PRINTING_FORMATS(file); }
#undef BATON_PRINTING_FORMATS

BATON_PRINTING_LINKAGE int __wrap_puts(const char* text);
int __wrap_puts(const char* text) {
  baton::kernel::print_bytes(stdout, text, strlen(text));
  return baton::kernel::print_bytes(stdout, "\n", 1) == 1 ? 1 : EOF;
}
BATON_PRINTING_LINKAGE int __wrap_fputs(const char* text, FILE* file);
int __wrap_fputs(const char* text, FILE* file) {
  const size_t bytes = strlen(text);
  return baton::kernel::print_bytes(file, text, bytes) == bytes ? 1 : EOF;
}
BATON_PRINTING_LINKAGE int __wrap_fputc(int character, FILE* file);
int __wrap_fputc(int character, FILE* file) {
  const auto byte = static_cast<unsigned char>(character);
  const char text = static_cast<char>(byte);
  return baton::kernel::print_bytes(file, &text, 1) == 1 ? byte : EOF;
}
BATON_PRINTING_LINKAGE int __wrap_putc(int character, FILE* file);
int __wrap_putc(int character, FILE* file) { return __wrap_fputc(character, file); }
BATON_PRINTING_LINKAGE int __wrap_putchar(int character);
int __wrap_putchar(int character) { return __wrap_fputc(character, stdout); }
BATON_PRINTING_LINKAGE size_t __wrap_fwrite(const void* bytes, size_t size, size_t count, FILE* file);
size_t __wrap_fwrite(const void* bytes, size_t size, size_t count, FILE* file) {
  if (baton::kernel::printing_core(file) == nullptr) return BATON_PRINTING_REAL(fwrite)(bytes, size, count, file);
  baton::kernel::print_bytes(file, static_cast<const char*>(bytes), size * count);
  return count;
}

[[noreturn]] BATON_PRINTING_LINKAGE void __wrap___assert_fail(const char* assertion, const char* file, unsigned line,
                                                              const char* function);
void __wrap___assert_fail(const char* assertion, const char* file, unsigned line, const char* function) {
  BatonCore* const core = BATON_PRINTING_CORE();
  if (core == nullptr) BATON_PRINTING_REAL(__assert_fail)(assertion, file, line, function);
  __wrap_fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function == nullptr ? "?" : function,
                 assertion);
  core->table->leaving(core, BATON_LEAVING_BY_ASSERTION, assertion, __builtin_return_address(0));
  abort();
}

#define BATON_PRINTING_EXIT(name)                                                   \
  [[noreturn]] BATON_PRINTING_LINKAGE void __wrap_##name(int status);               \
  void __wrap_##name(int status) {                                                  \
    BatonCore* const core = BATON_PRINTING_CORE();                                  \
    if (core == nullptr) BATON_PRINTING_REAL(name)(status);                         \
    baton::kernel::leave_by_exit(core, #name, status, __builtin_return_address(0)); \
  }                                                                                 \
  static_assert(true, "")
BATON_PRINTING_EXIT(exit);
BATON_PRINTING_EXIT(_exit);
BATON_PRINTING_EXIT(_Exit);
BATON_PRINTING_EXIT(quick_exit);
#undef BATON_PRINTING_EXIT
}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,cert-dcl50-cpp,readability-identifier-naming)

#endif
#endif
#endif
