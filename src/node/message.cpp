#include "node/message.hpp"

#include <exception>

namespace baton::node {

Failure failure_of(const std::exception_ptr& exception, Code otherwise) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return {error.code(), error.message(), error.notes(), error.remedy()};
  } catch (const std::exception& error) {
    return {otherwise, error.what(), {}, {}};
  } catch (...) {
    return {otherwise, "an exception of unknown type", {}, {}};
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
