/* SPDX-License-Identifier: MIT */
/*
 * Error codes and error records.
 *
 * Every function that can fail returns 0 or a negative code of one of two
 * ranges:
 *
 *   -1 … -199	a run failed on the device; the value is -(run code), and the run
 *		code is one of enum simpler_run_code (chip-runtime §15.1)
 *   <= -1000	the call was refused or could not be carried out; one of
 *		enum simpler_error_code, one code per (Python exception class,
 *		condition) pair of worker-api
 *
 * NULL: a function that returns a code answers SIMPLER_ERR_INVALID_ARGUMENT when an
 * object, a handle or the place of a result is NULL (exceptions are told where they are:
 * @error, options, destroy and put accept it).  Readers, get, and functions without a
 * code need valid pointers.
 *
 * errno is never part of the interface.  The record of the last failure is read
 * from the object that failed: simpler_worker_last_error(), simpler_run_error(),
 * or the error parameter of functions that create or check values (which may be
 * NULL).
 */
#ifndef SIMPLER_ERROR_H
#define SIMPLER_ERROR_H

#include <stdint.h>

#include "simpler/export.h"

SIMPLER_BEGIN_DECLS

/* Codes of failed runs, positive; functions return them negated. */
enum simpler_run_code {
	SIMPLER_RUN_OK = 0,
	SIMPLER_RUN_SCOPE_DEADLOCK = 1,
	SIMPLER_RUN_HEAP_RING_DEADLOCK = 2,
	SIMPLER_RUN_FLOW_CONTROL_DEADLOCK = 3,
	SIMPLER_RUN_DEP_POOL_OVERFLOW = 4,
	SIMPLER_RUN_INVALID_ARGS = 5,
	SIMPLER_RUN_DEPENDENCY_OVERFLOW = 6,
	SIMPLER_RUN_REQUIRE_SYNC_START_INVALID = 7,
	SIMPLER_RUN_TENSOR_WAIT_TIMEOUT = 8,
	SIMPLER_RUN_EXPLICIT_ORCH_FATAL = 9,
	SIMPLER_RUN_SCOPE_TASKS_OVERFLOW = 10,
	SIMPLER_RUN_TENSORMAP_OVERFLOW = 11,
	SIMPLER_RUN_CLUSTER_DEADLOCK = 12,
	SIMPLER_RUN_SCHEDULER_TIMEOUT = 100,
	SIMPLER_RUN_ASYNC_COMPLETION_INVALID = 101,
	SIMPLER_RUN_ASYNC_WAIT_OVERFLOW = 102,
	SIMPLER_RUN_ASYNC_REGISTRATION_FAILED = 103,
	SIMPLER_RUN_READY_QUEUE_OVERFLOW = 104,
	SIMPLER_RUN_KERNEL_FAULT = 105,
	SIMPLER_RUN_HOST_MEMORY = 106,
	SIMPLER_RUN_CODE_MAX = 199
};

/* Exception class that a Python binding raises for a code. */
enum simpler_error_class {
	SIMPLER_CLASS_NONE = 0,			/* code 0 */
	SIMPLER_CLASS_RUNTIME = 1,		/* RuntimeError; also every run code */
	SIMPLER_CLASS_VALUE = 2,		/* ValueError */
	SIMPLER_CLASS_TYPE = 3,			/* TypeError */
	SIMPLER_CLASS_KEY = 4,			/* KeyError */
	SIMPLER_CLASS_INDEX = 5,		/* IndexError */
	SIMPLER_CLASS_TIMEOUT = 6,		/* TimeoutError */
	SIMPLER_CLASS_BUFFER = 7,		/* BufferError */
	SIMPLER_CLASS_FILE_NOT_FOUND = 8,	/* FileNotFoundError */
	SIMPLER_CLASS_CONTEXT_REFUSED = 9,	/* ExecutionContextRefused (a RuntimeError) */
	SIMPLER_CLASS_MEMORY = 10,		/* MemoryError */
	SIMPLER_CLASS_OS = 11,			/* OSError */
	SIMPLER_CLASS_INTERRUPTED = 12,		/* none: raise what the interrupt check recorded */
	SIMPLER_CLASS_INIT_CANCELLED = 13	/* InitCancelled (a RuntimeError) */
};

enum simpler_error_code {
	/* general */
	SIMPLER_ERR_INTERNAL = -1000,		/* RuntimeError: a defect of the library */
	SIMPLER_ERR_UNSUPPORTED = -1001,	/* RuntimeError: not available here */
	SIMPLER_ERR_NO_MEMORY = -1002,		/* MemoryError: host memory */
	SIMPLER_ERR_INVALID_STATE = -1003,	/* RuntimeError: wrong lifecycle state */
	SIMPLER_ERR_INVALID_ARGUMENT = -1004,	/* ValueError: NULL, unknown flag, … */
	SIMPLER_ERR_TIMEOUT = -1005,		/* TimeoutError: the work goes on */
	SIMPLER_ERR_INTERRUPTED = -1006,	/* the interrupt check ended the wait */
	SIMPLER_ERR_NO_DEVICE = -1007,		/* RuntimeError: no such chip, or no driver */
	SIMPLER_ERR_DEVICE_LOST = -1008,	/* RuntimeError: the chip stopped answering */
	SIMPLER_ERR_CONTEXT_REFUSED = -1009,	/* ExecutionContextRefused */
	SIMPLER_ERR_DEVICE_MEMORY = -1010,	/* RuntimeError: device memory exhausted */
	SIMPLER_ERR_SYSTEM = -1011,		/* OSError: a system call failed */
	SIMPLER_ERR_TIMEOUT_VALUE = -1012,	/* ValueError: negative timeout */
	SIMPLER_ERR_INDEX = -1013,		/* IndexError */

