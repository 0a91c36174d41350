/* The C interface of a platform: what a library libbaton_<platform>.so offers, for baton::Chip and baton::ChipWorker.
 *
 * Functions return 0, or a number of the error table; baton_platform_last_error() then holds the message of this
 * thread's last failure. No exception crosses this boundary. One thread at a time uses a device; only while it runs a
 * graph another one may open, leave and close windows, and allocate, free and copy memory that no task uses.
 * docs/reference/platform.md explains how to write one. */
#ifndef BATON_PLATFORM_H
#define BATON_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of everything in this header. A library is loaded only where this number is the same. */
#define BATON_PLATFORM_VERSION 6u
#define BATON_PLATFORM_EXPORT __attribute__((visibility("default")))

/* A device as its platform knows it, a kernel that one has loaded, and a graph of tasks that it has taken. */
typedef struct BatonDevice BatonDevice;
typedef struct BatonDeviceKernel BatonDeviceKernel;
typedef struct BatonDeviceGraph BatonDeviceGraph;

/* What a kernel does with an argument. The numbers are those of BatonDirection in kernel_abi.hpp. */
enum {
  BATON_ARGUMENT_SCALAR = 0,
  BATON_ARGUMENT_IN = 1,
  BATON_ARGUMENT_OUT = 2,
  BATON_ARGUMENT_INOUT = 3,
};

enum { BATON_ARGUMENT_DIMS = 5 };

/* One argument of a kernel: a scalar, or a view of memory of the device. */
typedef struct BatonDeviceArgument {
  uint32_t access; /* one of the above */
  uint32_t dtype;  /* of a tensor: as in a tensor descriptor */
  uint32_t dims;   /* of a tensor: 1 to 5 */
  uint32_t reserved;
  uint64_t address; /* of a tensor's buffer; of a scalar: its bytes */
  uint64_t bytes;   /* of the buffer */
  int64_t offset;   /* in elements, from the start of the buffer; likewise shape and strides */
  int64_t shape[BATON_ARGUMENT_DIMS];
  int64_t strides[BATON_ARGUMENT_DIMS];
} BatonDeviceArgument;

/* What executes a task. */
enum {
  BATON_TASK_VECTOR = 0,
  BATON_TASK_CUBE = 1,
  BATON_TASK_CLUSTER = 2, /* a cube core and its two vector cores */
  BATON_TASK_NONE = 3,    /* it has no kernel: it is complete when those before it are */
};

/* Flags of a task. */
enum {
  BATON_TASK_TOGETHER = 1,  /* all of its blocks run at the same time: they wait for each other */
  BATON_TASK_PREDICATE = 2, /* its kernel runs only if the element at `address` compares so with `value` */
  BATON_TASK_COUNTER = 4,   /* of a task without a kernel: it waits until the int32 at `address` is >= `value` */
  BATON_TASK_QUEUE = 8,     /* its last scalar becomes, for each block, the address of a completion queue */
};

enum { BATON_TASK_KERNELS = 3 };

/* One task of a graph. */
typedef struct BatonDeviceTask {
  BatonDeviceKernel* kernels[BATON_TASK_KERNELS]; /* the first; of a cluster: cube, vector, vector, NULL for none */
  const BatonDeviceArgument* arguments;
  uint32_t argument_count;
  uint32_t cores; /* one of the above */
  uint32_t blocks;
  uint32_t flags;
  int32_t priority;    /* of tasks that are ready, the one with the largest goes first, where there is a choice */
  uint32_t comparison; /* of a predicate: 0 ==, 1 !=, 2 >, 3 >=, 4 <, 5 <= */
  uint64_t address;
  int64_t value;
  uint32_t dtype; /* of the element of a predicate */
  uint32_t reserved;
} BatonDeviceTask;

/* Who may touch the memory of a device. */
enum {
  BATON_MEMORY_HOST = 0,   /* host and device alike */
  BATON_MEMORY_DEVICE = 1, /* the device; the host through copies */
};

typedef struct BatonDeviceDescription {
  uint32_t clusters; /* how many tasks of three cores can run at the same time */
  uint32_t memory;   /* one of the above */
  uint32_t features; /* bits of the below; 0 when asked for */
} BatonDeviceDescription;

/* What not every device has. */
enum {
  BATON_FEATURE_QUEUES = 1, /* tasks with BATON_TASK_QUEUE */
  BATON_FEATURE_TIMES = 2,  /* note_task() of BatonRunOptions is called */
  BATON_FEATURE_BLOCKS = 4, /* note_block() of BatonRunOptions is called, in streams, too */
};

typedef struct BatonDeviceExtent {
  uint64_t address;
  uint64_t bytes;
} BatonDeviceExtent;

