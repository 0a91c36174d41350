#include <baton/trace.hpp>

#include "base/recorder.hpp"

namespace baton {

Trace::Trace(const std::string& file) {
  events::begin();
  events::start_trace(file);
}

Trace::~Trace() { events::stop_trace(); }

}  // namespace baton
