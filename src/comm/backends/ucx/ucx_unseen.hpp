// What UCX does is out of sight of the thread sanitizer, but for the locks and threads that it uses.
//
// UCX, and what it calls of ours, reads and writes windows for ranks of other hosts, while their owner uses them: what
// orders the two, signals and barriers, came through the network or will go there, also by way of other processes of
// this host. On one host other ranks do the same, as processes of their own, which the sanitizer does not see either.
// The rest of our own code, also what UCX calls, stays in sight.
#pragma once

#include <utility>

namespace baton::ucx {

#if defined(BATON_SANITIZE_THREAD)

extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

/// Whether this thread is out of sight.
inline thread_local bool is_unseen = false;

class Sight {
 public:
  enum class To : bool { seen, unseen };

  explicit Sight(To to) noexcept : before_(std::exchange(is_unseen, to == To::unseen)) { change(before_, is_unseen); }
  Sight(const Sight&) = delete;
  Sight& operator=(const Sight&) = delete;
  ~Sight() { change(std::exchange(is_unseen, before_), before_); }

 private:
  static void change(bool from, bool to) noexcept {
    if (from == to) return;
    if (to) {
      AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
      AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    } else {
      AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
      AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }
  }
  bool before_;
};

#else

class Sight {
 public:
  enum class To : bool { seen, unseen };
  explicit constexpr Sight(To /*to*/) noexcept {}
};

#endif

/// Around calls of UCX that move data.
class InUcx : Sight {
 public:
  InUcx() noexcept : Sight(To::unseen) {}
};

/// Around what is done to windows for ranks of other hosts.
class InWindows : Sight {
 public:
  InWindows() noexcept : Sight(To::unseen) {}
};

/// In functions that UCX calls.
class CalledByUcx : Sight {
 public:
  CalledByUcx() noexcept : Sight(To::seen) {}
};

}  // namespace baton::ucx
