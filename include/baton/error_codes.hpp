// The one table of errors. Each row: number, name, what it means, what to try.
// docs/reference/errors.md is generated from it (scripts/generate_reference).
#pragma once

// clang-format off
#define BATON_ERROR_TABLE(X) \
  X(  1, invalid_argument,   "An argument makes no sense by itself: a null pointer, a negative count, an unknown name.", "Correct the argument that the message names.") \
  X(  2, out_of_range,       "An access would leave its window, or a rank is outside its domain.", "Compare offset, count and window size in the message.") \
  X(  3, not_a_member,       "This rank is not in the set of ranks it named.", "List the calling rank among the members, or do not call there.") \
  X(  4, misaligned,         "A signal or a buffer does not start where its type needs it to.", "Use offsets that are multiples of the element size; signals of 4 bytes.") \
  X(  5, mismatch,           "The ranks of a domain disagree about a collective call.", "Make every member call with the same name, size and order; the message shows both sides.") \
  X(  6, out_of_memory,      "More memory was asked for than this machine can give.", "Ask for smaller windows or fewer ranks; `baton doctor` shows what there is.") \
  X(  7, system,             "The operating system refused a call.", "The message holds the call and the system's reason; `baton doctor` checks the usual limits.") \
  X(  8, unsupported,        "This build or this machine cannot do it.", "`baton doctor` lists what is available and what is missing.") \
  X(  9, released,           "A window or domain was used after it was released.", "Keep the object alive for as long as its memory is used.") \
  X( 10, bad_option,         "An environment variable or option has a value that cannot be read.", "Give a value of the form that the message shows as accepted.") \
  X( 11, bad_device_list,    "A device list cannot be read.", "Write lists such as 0, 0-3 or 0,2-4.") \
  X( 12, internal,           "Baton broke one of its own rules.", "Please report it with the whole message.") \
  X( 13, no_space,           "A file system is full, or a quota is used up.", "Make room where the message says; BATON_CACHE_DIR moves the cache of kernels.") \
  X( 20, join_timeout,       "Some ranks did not arrive at the rendezvous in time.", "Start the ranks that the message names, or raise BATON_JOIN_TIMEOUT.") \
  X( 21, rank_taken,         "Another live process already has this rank.", "Give every process its own rank, or wait until the other job has ended.") \
  X( 22, join_refused,       "The rendezvous refused this process.", "The message says what differs: job size, user or version.") \
  X( 23, unknown_backend,    "There is no backend of that name in this build.", "Use shm or inproc, or a rendezvous without a scheme.") \
  X( 24, bad_launcher_environment, "The variables a launcher set contradict each other.", "Start the program with one launcher; the message names the variables.") \
  X( 30, peer_died,          "A rank of the domain ended while others still needed it.", "Look at the output of the rank that the message names; it failed first.") \
  X( 31, wait_timeout,       "A wait reached its deadline.", "baton ps shows who waits for what; BATON_WAIT_TIMEOUT gives slower peers more time.") \
  X( 32, peer_left,          "A rank left the domain while others still needed it.", "Let every rank make the same collective calls before it leaves.") \
  X( 33, protocol,           "Bytes from another process make no sense.", "Run the same version of Baton in all ranks.") \
  X( 34, in_flight,          "A rank began a collective call on a domain while another one of its calls there was not finished.", "Let one thread make the calls of a domain, or give each thread a subset of its own.") \
  X( 40, launch_failed,      "A program could not be started.", "Check the path, its permissions and the limits of processes and files.") \
  X( 41, rank_failed,        "A rank ended with a failure.", "Its own output, above the report, says why.") \
  X( 42, job_timeout,        "A job ran longer than it was allowed to.", "Raise --timeout, or look with baton ps at what it waits for.") \
  X( 50, pipe_order,         "A kernel misused a flag, or let two pipes touch the same bytes without order between them.", "Set and await a flag, or put a barrier, between the two instructions that the message names.") \
  X( 51, left_open,          "A kernel returned with a flag or an asynchronous copy that nobody waits for.", "Wait for it, or register it as a completion condition, before the kernel returns.") \
  X( 52, kernel_fault,       "A kernel crashed or threw: a bad address, a division by zero, a failed assertion, a stack that ran over, an exception.", "The message names kernel and core; build the kernel with -g for the source line.") \
  X( 53, too_many_conditions, "A kernel registered more completion conditions than it has room for.", "Give the task room for more, or let one condition stand for several: copies of one session complete in order.") \
  X( 54, orchestration_failed, "An orchestration reported an error, or used its interface wrongly.", "The message has the number and the words of its author, or names the call that was wrong.") \
  X( 55, kernel_timeout,     "A kernel, or a host function of a node, ran for longer than it may.", "The message says where it was; a loop may wait for what never comes. BATON_KERNEL_TIMEOUT gives slower kernels more time.") \
  X( 60, compile_failed,     "A kernel did not compile.", "The compiler's messages, above, name file and line.") \
  X( 61, not_a_kernel,       "A library is not a kernel, or lacks the entry that was asked for.", "Build it with `baton compile`; the message lists what it offers.") \
  X( 62, wrong_abi,          "A kernel was built for another version of Baton.", "Compile it again.")
// clang-format on