	/* Worker configuration and lifecycle (worker-api §2, §3) */
	SIMPLER_ERR_LEVEL = -1020,		/* ValueError: level not supported */
	SIMPLER_ERR_LEVEL_OPERATION = -1021,	/* TypeError: not at this level */
	SIMPLER_ERR_PLATFORM_MISSING = -1022,	/* KeyError */
	SIMPLER_ERR_PLATFORM_UNKNOWN = -1023,	/* ValueError */
	SIMPLER_ERR_RUNTIME_MISSING = -1024,	/* KeyError */
	SIMPLER_ERR_RUNTIME_UNKNOWN = -1025,	/* ValueError */
	SIMPLER_ERR_OPTION_CONFLICT = -1026,	/* ValueError: options exclude each other */
	SIMPLER_ERR_OPTION_UNSUPPORTED = -1027,	/* RuntimeError: not on this platform */
	SIMPLER_ERR_STARTUP_FAILED = -1028,	/* RuntimeError: an earlier init failed */
	SIMPLER_ERR_INIT_CANCELLED = -1029,	/* InitCancelled: close during init */
	SIMPLER_ERR_REENTRY = -1030,		/* RuntimeError: close inside an operation */
	SIMPLER_ERR_POISONED = -1031,		/* RuntimeError: chip run lane is poisoned */
	SIMPLER_ERR_LEAKED = -1032,		/* RuntimeError: teardown left resources */

	/* callables (worker-api §4) */
	SIMPLER_ERR_SIGNATURE = -1040,		/* ValueError: unknown direction, wrong order */
	SIMPLER_ERR_TENSOR_LIMIT = -1041,	/* ValueError: too many tensors */
	SIMPLER_ERR_SCALAR_LIMIT = -1042,	/* ValueError: too many scalars */
	SIMPLER_ERR_CHILD_LIMIT = -1043,	/* ValueError: too many kernels */
	SIMPLER_ERR_CHILD_DUPLICATE = -1044,	/* ValueError: a func_id twice or negative */
	SIMPLER_ERR_CALLABLE_SIZE = -1045,	/* ValueError: binary empty or too large */
	SIMPLER_ERR_CALLABLE_BYTES = -1046,	/* ValueError: corrupt or truncated bytes */
	SIMPLER_ERR_CALLABLE_TYPE = -1047,	/* TypeError: not a callable for this level */
	SIMPLER_ERR_HANDLE_NOT_LIVE = -1048,	/* KeyError: foreign, stale or hand-built handle */
	SIMPLER_ERR_HANDLE_MUTATED = -1049,	/* RuntimeError: CALLABLE_HANDLE_MUTATED */
	SIMPLER_ERR_HANDLE_NAMESPACE = -1050,	/* TypeError: wrong namespace for the call */
	SIMPLER_ERR_CAPACITY = -1051,		/* RuntimeError: callable capacity exhausted */
	SIMPLER_ERR_DESCRIPTOR_MISMATCH = -1052, /* RuntimeError: HASHID_DESCRIPTOR_MISMATCH */
	SIMPLER_ERR_HASHID_FORMAT = -1053,	/* ValueError: HASHID_FORMAT_INVALID */
	SIMPLER_ERR_REGISTER_FAILED = -1054,	/* RuntimeError: the chip refused the callable */

