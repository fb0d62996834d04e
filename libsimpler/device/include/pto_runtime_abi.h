/* SPDX-License-Identifier: MIT */
/*
 * Binary interface between the chip runtime and the code it loads: the
 * orchestration object (called by the runtime, calls back through a function
 * table) and kernel objects (called per block, reach the core they run on
 * through a second table).  Usable from C and C++; the C++ faces are
 * pto_orchestration_api.h for orchestrations, tensor.h, intrinsic.h and
 * pto/pto-inst.hpp for kernels.  Neither kind of object links against the
 * runtime.
 *
 * Spec: chip-runtime §6 to §9, §13.
 */
#ifndef PTO_RUNTIME_ABI_H
#define PTO_RUNTIME_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define PTO_ABI_ASSERT(cond, text) static_assert(cond, text)
extern "C" {
#else
#define PTO_ABI_ASSERT(cond, text) _Static_assert(cond, text)
#endif

#define PTO_MAX_DIMS		5
#define PTO_TASK_TENSORS	32	/* per task */
#define PTO_TASK_SCALARS	16
#define PTO_ENTRY_TENSORS	256	/* per run */
#define PTO_ENTRY_SCALARS	128
#define PTO_KERNEL_ARGS		50	/* words a kernel receives */
#define PTO_LOCAL_CONTEXT	48	/* index of the local context in them */
#define PTO_GLOBAL_CONTEXT	49
#define PTO_NO_TASK		UINT64_MAX
#define PTO_NO_KERNEL		(-1)

/* Element types (chip-runtime §6.1). */
enum pto_dtype {
	PTO_FLOAT32 = 0, PTO_FLOAT16 = 1, PTO_INT32 = 2, PTO_INT16 = 3, PTO_INT8 = 4,
	PTO_UINT8 = 5, PTO_BFLOAT16 = 6, PTO_INT64 = 7, PTO_UINT64 = 8, PTO_UINT16 = 9,
	PTO_UINT32 = 10, PTO_BOOL = 11, PTO_FP8E4M3FN = 12, PTO_FP8E8M0 = 13, PTO_FP4E2M1 = 14,
	PTO_DTYPE_COUNT = 15
};

/* What a struct pto_tensor stands for. */
enum pto_tensor_kind {
	PTO_KIND_TENSOR = 0,
	PTO_KIND_CLUSTER = 1,	/* result of allocate_cluster; version = number of clusters */
	/* orders the members of a cluster group; has no memory; version = its number in the run */
	PTO_KIND_PIPE = 2,
};

/*
 * Tensor descriptor, 128 bytes; kernels read it (chip-runtime §6.2).  Element
 * pointer = addr + start_offset * element bytes.  The bytes from @kind on are
 * the runtime's own.
 */
struct pto_tensor {
	uint64_t addr;		/* 0: declared by make_tensor, no buffer yet */
	uint64_t size;		/* bytes of the backing buffer */
	uint64_t owner_task_id;	/* task that created the buffer, or PTO_NO_TASK */
	uint64_t start_offset;	/* elements */
	int32_t version;
	uint32_t ndims;
	uint8_t dtype;
	bool manual_dep;
	bool is_contiguous;
	uint8_t address_space;	/* 0 host, 1 device */
	uint32_t shapes[PTO_MAX_DIMS];
	uint64_t extent_elem;	/* elements from the first to the last one touched, 0 if empty */
	uint32_t strides[PTO_MAX_DIMS];	/* elements */
	uint8_t kind;		/* enum pto_tensor_kind */
	bool read_only;		/* checked mode: its task has it as an input */
	uint16_t home_depth;	/* make_tensor: depth of the scope of the declaration */
	uint64_t home_scope;	/* make_tensor: serial number of that scope, 0 = none */
	uint64_t reserved1[3];
};
PTO_ABI_ASSERT(sizeof(struct pto_tensor) == 128, "tensor descriptor size");
PTO_ABI_ASSERT(offsetof(struct pto_tensor, shapes) == 44, "tensor descriptor layout");
PTO_ABI_ASSERT(offsetof(struct pto_tensor, extent_elem) == 64, "tensor descriptor layout");
PTO_ABI_ASSERT(offsetof(struct pto_tensor, strides) == 72, "tensor descriptor layout");
PTO_ABI_ASSERT(offsetof(struct pto_tensor, kind) == 92, "tensor descriptor layout");

/* Request for a new buffer (TensorCreateInfo), 64 bytes. */
struct pto_create_info {
	uint32_t shapes[PTO_MAX_DIMS];
	uint32_t ndims;
	uint8_t dtype;
	bool manual_dep;
	bool has_initial;	/* fill the buffer with @initial */
	uint8_t reserved0;
	uint32_t reserved1;
	uint64_t initial;	/* element bits in the low bytes */
	uint64_t reserved2[3];
};
PTO_ABI_ASSERT(sizeof(struct pto_create_info) == 64, "create info size");

/* Argument kinds of a task; the first five are TensorArgType (chip-runtime §7.6). */
enum pto_arg_tag {
	PTO_ARG_INPUT = 0,
	PTO_ARG_OUTPUT = 1,		/* refs[i].create: new buffer */
	PTO_ARG_INOUT = 2,
	PTO_ARG_OUTPUT_EXISTING = 3,
	PTO_ARG_NO_DEP = 4,
	/* older API: output whose tensor may lack a buffer; refs[i].tensor is written back */
	PTO_ARG_OUTPUT_LAZY = 5,
	PTO_ARG_CLUSTER = 6,		/* refs[i].tensor of PTO_KIND_CLUSTER */
	PTO_ARG_PIPE_IN = 7,		/* refs[i].tensor of PTO_KIND_PIPE */
	PTO_ARG_PIPE_OUT = 8,
};

enum pto_dep_flags { PTO_DEP_NONE = 0, PTO_DEP_WAIT = 1, PTO_DEP_RETAIN = 2 };

enum pto_predicate_op {
	PTO_PRED_NONE = 0, PTO_PRED_EQ = 1, PTO_PRED_NE = 2, PTO_PRED_GT = 3, PTO_PRED_LT = 4,
	PTO_PRED_GE = 5, PTO_PRED_LE = 6
};

/* CoreTaskPredicate: run the kernels only if element @indices of @tensor compares true. */
struct pto_predicate {
	const struct pto_tensor *tensor;	/* NULL or address 0: no predicate */
	uint32_t ndims;
	uint32_t indices[PTO_MAX_DIMS];
	uint32_t op;				/* enum pto_predicate_op */
	uint32_t reserved;
	int64_t target;
};

/* Bits of pto_core_args.flags. */
#define PTO_ARGS_SYNC_START	(1u << 0)	/* all blocks start together */
#define PTO_ARGS_EARLY_RESOLVE	(1u << 1)	/* consumers may be staged early */
#define PTO_ARGS_ORDERED	(1u << 2)	/* @order gives the kernel argument order (older API) */

/* Value of order[] for scalar @n; tensors are their index. */
#define PTO_ORDER_SCALAR(n)	(0x80u | (n))

union pto_arg_ref {
	struct pto_tensor *tensor;
	const struct pto_create_info *create;
};

/*
 * Arguments of one submit.  Only the counts and the fields up to @tags need
 * initial values; of the arrays only the counted entries are read.  The runtime
 * copies everything it keeps before submit returns.
 */
struct pto_core_args {
	uint16_t tensor_count;
	uint16_t scalar_count;
	uint8_t flags;			/* PTO_ARGS_* */
	int8_t timing_slot;		/* 0..15, -1 none */
	uint16_t reserved0;
	int32_t block_num;		/* 1 unless set */
	uint32_t dep_count;
	const uint64_t *deps;		/* explicit task ids */
	const uint8_t *dep_kinds;	/* enum pto_dep_flags each; NULL: WAIT | RETAIN */
	const struct pto_predicate *predicate;	/* NULL none */
	const char *error;		/* first building error, NULL none */
	uint64_t dump_mask;		/* marked by dump(): bit i tensor i, bit 32 + j scalar j */
	uint8_t tags[PTO_TASK_TENSORS];	/* enum pto_arg_tag */
	uint8_t order[PTO_TASK_TENSORS + PTO_TASK_SCALARS];
	union pto_arg_ref refs[PTO_TASK_TENSORS];
	uint64_t scalars[PTO_TASK_SCALARS];
};

struct pto_mixed_kernels {
	int32_t aic;			/* func_id or PTO_NO_KERNEL */
	int32_t aiv0;
	int32_t aiv1;
};

/*
 * What a submit returns.  Tensor i of the result is tensors[index[i]]; valid
 * until the scope of the submit ends.  An empty result has count 0 and
 * task_id PTO_NO_TASK.
 */
struct pto_task_outputs {
	uint64_t task_id;
	const struct pto_tensor *tensors;
	uint32_t count;
	uint8_t index[PTO_TASK_TENSORS];
};

enum pto_scope_mode { PTO_SCOPE_AUTO = 0, PTO_SCOPE_MANUAL = 1 };

struct PTO2Runtime;

/*
 * Function table of the orchestration (chip-runtime §7.2, same order).  After
 * a fatal code is latched every call does nothing and returns an empty result.
 * Calls are made by the orchestration's own thread only.
 */
struct PTO2RuntimeOps {
	void (*submit_task)(struct PTO2Runtime *rt, const struct pto_mixed_kernels *mk,
			    const struct pto_core_args *args, struct pto_task_outputs *out);
	void (*scope_begin)(struct PTO2Runtime *rt, int mode);
	void (*scope_end)(struct PTO2Runtime *rt);
	void (*orchestration_done)(struct PTO2Runtime *rt);
	bool (*is_fatal)(struct PTO2Runtime *rt);
	void (*report_fatal)(struct PTO2Runtime *rt, int code, const char *func,
			     const char *fmt, ...) __attribute__((format(printf, 4, 5)));
	void (*log_error)(struct PTO2Runtime *rt, const char *func, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
	void (*log_warn)(struct PTO2Runtime *rt, const char *func, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
	void (*log_timing)(struct PTO2Runtime *rt, const char *func, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
	void (*log_info)(struct PTO2Runtime *rt, const char *func, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
	void (*log_debug)(struct PTO2Runtime *rt, const char *func, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
	/* element bits in the low bytes, zero-extended */
	uint64_t (*get_tensor_data)(struct PTO2Runtime *rt, const struct pto_tensor *t,
				    uint32_t ndims, const uint32_t *indices, uint32_t elem_bytes);
	void (*set_tensor_data)(struct PTO2Runtime *rt, const struct pto_tensor *t,
				uint32_t ndims, const uint32_t *indices, uint32_t elem_bytes,
				uint64_t value);
	void (*alloc_tensors)(struct PTO2Runtime *rt, const struct pto_core_args *args,
			      struct pto_task_outputs *out);
	void (*submit_dummy_task)(struct PTO2Runtime *rt, const struct pto_core_args *args,
				  struct pto_task_outputs *out);
	int32_t (*available_cluster_count)(struct PTO2Runtime *rt);
	int32_t (*available_aiv_count)(struct PTO2Runtime *rt);
	/* host_build_graph only; NULL under tensormap_and_ringbuffer */
	void *graph_begin;
	void *graph_prepare;
	void *graph_abort;
	void *graph_end;
	void *graph_commit;
	/* where the next scope_begin stands, for scope statistics; NULL when off */
	void (*scope_set_site)(struct PTO2Runtime *rt, const char *file, int line);

	/* extensions of this implementation */

	/* Blocks until @count clusters are free; fills @cid (requirement 003 §10.3). */
	void (*allocate_cluster)(struct PTO2Runtime *rt, int32_t count, struct pto_tensor *cid);
	/* Gives a make_tensor tensor its buffer in its home scope (decisions D2). */
	void (*materialize)(struct PTO2Runtime *rt, struct pto_tensor *t);
	/* Latches INVALID_ARGS for a failed check of the headers (decisions D23). */
	void (*invalid_args)(struct PTO2Runtime *rt, const char *func, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
};

/*
 * The object an orchestration works on.  It is at the same time the entry's
 * ChipTaskArgs: the runtime calls
 *	entry(runtime, words, word_count, control_threads, orchestrator_index)
 * which suits `entry(const ChipTaskArgs &)` as well as the older
 * `entry(PTO2Runtime *, uint64_t *, int)` and its five-argument variant, so no
 * generation marker is needed.  The config function is called the same way.
 */
struct PTO2Runtime {
	const struct PTO2RuntimeOps *ops;
	int32_t pending_scope_mode;	/* enum pto_scope_mode of the next scope_begin */
	uint32_t scope_depth;		/* open scopes; the root scope counts */
	uint64_t scope_serial;		/* of the innermost open scope, from 1 */
	const struct pto_tensor *entry_tensors;
	const uint64_t *entry_scalars;
	uint32_t entry_tensor_count;
	uint32_t entry_scalar_count;
	/* private fields of the runtime follow */
};

/*
 * Result of the config function; always this size, so that it is returned
 * through a hidden pointer by every generation of sources.  Only the first
 * field is used.
 */
struct PTO2OrchestrationConfig {
	int expected_arg_count;		/* 0: unchecked */
	uint64_t task_window_size;
	uint64_t dep_list_pool_size;
	uint64_t heap_size;
};

typedef struct PTO2OrchestrationConfig (*pto_orch_config_fn)(void *rt, const uint64_t *words,
							     int word_count);
typedef void (*pto_orch_entry_fn)(void *rt, const uint64_t *words, int word_count,
				  int control_threads, int orchestrator_index);

/* Exported by every orchestration object through pto_orchestration_api.h; called before the entry. */
#define PTO_ORCH_BIND_SYMBOL "framework_bind_runtime"
typedef void (*pto_orch_bind_fn)(struct PTO2Runtime *rt);

/* ---- kernels -------------------------------------------------------------- */

/* Deferred completion (chip-runtime §9). */
struct pto_async_condition {
	uint64_t addr;
	uint64_t backend_cookie;
	uint64_t expected_value;
	uint32_t engine;		/* SDMA 0, ROCE 1, URMA 2, CCU 3 */
	int32_t type;			/* counter 0, SDMA event record 1 */
};
PTO_ABI_ASSERT(sizeof(struct pto_async_condition) == 32, "completion condition size");
#define PTO_ASYNC_CONDITIONS 64

struct pto_async_ctx {
	uint32_t *count;		/* registered so far; may exceed the capacity on misuse */
	int32_t *error;			/* first error code of the kernel, 0 none */
	struct pto_async_condition *entries;
	uint32_t capacity;
	uint32_t reserved;
	uint64_t task_token;
};

/* args[PTO_LOCAL_CONTEXT] of a kernel. */
struct pto_local_context {
	int32_t block_idx;
	int32_t block_num;
	struct pto_async_ctx async;
};

/* args[PTO_GLOBAL_CONTEXT] of a kernel. */
struct pto_global_context {
	int32_t sub_block_id;		/* AIV lane of a MIX task, else 0 */
	int32_t reserved;
	uint64_t dma_workspace[2];	/* SDMA, URMA; 0 when not provisioned */
};

/* On-chip memories of a core. */
enum pto_arena {
	PTO_ARENA_UB = 0, PTO_ARENA_L1, PTO_ARENA_L0A, PTO_ARENA_L0B, PTO_ARENA_L0C,
	PTO_ARENA_BIAS, PTO_ARENA_SCALING, PTO_ARENA_SCALE_LEFT, PTO_ARENA_SCALE_RIGHT,
	PTO_ARENA_COUNT
};

/* A logical core as kernels see it.  Kernels read it and write only @ctrl. */
struct pto_core {
	uint8_t *arena[PTO_ARENA_COUNT];	/* 512-byte aligned */
	uint32_t arena_bytes[PTO_ARENA_COUNT];
	uint32_t core_id;		/* chip-wide: AIC [0, N), AIV [N, 3N) */
	uint32_t cluster_id;
	uint8_t is_aic;
	uint8_t lane;			/* AIV: 0 or 1 within the cluster */
	uint16_t arch;			/* 2201 (a2a3) or 3510 (a5) */
	int32_t block_idx;
	int32_t block_num;
	uint32_t sub_block_id;
	uint32_t sub_block_dim;		/* AIV kernels that run together in this block: 1 or 2 */
	uint64_t task_cookie;		/* distinguishes concurrently running tasks */
	uint64_t ctrl;			/* control register of get_ctrl/set_ctrl */
};

/* Memory of an operand of a task: the elements of its view, from the first to behind the last. */
struct pto_extent {
	uint64_t begin, end;		/* addresses */
	uint32_t argument;		/* which word of the kernel's arguments describes it */
	bool read_only;			/* the task has it as an input */
};

/* Direction of a pipe operation. */
enum pto_pipe_dir { PTO_PIPE_C2V = 1, PTO_PIPE_V2C = 2 };

/*
 * One end's view of a TPUSH/TPOP pipe of the core's cluster (chip-runtime
 * §13.3, pto-isa §5).  Both ends pass equal key fields.
 */
struct pto_pipe {
	uint8_t flag_id;
	uint8_t dir_mask;		/* Direction template argument: 1, 2, 3 … */
	uint8_t slot_num;
	uint8_t local_slot_num;
	uint32_t slot_bytes;
	uint8_t *gm_slots;		/* slot memory given by the kernel, NULL: the runtime's own */
};

/*
 * Services of the core a kernel runs on.  The loader stores the table in the
 * kernel object's exported variable PTO_CORE_OPS_SYMBOL before the first call.
 * push_begin and pop_begin may suspend the block; afterwards it may run on
 * another thread, so nothing thread-local may be kept across them.
 * @lanes is the number of AIV lanes that take part in one transfer: 2 for a
 * split transfer, else 1.  A V2C slot becomes visible when @lanes pushes have
 * ended, a C2V slot is free again when @lanes frees have.
 */
struct pto_core_ops {
	uint32_t bytes;			/* sizeof the table */
	uint32_t reserved;
	struct pto_core *(*self)(void);	/* the calling block's core; never NULL inside a kernel */
	/* Waits for a free slot and returns its memory (slot_bytes, shared by both lanes). */
	uint8_t *(*push_begin)(const struct pto_pipe *p, enum pto_pipe_dir dir, uint32_t lanes);
	void (*push_end)(const struct pto_pipe *p, enum pto_pipe_dir dir, uint32_t lanes);
	/* Waits for the lane's oldest slot not yet popped and returns its memory. */
	uint8_t *(*pop_begin)(const struct pto_pipe *p, enum pto_pipe_dir dir, uint32_t lanes);
	/* Frees the lane's oldest popped slot. */
	void (*pop_free)(const struct pto_pipe *p, enum pto_pipe_dir dir, uint32_t lanes);
	/* Ends the run with @code and a message; does not return. */
	void (*fail)(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));
	/* Writes to the runtime's log; level as in LOG_* (20 INFO, 30 WARN, …). */
	void (*log)(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
	/* true when SIMPLER_CHECK=1: instructions check their operands at run time */
	bool checked;
	/*
	 * Checked mode: the operands of the calling block's task.  Fills up to PTO_TASK_TENSORS
	 * entries and returns their number; @open: the task has scalars that may be addresses of
	 * further memory.  Absent when @bytes says so.
	 */
	uint32_t (*extents)(struct pto_extent *out, bool *open);
	/*
	 * Has @fn called on the block's stack when the kernel returns; it may fail.  One function per
	 * block, the last one counts.  Absent when @bytes says so.
	 */
	void (*at_return)(void (*fn)(void));
};

/* Variable of type `const struct pto_core_ops *` exported by kernels that use instructions. */
#define PTO_CORE_OPS_SYMBOL	"pto_core_ops_bound"
/* Exported (any value) by kernels that use an instruction that may suspend. */
#define PTO_MAY_BLOCK_SYMBOL	"pto_kernel_may_block"
/* Exported (any value) by kernels compiled for one architecture; others fit every chip. */
#define PTO_ARCH_A2A3_SYMBOL	"pto_kernel_arch_a2a3"
#define PTO_ARCH_A5_SYMBOL	"pto_kernel_arch_a5"
/* The entry of every kernel. */
#define PTO_KERNEL_SYMBOL	"kernel_entry"
typedef void (*pto_kernel_fn)(int64_t *args);

#ifdef __cplusplus
}
#endif

#endif /* PTO_RUNTIME_ABI_H */
