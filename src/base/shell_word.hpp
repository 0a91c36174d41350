// Words of a command line, as a shell reads them.
#pragma once

#include <string>
#include <string_view>

namespace baton {

/// `text` as one word of a shell's command line: in single quotes, unless it has nothing that a shell would take apart.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace baton
