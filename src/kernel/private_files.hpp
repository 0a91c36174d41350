// Files and folders that nobody but this user can have written.
//
// What a cache of kernels holds is loaded and run. So it counts only if it belongs to this user and no one else may
// write to it; and no link is followed on the way, as the maker of a link chose where it leads.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace baton::kernel {

/// Makes the folder, what is missing above it, and `inner` in it, for this user alone. Returns the one spelling of its
/// path. Throws Error (system) if that fails, or if one of them is a link, belongs to another user or, in the case of
/// `folder` itself, can be written to by others.
[[nodiscard]] std::string make_private_folders(const std::string& folder, std::span<const std::string_view> inner);

/// The content; nothing if there is no such file, or if it is a link, another user's or open to others.
[[nodiscard]] std::optional<std::string> read_private_file(const std::string& path);

/// Takes from others what the umask of a compiler may have given them. Throws Error (system).
void make_private_file(const std::string& path);

}  // namespace baton::kernel