/* How far a task has come. */
enum {
  BATON_TASK_DISPATCHED = 0,
  BATON_TASK_STARTED = 1,  /* its kernel, with nothing of this graph before it on its cores */
  BATON_TASK_RETURNED = 2, /* its kernel, of a task that may be complete later; others are complete at once */
  BATON_TASK_COMPLETE = 3,
};

/* When a block of a task ran, by a device that keeps times: nanoseconds of CLOCK_MONOTONIC of the host; 0 where it did
 * not come to that. */
typedef struct BatonBlockTimes {
  uint32_t task;
  uint32_t block;
  uint32_t core; /* of the device, from 0 */
  uint32_t reserved;
  uint64_t started;   /* its kernel; 0: it was not called */
  uint64_t returned;  /* its kernel */
  uint64_t completed; /* what it waited for after that has come, too */
} BatonBlockTimes;

/* What one run of a graph is given. */
typedef struct BatonRunOptions {
  const BatonDeviceExtent* extents; /* what kernels may touch, by address */
  size_t extent_count;
  uint64_t wait_limit_ns; /* of a wait for a signal */
  uint64_t run_limit_ns;  /* of a task; 0: none */
  void* context;          /* for those below, which are called by the thread that runs the graph */
  /* Asked again and again. Not 0: somebody has ended, or failed, whose signals tasks may wait for, and waits that do
   * not hold end with an error. NULL: nobody does. */
  int (*has_lost_peers)(void* context);
  /* Writes what people call an address, for messages. NULL: they have no name for it. */
  void (*name_address)(void* context, uint64_t address, char* text, size_t bytes);
  /* Told when the platform learns that a task has come so far. NULL: nobody asks. */
  void (*note_task)(void* context, uint32_t task, uint32_t progress);
  /* Told once of each block that a core came to, when the run is over. NULL: nobody asks. */
  void (*note_block)(void* context, const BatonBlockTimes* times);
} BatonRunOptions;

/* A window of a device: memory of each member of a group that the devices of all members reach. */
typedef struct BatonDeviceWindow BatonDeviceWindow;

/* The members that open a window together, each with its device. */
typedef struct BatonGroup {
  uint32_t rank; /* of the caller */
  uint32_t size;
  void* context; /* for exchange() */
  /* Tells all members `bytes` bytes from `mine`, and writes what each member told, by rank, to `all`. Collective: all
   * members call it as often as each other, with the same number of bytes. `status` is 0, or a number of the error
   * table, with a message, if something went wrong here: then it fails for all members. Returns 0 or why it failed, and
   * then the window fails; members may go on to meet here while they let go of what they have. */
  int (*exchange)(void* context, int status, const char* message, const void* mine, size_t bytes, void* all);
  const int* hosts; /* by rank: which host, numbered from 0. NULL: all are on one */
} BatonGroup;

/* The task that a failure belongs to, where none does. */
#define BATON_NO_TASK UINT32_MAX

#ifdef __cplusplus
static_assert(sizeof(BatonDeviceTask) == 80 && offsetof(BatonDeviceTask, arguments) == 24, "layout");
static_assert(offsetof(BatonDeviceTask, priority) == 48 && offsetof(BatonDeviceTask, address) == 56, "layout");
static_assert(sizeof(BatonBlockTimes) == 40, "layout");
static_assert(sizeof(BatonDeviceArgument) == 120, "BatonDeviceArgument is 120 bytes");
static_assert(offsetof(BatonDeviceArgument, address) == 16 && offsetof(BatonDeviceArgument, offset) == 32, "layout");
static_assert(offsetof(BatonDeviceArgument, shape) == 40 && offsetof(BatonDeviceArgument, strides) == 80, "layout");
#endif

/* Required functions. */

/* BATON_PLATFORM_VERSION of the header that the library was compiled with. Called before anything else. */
typedef uint32_t BatonPlatformVersion(void);                          /* baton_platform_version */
typedef const char* BatonPlatformLastError(void);                     /* baton_platform_last_error */
typedef int BatonDeviceOpen(int device_id, BatonDevice** device_out); /* baton_device_open */
/* Frees all memory and kernels of the device. */
typedef int BatonDeviceClose(BatonDevice* device); /* baton_device_close */
/* Zeroed memory of the device. */
typedef int BatonDeviceAlloc(BatonDevice* device, size_t bytes, uint64_t* address_out); /* baton_device_alloc */
typedef int BatonDeviceFree(BatonDevice* device, uint64_t address);                     /* baton_device_free */
/* Complete when they return. */
typedef int BatonDeviceCopyIn(BatonDevice* device, uint64_t to, const void* from,
                              size_t bytes);                                                /* baton_device_copy_in */
typedef int BatonDeviceCopyOut(BatonDevice* device, void* to, uint64_t from, size_t bytes); /* baton_device_copy_out */
/* Kernel `name` of the library at `path`, until the device is closed. */
typedef int BatonDeviceLoadKernel(BatonDevice* device, const char* path, const char* name,
                                  BatonDeviceKernel** kernel_out);                 /* baton_device_load_kernel */
