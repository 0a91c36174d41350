// What to try, by situation. A code says what kind of failure it is and has a remedy for all of them; where a failure
// is known better, its row here has one that fits. docs/reference/errors.md lists both.
#pragma once

#include <string_view>

#include <baton/error.hpp>

// Each row: name, code, when it applies, what to try.
// clang-format off
#define BATON_REMEDY_TABLE(X) \
  X(no_such_program,    launch_failed,    "There is no such file.",                     "Correct the path; `ls` on its folder shows what there is.") \
  X(not_in_path,        launch_failed,    "No folder of PATH has the program.",         "Write the path of the program, ./NAME for one in this folder, or add its folder to PATH.") \
  X(program_is_folder,  launch_failed,    "The program is a folder.",                   "Name the program in it; a folder itself can be run if it holds a main.py.") \
  X(not_executable,     launch_failed,    "The program may not be executed.",           "Make it executable with chmod +x, or name what runs it, as in: baton run -n 4 python3 train.py.") \
  X(too_many_processes, launch_failed,    "The system gives no more processes or files.", "Start fewer ranks, or raise the limits that `ulimit -u` and `ulimit -n` show.") \
  X(no_python,          launch_failed,    "There is no Python to run it with.",         "Let PYTHON name the Python that has the package of Baton.") \
  X(missing_argument,   invalid_argument, "An argument is missing.",                    "Add what the message names; `baton COMMAND --help` has examples.") \
  X(unknown_choice,     invalid_argument, "A word is not one of those to choose from.", "Take one of the words that the message lists.") \
  X(excluding_options,  invalid_argument, "Two options contradict each other.",         "Leave one of the two options out.") \
  X(bad_name,           invalid_argument, "A name is empty, too long or not printable.", "Use 1 to 48 printable ASCII characters.") \
  X(named_twice,        invalid_argument, "A rank is named twice.",                     "Name each rank once.") \
  X(other_domain,       invalid_argument, "A window of another domain was given.",      "Make both windows with the same domain.") \
  X(null_pointer,       invalid_argument, "A pointer is null.",                         "Pass the address of an object that lives during the call.") \
  X(ranks_impossible,   invalid_argument, "A job cannot have as many ranks.",           "Choose a number of ranks that the message allows.") \
  X(device_numbers,     invalid_argument, "A device is negative, or given twice.",      "Give every chip a device of its own, 0 or more: {0, 1, 2}, or \"0-2\" in a device list.") \
  X(thread_count,       invalid_argument, "A number of threads is negative or too large.", "Give a number of threads, or 0 for one that fits the processors.") \
  X(tensor_shape,       invalid_argument, "Numbers do not fit the shape of a tensor.",  "Compare them with the shape and strides that the message shows.") \
  X(inside_run,         invalid_argument, "A call inside a run would wait for that run.", "Let the run return first; an exception ends it early.") \
  X(not_node_memory,    invalid_argument, "Chips of a node cannot reach the memory.",   "Take memory from Worker::create_buffer() or Orchestration::alloc(), in Python from node.tensor(array).") \
  X(instruction,        invalid_argument, "A kernel uses an instruction wrongly.",      "Correct the instruction at the place that the message names.") \
  X(tensor_misaligned,  misaligned,       "A tensor cannot be read as another type.",   "Choose a slice whose offset and strides are multiples of the new element.") \
  X(operand_misaligned, misaligned,       "An operand of an instruction does not start where it must.", "Move the tile or the address to a multiple of what the message names.") \
  X(no_such_chip,       out_of_range,     "There is no such chip.",                     "Chips count from 0, one for each of the node's devices; name one of them.") \
  X(no_such_argument,   out_of_range,     "A task has no such argument.",               "Compare with the arguments that the submission passes, tensors first.") \
  X(outside_tensor,     out_of_range,     "A view would leave its tensor or buffer.",   "Compare the numbers with the shape, strides and buffer that the message shows.") \
  X(signal_nowhere,     out_of_range,     "A signal lies in no window and no tensor.",  "Take it from a window, or from memory that the chip knows: Chip::alloc() or Chip::add().") \
  X(operand_outside,    out_of_range,     "An instruction would leave a buffer, tensor or window.", "Keep tiles inside the buffers of the core and accesses inside their tensor; the message has the sizes.") \
  X(not_in_domain,      not_a_member,     "A chip is not in the domain.",               "Name a chip that the message lists, or add this one to the domain.") \
  X(too_large,          out_of_memory,    "One piece of memory is more than there is.", "Ask for less at a time, or free what is not used any more; `baton doctor` shows what there is.") \
  X(output_heap_full,   out_of_memory,    "The outputs of a chip do not fit.",          "End scopes earlier, or raise BATON_OUTPUT_HEAP or ChipOptions::output_heap_bytes.") \
  X(kernel_memory,      out_of_memory,    "A kernel asked for more host memory than there is.", "Let it work in tiles and tensors, or on less at a time.") \
  X(compiler_memory,    out_of_memory,    "The compiler of a kernel ran out of memory.", "End other programs, or compile fewer kernels at once; `baton doctor` shows what there is.") \
  X(not_chip_memory,    released,         "Memory is not the chip's, or not any more.", "Take memory from Chip::alloc(), or give yours to the chip with Chip::add(), and keep it while tasks use it.") \
  X(silent_chip,        wait_timeout,     "A chip of a node does not answer.",          "Let its process go on (kill -CONT), or give it more time with BATON_WAIT_TIMEOUT.") \
  X(no_such_rank,       out_of_range,     "There is no such rank.",                     "Ranks count from 0; size() says how many there are.") \
  X(outside_window,     out_of_range,     "An access would leave its window.",          "Compare offset and count with the size of the window, which the message shows.") \
  X(other_host,         out_of_range,     "A pointer to the part of a rank of another host is wanted.", "Use put, get and notify, which reach all ranks; RawWindow::is_mapped() says where pointers do.") \
  X(no_such_platform,   invalid_argument, "There is no such platform.",                 "Take one of those that the message names; `baton --version` shows what is installed.") \
  X(not_a_trace,        protocol,         "A file is not a trace.",                     "Name a file that `baton run --trace FILE` wrote, or a program with BATON_TRACE=FILE.") \
  X(other_trace,        protocol,         "A trace is of another version of Baton.",    "Read it with the `baton` of the version that wrote it, or record it again.") \
  X(no_such_source,     invalid_argument, "The source of a kernel does not exist.",     "Correct the path; it counts from the folder that the program was started in.") \
  X(no_more_threads,    system,           "The system gives no more threads.",          "End other programs, or raise the limits that `ulimit -u` and `ulimit -v` show; in a container, that of its processes.") \
  X(cache_folder,       system,           "The folder of the cache of kernels is not safe, or cannot be made.", "Let BATON_CACHE_DIR name a folder of your own that nobody else can write to.") \
  X(function_late,      kernel_timeout,   "A host function of a node does not end.",    "Look for what it waits for, at the place that the message names. BATON_KERNEL_TIMEOUT, or kernel_timeout of the node, gives slower functions more time.") \
  X(kernel_line,        kernel_fault,     "A kernel crashed or threw, and its line is known.", "Look at the line that the message names; gdb shows the variables there if the kernel is built with -O0 -g (debug=True).") \
  X(kernel_exit,        kernel_fault,     "A kernel called exit() or its like.",        "Return from the kernel, or throw an exception, which ends the run with an error.") \
  X(bad_host,           invalid_argument, "A host, or a file of hosts, cannot be read.", "Write hosts as in --hosts a,b or --hosts a:4,b:8; in a file one to a line.") \
  X(ranks_and_hosts,    invalid_argument, "The ranks do not fit the hosts.",            "Change -n, or the numbers behind the hosts, as in --hosts a:4,b:8.") \
  X(host_unreachable,   launch_failed,    "ssh does not get to a host.",                "Try `ssh HOST true` by hand: it has to work without a password. --launch-agent names another way to a host.") \
  X(no_baton_there,     launch_failed,    "A host has no baton at the path.",           "Install the same version of Baton there, or give its path with --remote-baton.") \
  X(agent_failed,       launch_failed,    "The agent of a host ended before the job began.", "Run the command that the message shows by hand, and see what it says.") \
  X(agent_silent,       launch_failed,    "The agent of a host does not reach the launcher.", "Let a firewall pass connections between the hosts, or name the network with --interface; `baton doctor` lists them.") \
  X(other_version,      launch_failed,    "A host has another version of Baton.",       "Install the same version on all hosts, or give its path with --remote-baton.") \
  X(no_such_folder,     launch_failed,    "A host lacks the folder that the job was started in.", "Start the job in a folder that all hosts have, such as a shared home.") \
  X(host_lost,          rank_failed,      "A host was lost while the job ran.",         "See whether the host runs and its network works; what it ran has been ended there, if it still does.") \
  X(left_silently,      rank_failed,      "A rank ended without leaving the job.",      "Let its handles of the job go first: return from main() instead of calling _exit() or exit().") \
  X(rank_ended,         rank_failed,      "A rank ended with an exit code, or by a signal that asks to end.", "Its own output, above the report, says why.") \
  X(rank_crashed,       rank_failed,      "A rank crashed.",                            "Run it in a debugger, or build it with -fsanitize=address; `ulimit -c unlimited` keeps a core file.") \
  X(rank_killed,        rank_failed,      "A rank got SIGKILL from outside of the job.", "If memory ran out, `dmesg` names the process; else ask the user or program that sent the signal.") \
  X(threw_uncaught,     rank_failed,      "A rank ended with an exception that nobody caught.", "Correct what the exception tells of, or catch it in main().")
// clang-format on

namespace baton {

enum class Situation {
#define BATON_SITUATION_ENUMERATOR(name, code, when, remedy) name,
  BATON_REMEDY_TABLE(BATON_SITUATION_ENUMERATOR)
#undef BATON_SITUATION_ENUMERATOR
};

struct SituationInfo {
  Situation situation;
  std::string_view name;
  Code code;
  std::string_view when;
  std::string_view remedy;
};

inline constexpr SituationInfo kSituations[] = {
#define BATON_SITUATION_ROW(name, code, when, remedy) {Situation::name, #name, Code::code, when, remedy},
    BATON_REMEDY_TABLE(BATON_SITUATION_ROW)
#undef BATON_SITUATION_ROW
};

[[nodiscard]] constexpr const SituationInfo& info_of(Situation situation) noexcept {
  return kSituations[static_cast<std::size_t>(situation)];
}

}  // namespace baton
