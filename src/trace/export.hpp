// Traces for other programs, and for a browser.
#pragma once

#include <ostream>

#include "trace/analysis.hpp"

namespace baton::trace {

/// Chrome's JSON: chrome://tracing, Perfetto. For small traces: about 200 bytes an event.
void write_json(std::ostream& out, const Trace& trace, const Analysis& analysis);
/// TrackEvent packets of Perfetto (ui.perfetto.dev).
void write_perfetto(std::ostream& out, const Trace& trace, const Analysis& analysis);
/// One HTML file that needs nothing else.
void write_page(std::ostream& out, const Trace& trace, const Analysis& analysis, const std::string& title);

/// What more there is to say of an event: "task 12, submitted 3.1 us before it began".
[[nodiscard]] std::string details_of(const Trace& trace, const Span& span);

}  // namespace baton::trace