	/* buffers (worker-api §5, §7, §8) */
	SIMPLER_ERR_BUFFER_SIZE = -1060,	/* ValueError: size is 0 or too large */
	SIMPLER_ERR_BUFFER_DESCRIPTOR = -1061,	/* ValueError: invalid BufferDescriptor */
	SIMPLER_ERR_BUFFER_RELEASED = -1062,	/* ValueError: closed or freed */
	SIMPLER_ERR_BUFFER_NOT_LIVE = -1063,	/* ValueError: not a live allocation here */
	SIMPLER_ERR_BUFFER_BORROWED = -1064,	/* ValueError: the caller owns this storage */
	SIMPLER_ERR_BUFFER_IN_USE = -1065,	/* RuntimeError: an in-flight run uses it */
	SIMPLER_ERR_BUFFER_UNPROVEN = -1066,	/* RuntimeError: completion is unproven */
	SIMPLER_ERR_BUFFER_EXPORTED = -1067,	/* BufferError: views of the memory are alive */
	SIMPLER_ERR_BUFFER_FOREIGN = -1068,	/* ValueError: UNSUPPORTED_ENDPOINT_RELATION */
	SIMPLER_ERR_BUFFER_SPACE = -1069,	/* ValueError: HOST instead of DEVICE, or reverse */
	SIMPLER_ERR_BUFFER_GRANT = -1070,	/* ValueError: needs READ or WRITE */
	SIMPLER_ERR_BUFFER_BOUNDS = -1071,	/* ValueError: offset and length leave the buffer */
	SIMPLER_ERR_SHM_MISSING = -1072,	/* FileNotFoundError */
	SIMPLER_ERR_SHM_SIZE = -1073,		/* ValueError: object smaller than declared */
	SIMPLER_ERR_WRAP_RANGE = -1074,		/* ValueError: address 0, size 0, end beyond 2^64 */
	SIMPLER_ERR_WRAP_OVERLAP = -1075,	/* ValueError: overlaps other storage */
	SIMPLER_ERR_LOCATION_PROCESS = -1076,	/* ValueError: location of another process */
	SIMPLER_ERR_LOCATION_DEAD = -1077,	/* ValueError: not a live device context */
	SIMPLER_ERR_LOCATION_FOREIGN = -1078,	/* ValueError: location of another Worker */
	SIMPLER_ERR_HOST_READONLY = -1079,	/* TypeError: destination is not writable */

	/* tensors and arguments (worker-api §6, §9) */
	SIMPLER_ERR_TENSOR = -1080,		/* ValueError: invalid Tensor */
	SIMPLER_ERR_ARG_ORDER = -1081,		/* RuntimeError: tensor after scalar */
	SIMPLER_ERR_ARG_COUNT = -1082,		/* ValueError: differs from the signature */
	SIMPLER_ERR_ARG_LIMIT = -1083,		/* IndexError: more than a run can take */
	SIMPLER_ERR_ARG_TAG = -1084,		/* ValueError: unknown tag */
	SIMPLER_ERR_ARG_TRANSFER = -1085,	/* ValueError: transfer request not allowed */
	SIMPLER_ERR_ARG_OVERLAP = -1086,	/* ValueError: overlapping bytes */
	SIMPLER_ERR_BLOB = -1087,		/* RuntimeError: malformed argument blob */

	/* CallConfig (worker-api §10) */
	SIMPLER_ERR_CONFIG = -1090,		/* ValueError: field out of range */
	SIMPLER_ERR_CONFIG_PREFIX = -1091,	/* ValueError: output_prefix missing or too long */
	SIMPLER_ERR_CONFIG_RING = -1092,	/* ValueError: ring size */
	SIMPLER_ERR_CONFIG_THREADS = -1093	/* RuntimeError: aicpu_thread_num */
};

/* What a run was doing when it failed. */
enum simpler_phase {
	SIMPLER_PHASE_PREPARE = 0,
	SIMPLER_PHASE_ORCHESTRATE = 1,
	SIMPLER_PHASE_EXECUTE = 2,
	SIMPLER_PHASE_RETIRE = 3
};

#define SIMPLER_NO_TASK UINT64_MAX

/* Record of one failure; code 0 means "nothing failed". */
struct simpler_error {
	int32_t code;			/* as returned: negative */
	int32_t chip;			/* device id, -1 none */
	int32_t core;			/* logical core, -1 none */
	int32_t func_id;		/* kernel, -1 none */
	uint64_t task;			/* SIMPLER_NO_TASK none */
	uint64_t address;		/* of a memory fault, 0 none */
	uint64_t pc;
	uint32_t phase;			/* enum simpler_phase */
	int32_t orch_code;		/* run code latched by the orchestrator, 0 none */
	int32_t sched_code;		/* run code latched by a scheduler, 0 none */
	int32_t sub_class;		/* of SIMPLER_RUN_SCHEDULER_TIMEOUT */
	char name[48];			/* of the code, e.g. "HEAP_RING_DEADLOCK" */
	char text[1024];		/* what was wrong, with which value */
	char hint[256];			/* what to do; may be empty */
};

/**
 * simpler_error_class - exception class of a code
 * @code: what a function returned
 *
 * Returns one of enum simpler_error_class; unknown codes are RuntimeErrors.
 * Thread safe.
 */
SIMPLER_API enum simpler_error_class simpler_error_class(int code);

/**
 * simpler_error_name - symbolic name of a code
 * @code: what a function returned
 *
 * Returns a static string such as "HEAP_RING_DEADLOCK" or "BUFFER_IN_USE",
 * "OK" for 0, "USER" for a number of the orchestration's own (rt_report_fatal()
 * with a code that the library does not give), and "UNKNOWN" for codes that do
 * not exist.  Thread safe.
 */
SIMPLER_API const char *simpler_error_name(int code);

/**
 * simpler_error_description - what a code means in general
 * @code: what a function returned
 *
 * Returns a static sentence.  Thread safe.
 */
SIMPLER_API const char *simpler_error_description(int code);

SIMPLER_END_DECLS

#endif /* SIMPLER_ERROR_H */
