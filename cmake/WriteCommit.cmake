# Writes OUTPUT, a source with the commit of SOURCE_DIR, if it has changed: cmake -D OUTPUT=... -D SOURCE_DIR=... -P
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status ERROR_QUIET)
if(NOT status EQUAL 0)
  set(commit "unknown: built without git")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "// Written by cmake/WriteCommit.cmake.
namespace baton::cli {
extern const char* const kCommit;
const char* const kCommit = \"${commit}\";
}  // namespace baton::cli
")
