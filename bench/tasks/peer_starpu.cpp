// Tasks of StarPU, whose edges it finds from the data handles that they use.
#include <starpu.h>

#include <array>

#include "tasks/contender.hpp"

namespace {

using bench::Pattern;
using bench::PatternTask;

constexpr std::size_t kMostInputs = 64;

void run_body(void** /*buffers*/, void* argument) { bench::body(*static_cast<const PatternTask*>(argument)); }

void check(int status, const char* what) {
  if (status != 0) throw std::runtime_error(std::string("StarPU: ") + what + ": " + std::to_string(status));
}

/// The kinds of tasks, by number of inputs, and one output, which may be an input, too.
class Codelets {
 public:
  Codelets() {
    for (std::size_t inputs = 0; inputs <= kMostInputs; ++inputs) {
      for (const bool update : {false, true}) {
        starpu_codelet& codelet = codelets_[inputs][update];
        starpu_codelet_init(&codelet);
        codelet.cpu_funcs[0] = run_body;
        codelet.nbuffers = static_cast<int>(inputs) + 1;
        std::vector<starpu_data_access_mode>& modes = modes_[inputs][update];
        modes.assign(inputs, STARPU_R);
        modes.push_back(update ? STARPU_RW : STARPU_W);
        if (modes.size() <= STARPU_NMAXBUFS)
          std::copy(modes.begin(), modes.end(), codelet.modes);
        else
          codelet.dyn_modes = modes.data();
      }
    }
  }
  [[nodiscard]] starpu_codelet& of(const PatternTask& task) {
    return codelets_[task.read_count + task.range_count][task.update];
  }

 private:
  std::array<std::array<starpu_codelet, 2>, kMostInputs + 1> codelets_{};
  std::array<std::array<std::vector<starpu_data_access_mode>, 2>, kMostInputs + 1> modes_;
};

class StarPu {
 public:
  explicit StarPu(const Pattern& pattern) : handles_(pattern.cells) {
    starpu_conf conf;
    check(starpu_conf_init(&conf), "conf");
    conf.ncuda = 0;
    conf.nopencl = 0;
    check(starpu_init(&conf), "init");
    // Handles without data: nothing is allocated or moved.
    for (starpu_data_handle_t& handle : handles_) starpu_void_data_register(&handle);
  }
  StarPu(const StarPu&) = delete;
  StarPu& operator=(const StarPu&) = delete;
  ~StarPu() {
    for (starpu_data_handle_t& handle : handles_) starpu_data_unregister(handle);
    starpu_shutdown();
  }

  bench::Times run_once(const Pattern& pattern) {
    bench::Times times;
    for (const PatternTask& task : pattern.tasks) submit(task);
    times.all_submitted();
    check(starpu_task_wait_for_all(), "wait_for_all");
    times.all_done();
    return times;
  }

 private:
  void submit(const PatternTask& what) {
    starpu_task* task = starpu_task_create();
    task->cl = &codelets_.of(what);
    task->cl_arg = const_cast<PatternTask*>(&what);
    starpu_data_handle_t* handles = task->handles;
    const auto count = static_cast<std::size_t>(task->cl->nbuffers);
    if (count > STARPU_NMAXBUFS) {
      // StarPU frees it with the task.
      handles = static_cast<starpu_data_handle_t*>(std::malloc(count * sizeof *handles));
      task->dyn_handles = handles;
    }
    for (std::uint32_t i = 0; i < what.read_count; ++i) *handles++ = handles_[what.reads[i]];
    for (std::uint32_t i = 0; i < what.range_count; ++i) *handles++ = handles_[what.range + i];
    *handles = handles_[what.write];
    check(starpu_task_submit(task), "submit");
  }

  Codelets codelets_;
  std::vector<starpu_data_handle_t> handles_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::contend(argc, argv, [](const bench::Arguments& arguments) {
    const Pattern pattern = bench::pattern_named(arguments.pattern, arguments.tasks);
    StarPu starpu(pattern);
    bench::measure_pattern(arguments, pattern, [&](const Pattern& what) { return starpu.run_once(what); });
  });
}
