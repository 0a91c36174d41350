/* The C interface of a platform: what a library libbaton_<platform>.so offers, for baton::ChipWorker to load.
 *
 * Functions return 0, or a number of the error table; baton_platform_last_error() then holds the message of this
 * thread's last failure. No exception crosses this boundary. One thread at a time uses a device.
 * docs/how-to/write-a-platform.md explains how to write one. */
#ifndef BATON_PLATFORM_H
#define BATON_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of everything in this header. A library is loaded only where this number is the same. */
#define BATON_PLATFORM_VERSION 1u
#define BATON_PLATFORM_EXPORT __attribute__((visibility("default")))

/* A device as its platform knows it, and a kernel that one has loaded. */
typedef struct BatonDevice BatonDevice;
typedef struct BatonDeviceKernel BatonDeviceKernel;

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

#ifdef __cplusplus
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
                                  BatonDeviceKernel** kernel_out); /* baton_device_load_kernel */
/* Runs `blocks` blocks of a kernel and returns when all have ended. */
typedef int BatonDeviceRun(BatonDevice* device, BatonDeviceKernel* kernel, const BatonDeviceArgument* arguments,
                           size_t count, uint32_t blocks); /* baton_device_run */

/* Optional functions. A library may lack them: it loads, and only a call of one that is missing is an error.
 *
 * The six calls of the communication group, by the names and with the meaning of baton/comm.h: comm_init,
 * comm_alloc_windows, comm_get_local_window_base, comm_get_window_size, comm_barrier, comm_destroy; and
 * comm_last_error for their messages. `stream` of comm_init is what baton_device_stream returns, NULL without it. */

/* The kernels of the device reach the windows of `comm` from now on. Before the first allocation of the device. */
typedef int BatonDeviceAttachComm(BatonDevice* device, void* comm); /* baton_device_attach_comm */
typedef void* BatonDeviceStream(BatonDevice* device);               /* baton_device_stream */

#ifdef __cplusplus
}
#endif

#endif
