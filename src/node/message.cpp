#include "node/message.hpp"

#include <exception>
#include <new>
#include <system_error>

#include "base/error_number.hpp"
#include "base/thrown.hpp"

namespace baton::node {

Failure failure_of(const std::exception_ptr& exception, Code otherwise) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return {error.code(), error.message(), error.notes(), error.remedy()};
  } catch (const std::bad_alloc&) {
    return {Code::out_of_memory, "more host memory was asked for than there is", {}, {}};
  } catch (const std::system_error& error) {
    return {otherwise == Code::internal ? code_of(error.code().value()) : otherwise, error.what(), {}, {}};
  } catch (const std::exception& error) {
    return {otherwise, error.what(), {}, {}};
  } catch (...) {
    return {otherwise, describe_thrown() + " was thrown", {}, {}};
  }
}

void put_failure(MessageWriter& writer, const Failure& failure) {
  writer.put(static_cast<std::int32_t>(failure.code));
  writer.put_text(failure.message);
  writer.put_text(failure.remedy);
  writer.put(static_cast<std::uint32_t>(failure.notes.size()));
  for (const std::string& note : failure.notes) writer.put_text(note);
}

Failure get_failure(MessageReader& reader) {
  Failure failure;
  failure.code = static_cast<Code>(reader.get<std::int32_t>());
  failure.message = reader.get_text();
  failure.remedy = reader.get_text();
  const auto notes = reader.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < notes; ++i) failure.notes.push_back(reader.get_text());
  return failure;
}

}  // namespace baton::node