typedef int BatonDeviceDescribe(BatonDevice* device, BatonDeviceDescription* out); /* baton_device_describe */

/* Graphs. The predecessors of task i, which come before it, are predecessors[first_predecessor[i]] up to
 * predecessors[first_predecessor[i + 1] - 1]. What the tasks point to is copied. A graph ends with baton_graph_free or
 * its device. */
typedef int BatonGraphMake(BatonDevice* device, const BatonDeviceTask* tasks, size_t count,
                           const uint64_t* first_predecessor, const uint32_t* predecessors,
                           BatonDeviceGraph** graph_out); /* baton_graph_make */
/* Other arguments, or another value to compare with, for one task; all else stays. While the graph does not run. */
typedef int BatonGraphSet(BatonDeviceGraph* graph, size_t task, const BatonDeviceTask* changed); /* baton_graph_set */
/* Runs all tasks and returns when they have ended. After a failure `failed_task` is the number of the task that failed
 * first, or BATON_NO_TASK, and the device can be used again. */
typedef int BatonGraphRun(BatonDeviceGraph* graph, const BatonRunOptions* options,
                          uint32_t* failed_task);    /* baton_graph_run */
typedef int BatonGraphFree(BatonDeviceGraph* graph); /* baton_graph_free */

/* Optional functions. A library may lack them: it loads, and only a call of one that is missing is an error.
 *
 * The six calls of the communication group, by the names and with the meaning of baton/comm.h: comm_init,
 * comm_alloc_windows, comm_get_local_window_base, comm_get_window_size, comm_barrier, comm_destroy; and
 * comm_last_error for their messages. `stream` of comm_init is what baton_device_stream returns, NULL without it. */

/* The kernels of the device reach the windows of `comm` from now on. Before the first allocation of the device. */
typedef int BatonDeviceAttachComm(BatonDevice* device, void* comm); /* baton_device_attach_comm */
typedef void* BatonDeviceStream(BatonDevice* device);               /* baton_device_stream */
/* Windows in memory of devices, for chips that are ranks: all three, or none. Collective over the group, which lives as
 * long as the call. Zeroed; `parts` receives, by rank, where this device finds the part of each member. */
typedef int BatonWindowOpen(BatonDevice* device, const BatonGroup* group, size_t bytes, uint64_t* parts,
                            BatonDeviceWindow** window_out); /* baton_window_open */
/* This device does not reach the parts of others any more; they reach its own. No task uses the window. */
typedef int BatonWindowLeave(BatonDeviceWindow* window); /* baton_window_leave */
/* After baton_window_leave() of all members that live: frees the device's own part. Before its device is closed. */
typedef int BatonWindowClose(BatonDeviceWindow* window); /* baton_window_close */
/* Whether what windows of several devices need is there. `device` may be NULL: nothing is opened. */
typedef int BatonDeviceCheckWindows(BatonDevice* device); /* baton_device_check_windows */
/* As many clusters as `clusters`, from now on: cores may get smaller then, or some are not used. Right after
 * baton_device_open(). */
typedef int BatonDeviceSetClusters(BatonDevice* device, uint32_t clusters); /* baton_device_set_clusters */
/* In place of baton_device_open(): device `device_id` of `device_count`. Where there are fewer, each is a part of one.
 */
typedef int BatonDeviceOpenPart(int device_id, int device_count, BatonDevice** device_out); /* baton_device_open_part */
/* Streams: tasks that run while others are still submitted. All three, or none. Tasks are numbered from 0 on, until
 * baton_stream_wait() has returned, or one of them has failed: 0 comes next then, and no task is under way. After a
 * failure `failed_task` is as after a run of a graph.
 *
 * Before the first task, and whenever what kernels may touch has changed: `options` for tasks from now on. What they
 * point to, but for the extents, lives until baton_stream_wait() has returned. `*takes_out` is 0 if the device takes
 * whole graphs only, now. */
typedef int BatonStreamBegin(BatonDevice* device, const BatonRunOptions* options,
                             int* takes_out); /* baton_stream_begin */
/* The next task, which begins when `predecessors`, earlier ones, have ended. Waits while the device has enough to do.
 * What the task points to is copied. */
typedef int BatonStreamSubmit(BatonDevice* device, const BatonDeviceTask* task, const uint32_t* predecessors,
                              size_t count, uint32_t* failed_task); /* baton_stream_submit */
/* Returns when all tasks have ended. */
typedef int BatonStreamWait(BatonDevice* device, uint32_t* failed_task); /* baton_stream_wait */
/* What DLPack calls the memory of the device: the type of the device and its number there. */
typedef int BatonDeviceDlpack(BatonDevice* device, int32_t* type_out, int32_t* number_out); /* baton_device_dlpack */

#ifdef __cplusplus
}
#endif

#endif
