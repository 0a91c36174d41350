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
  X(no_such_rank,       out_of_range,     "There is no such rank.",                     "Ranks count from 0; size() says how many there are.") \
  X(no_such_chip,       out_of_range,     "There is no such chip.",                     "Chips count from 0; a node has one for each of its devices.") \
  X(outside_window,     out_of_range,     "An access would leave its window.",          "Compare offset and count with the size of the window, which the message shows.") \
  X(no_such_platform,   invalid_argument, "There is no such platform.",                 "Take one of those that the message names; `baton --version` shows what is installed.") \
  X(no_such_source,     invalid_argument, "The source of a kernel does not exist.",     "Correct the path; it counts from the folder that the program was started in.") \
  X(left_silently,      rank_failed,      "A rank ended without leaving the job.",      "Let its handles of the job go first: return from main() instead of calling _exit() or exit().") \
  X(rank_ended,         rank_failed,      "A rank ended with an exit code, or by a signal that asks to end.", "Its own output, above the report, says why.") \
  X(rank_crashed,       rank_failed,      "A rank crashed.",                            "Run it in a debugger, or build it with -fsanitize=address; `ulimit -c unlimited` keeps a core file.") \
  X(rank_killed,        rank_failed,      "A rank got SIGKILL from outside of the job.", "If memory ran out, `dmesg` names the process; else whoever sent the signal knows.") \
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
