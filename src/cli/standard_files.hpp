// Standard input, output and error.
#pragma once

namespace baton::cli {

/// Opens /dev/null for each of the three that is closed: other files would take their numbers, and be written to.
void open_standard_files();

}  // namespace baton::cli
