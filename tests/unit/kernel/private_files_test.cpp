// What others could have written is not used.
#include "kernel/private_files.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "../base/expect_error.hpp"
#include "kernel/cache.hpp"
#include "kernel_test_support.hpp"

namespace baton::kernel {
namespace {

using std::filesystem::perms;
using testing::HasSubstr;

class PrivateCache : public KernelTest {
 protected:
  [[nodiscard]] static unsigned mode_of(const std::filesystem::path& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777U;
  }
  [[nodiscard]] static std::optional<Error> refusal_of(const std::string& folder) {
    return error_of([&] { static_cast<void>(Cache(folder, 1000)); });
  }
  [[nodiscard]] CompiledKernel compile_again() const { return compile_text("k", kernel_that_writes(4)); }
  /// The only file of a folder of the cache.
  [[nodiscard]] std::filesystem::path only_file_of(const std::string& name) const {
    return std::filesystem::directory_iterator(*options_.cache_dir + "/" + name)->path();
  }
};

/// Everything that this process makes is open to everybody.
class OpenUmask {
 public:
  OpenUmask() : before_(::umask(0)) {}
  ~OpenUmask() { ::umask(before_); }
  OpenUmask(const OpenUmask&) = delete;
  OpenUmask& operator=(const OpenUmask&) = delete;

 private:
  mode_t before_;
};

TEST_F(PrivateCache, IsMadeForThisUserWhateverTheUmask) {
  const OpenUmask open;
  options_.cache_dir = path("new/deep/cache/");
  static_cast<void>(compile_again());
  EXPECT_EQ(mode_of(path("new")), 0700U);
  EXPECT_EQ(mode_of(path("new/deep")), 0700U);
  EXPECT_EQ(mode_of(path("new/deep/cache")), 0700U);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path("new/deep/cache"))) {
    EXPECT_EQ(mode_of(entry.path()) & 0077U, 0U) << entry.path();
  }
  EXPECT_EQ(compile_again().origin, Origin::cache);
}

TEST_F(PrivateCache, IsNotAFolderThatOthersWriteTo) {
  for (const unsigned mode : {0777U, 01777U, 0770U, 0702U}) {
    std::filesystem::create_directory(path("shared"));
    std::filesystem::permissions(path("shared"), static_cast<perms>(mode));
    const auto error = refusal_of(path("shared"));
    ASSERT_TRUE(error) << mode;
    EXPECT_EQ(error->code(), Code::system);
    EXPECT_THAT(error->message(), HasSubstr(path("shared")));
    EXPECT_THAT(error->message(), HasSubstr("other users can write to it"));
    EXPECT_THAT(error->notes(), testing::Contains(HasSubstr("chmod 700")));
    EXPECT_THAT(error->remedy(), HasSubstr("BATON_CACHE_DIR"));
  }
}

TEST_F(PrivateCache, IsNotBehindALink) {
  std::filesystem::create_directory(path("real"));
  std::filesystem::create_directory_symlink(path("real"), path("link"));
  for (const char* spelling : {"link", "link/", "link/."}) {
    const auto error = refusal_of(path(spelling));
    ASSERT_TRUE(error) << spelling;
    EXPECT_THAT(error->message(), HasSubstr("it is a link"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(path("real")));
  // A link further up is the user's own way of naming the place.
  EXPECT_EQ(Cache(path("link/cache"), 1000).folder(), path("real/cache"));
}

TEST_F(PrivateCache, HasFoldersThatAreNoLinksAndAreClosed) {
  const std::string folder = path("cache");
  static_cast<void>(Cache(folder, 1000));
  std::filesystem::permissions(folder + "/libraries", perms::all);
  static_cast<void>(Cache(folder, 1000));
  EXPECT_EQ(mode_of(folder + "/libraries"), 0700U);

  std::filesystem::remove(folder + "/libraries");
  std::filesystem::create_directory_symlink(path("."), folder + "/libraries");
  const auto error = refusal_of(folder);
  ASSERT_TRUE(error);
  EXPECT_THAT(error->message(), HasSubstr("cache/libraries"));
}

TEST_F(PrivateCache, TakesNoLibraryOrManifestThatOthersCouldHaveWritten) {
  static_cast<void>(compile_again());
  for (const char* kind : {"libraries", "manifests"}) {
    EXPECT_EQ(compile_again().origin, Origin::cache);
    std::filesystem::permissions(only_file_of(kind), perms::group_write, std::filesystem::perm_options::add);
    EXPECT_EQ(compile_again().origin, Origin::compiled) << kind;

    EXPECT_EQ(compile_again().origin, Origin::cache);
    const std::filesystem::path place = only_file_of(kind);
    std::filesystem::rename(place, path("elsewhere"));
    std::filesystem::create_symlink(path("elsewhere"), place);
    EXPECT_EQ(compile_again().origin, Origin::compiled) << kind;
  }
}

TEST_F(PrivateCache, TakesNothingOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t kSomebody = 12345;
  static_cast<void>(compile_again());
  for (const char* kind : {"libraries", "manifests"}) {
    ASSERT_EQ(::chown(only_file_of(kind).c_str(), kSomebody, kSomebody), 0);
    EXPECT_EQ(compile_again().origin, Origin::compiled) << kind;
  }
  ASSERT_EQ(::chown((*options_.cache_dir + "/manifests").c_str(), kSomebody, kSomebody), 0);
  EXPECT_THAT(refusal_of(*options_.cache_dir)->message(), HasSubstr("manifests is not used"));
  ASSERT_EQ(::chown(options_.cache_dir->c_str(), kSomebody, kSomebody), 0);
  EXPECT_THAT(refusal_of(*options_.cache_dir)->message(), HasSubstr("belongs to user 12345"));
}

TEST_F(PrivateCache, TakesNoManifestOfAnotherSource) {
  static_cast<void>(compile_again());
  const std::filesystem::path first = only_file_of("manifests");
  options_.cache_dir = path("second");
  static_cast<void>(compile_text("k", kernel_that_writes(5)));
  std::filesystem::copy_file(only_file_of("manifests"), first, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::copy_file(only_file_of("libraries"),
                             path("cache/libraries") + "/" + only_file_of("libraries").filename().string());
  options_.cache_dir = path("cache");
  EXPECT_EQ(result_of(compile_again().library), 4);
}

}  // namespace
}  // namespace baton::kernel
