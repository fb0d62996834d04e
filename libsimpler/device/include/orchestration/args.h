/* SPDX-License-Identifier: MIT */
/*
 * Arguments of one task.  A CoreTaskArgs is the struct pto_core_args that the
 * runtime reads: adding an argument stores it in its final place, and nothing
 * is initialised beyond the first 56 bytes.  What is added is referred to, so
 * tensors and create infos must live until the submit returns.
 *
 * Spec: chip-runtime §7.4, §7.5.
 */
#ifndef PTO_ORCHESTRATION_ARGS_H
#define PTO_ORCHESTRATION_ARGS_H

#include "tensor_make.h"

/* How the blocks of a task start; member launch_spec of its arguments. */
class PTO2LaunchSpec {
public:
	PTO2LaunchSpec() = default;
	PTO2LaunchSpec(const PTO2LaunchSpec &) = default;

	/* Takes over the launch, not what else the arguments keep here. */
	PTO2LaunchSpec &operator=(const PTO2LaunchSpec &other)
	{
		block_num_ = other.block_num_;
		return set_require_sync_start(other.require_sync_start());
	}

	/**
	 * set_block_num() - run the kernels as @n logical blocks
	 * @n: at least 1; may exceed the number of cores
	 */
	PTO2LaunchSpec &set_block_num(int64_t n)
	{
		if (__builtin_expect(n < 1 || n > INT32_MAX, 0))
			pto_orch::invalid("set_block_num", "block_num is %lld, must be 1 or more",
					  static_cast<long long>(n));
		block_num_ = static_cast<int32_t>(n);
		return *this;
	}

	PTO2LaunchSpec &set_core_num(int64_t n) { return set_block_num(n); }

	/* All blocks start together or not at all. */
	PTO2LaunchSpec &set_require_sync_start(bool on)
	{
		set_flag(PTO_ARGS_SYNC_START, on);
		return *this;
	}

	int32_t block_num() const { return block_num_; }
	int32_t core_num() const { return block_num_; }
	bool require_sync_start() const { return flags_ & PTO_ARGS_SYNC_START; }

private:
	friend struct CoreArgs;

	void clear()
	{
		flags_ = 0;
		reserved_ = 0;
		timing_slot_ = -1;
		block_num_ = 1;
	}

	void set_flag(uint32_t flag, bool on)
	{
		flags_ = static_cast<uint8_t>(on ? flags_ | flag : flags_ & ~flag);
	}

	/* struct pto_core_args from flags to block_num */
	uint8_t flags_ = 0;
	int8_t timing_slot_ = -1;
	uint16_t reserved_ = 0;
	int32_t block_num_ = 1;
};

enum class PredicateOp : uint32_t {
	NONE = PTO_PRED_NONE,
	EQ = PTO_PRED_EQ,
	NE = PTO_PRED_NE,
	GT = PTO_PRED_GT,
	LT = PTO_PRED_LT,
	GE = PTO_PRED_GE,
	LE = PTO_PRED_LE,
};

/* The kernels run only if the element compares true; a null tensor is no predicate. */
struct CoreTaskPredicate {
	struct Operand {
		const ChipTensor *tensor = nullptr;
		uint32_t ndims = 0;
		uint32_t indices[PTO_MAX_DIMS] = {};
	} operand = {};
	PredicateOp op = PredicateOp::NONE;
	uint32_t reserved = 0;
	int64_t target = 0;

	CoreTaskPredicate() = default;
	CoreTaskPredicate(const Operand &where, PredicateOp how, int64_t value)
		: operand(where), op(how), target(value)
	{
	}
	CoreTaskPredicate(const ChipTensor &t, const pto_orch::dims &indices, uint32_t ndims,
			  PredicateOp how, int64_t value)
		: op(how), target(value)
	{
		operand.tensor = &t;
		if (indices.copy(ndims, operand.indices, "CoreTaskPredicate", "index"))
			operand.ndims = ndims;
	}
};
static_assert(sizeof(CoreTaskPredicate) == sizeof(struct pto_predicate) &&
		      offsetof(CoreTaskPredicate, op) == offsetof(struct pto_predicate, op) &&
		      offsetof(CoreTaskPredicate, target) ==
			      offsetof(struct pto_predicate, target),
	      "CoreTaskPredicate differs from struct pto_predicate");

/*
 * struct pto_core_args with C++ types.  Only the fields before tags_ have
 * initial values.
 */
struct CoreArgs {
	uint16_t tensor_count_ = 0;
	uint16_t scalar_count_ = 0;
	PTO2LaunchSpec launch_spec;
	uint32_t dep_count_ = 0;
	const uint64_t *deps_ = nullptr;
	const uint8_t *dep_kinds_ = nullptr;
	const struct pto_predicate *predicate_ = nullptr;
	const char *error_ = nullptr;
	uint64_t dump_mask_ = 0;
	uint8_t tags_[PTO_TASK_TENSORS];
	uint8_t order_[PTO_TASK_TENSORS + PTO_TASK_SCALARS];
	union pto_arg_ref refs_[PTO_TASK_TENSORS];
	uint64_t scalars_[PTO_TASK_SCALARS];

	CoreArgs() {}
	CoreArgs(const CoreArgs &) = delete;
	CoreArgs &operator=(const CoreArgs &) = delete;

	const struct pto_core_args *core() const
	{
		return reinterpret_cast<const struct pto_core_args *>(this);
	}

	/* First error wins; the text must outlive the submit, which ends with INVALID_ARGS. */
	void set_error(const char *text)
	{
		if (!error_)
			error_ = text;
	}

	bool has_error() const { return error_; }
	const char *error_msg() const { return error_ ? error_ : ""; }

protected:
	/* Older API: kernel arguments in the order in which they were added. */
	void set_ordered() { launch_spec.set_flag(PTO_ARGS_ORDERED, true); }
	void set_early(bool on) { launch_spec.set_flag(PTO_ARGS_EARLY_RESOLVE, on); }
	void set_slot(int8_t slot) { launch_spec.timing_slot_ = slot; }

	void clear_args()
	{
		tensor_count_ = scalar_count_ = 0;
		launch_spec.clear();
		dep_count_ = 0;
		deps_ = nullptr;
		dep_kinds_ = nullptr;
		predicate_ = nullptr;
		error_ = nullptr;
		dump_mask_ = 0;
	}

	void push_tensor(uint8_t tag, const ChipTensor &t)
	{
		tags_[tensor_count_] = tag;
		refs_[tensor_count_++].tensor = pto_orch::raw(t);
	}

	void push_create(const TensorCreateInfo &info)
	{
		tags_[tensor_count_] = PTO_ARG_OUTPUT;
		refs_[tensor_count_++].create = info.raw();
	}

	void push_scalar(uint64_t word) { scalars_[scalar_count_++] = word; }
};

#define PTO_SAME_PLACE(field, abi_field)                                                     \
	static_assert(offsetof(CoreArgs, field) == offsetof(struct pto_core_args, abi_field),  \
		      "CoreArgs differs from struct pto_core_args")
static_assert(sizeof(CoreArgs) == sizeof(struct pto_core_args), "core args size");
static_assert(sizeof(PTO2LaunchSpec) == 8, "launch spec size");
PTO_SAME_PLACE(scalar_count_, scalar_count);
PTO_SAME_PLACE(launch_spec, flags);
PTO_SAME_PLACE(dep_count_, dep_count);
PTO_SAME_PLACE(deps_, deps);
PTO_SAME_PLACE(dep_kinds_, dep_kinds);
PTO_SAME_PLACE(predicate_, predicate);
PTO_SAME_PLACE(error_, error);
PTO_SAME_PLACE(dump_mask_, dump_mask);
PTO_SAME_PLACE(tags_, tags);
PTO_SAME_PLACE(order_, order);
PTO_SAME_PLACE(refs_, refs);
PTO_SAME_PLACE(scalars_, scalars);
#undef PTO_SAME_PLACE

namespace pto_orch __attribute__((visibility("hidden")))
{
/* "<prefix><n>)", made by the compiler. */
template <unsigned n> struct too_many {
	char tensors[40] = "Too many tensor args (max ";
	char scalars[40] = "Too many scalar args (max ";
	char deps[40] = "Too many dependencies (max ";

	constexpr too_many()
	{
		finish(tensors);
		finish(scalars);
		finish(deps);
	}

	constexpr void finish(char *text)
	{
		unsigned digit = 1;

		while (*text)
			text++;
		while (digit <= n / 10)
			digit *= 10;
		for (; digit; digit /= 10)
			*text++ = static_cast<char>('0' + n / digit % 10);
		*text = ')';
	}
};
template <unsigned n>
__attribute__((visibility("hidden"))) inline constexpr too_many<n> text_too_many{};

/* An argument that is kept by reference must have a name. */
template <typename T, typename Kind>
inline constexpr bool is_named = std::is_lvalue_reference<T>::value &&
				 std::is_base_of<Kind, std::decay_t<T>>::value;

inline constexpr char text_order[] = "all tensors must be added before any scalars";
inline constexpr char text_kind[] =
	"a cluster or pipe is added with add_cluster, add_pipe_in or add_pipe_out";
} /* namespace pto_orch */

/* What tensor(i) gives. */
template <typename T> class TensorArgRef {
public:
	explicit TensorArgRef(T &t) : tensor_(&t) {}
	T &ref() const { return *tensor_; }

private:
	T *tensor_;
};

namespace pto_orch __attribute__((visibility("hidden")))
{
inline const ChipTensor &no_tensor(const char *func, uint32_t i, uint32_t count)
{
	static const ChipTensor empty{};

	invalid(func, "tensor %u of %u", i, count);
	return empty;
}

inline uint64_t no_scalar(uint32_t i, uint32_t count)
{
	invalid("scalar", "scalar %u of %u", i, count);
	return 0;
}
} /* namespace pto_orch */

/**
 * class Arg - arguments of a task with at most @T tensors and @S scalars
 *
 * All tensors come before all scalars, which is the order the kernel sees.  An
 * error in building is kept and ends the run with INVALID_ARGS at the submit.
 */
template <unsigned T, unsigned S> class Arg : public CoreArgs {
	static_assert(T <= PTO_TASK_TENSORS && S <= PTO_TASK_SCALARS, "more than a task can have");

public:
	uint32_t tensor_count() const { return tensor_count_; }
	uint32_t scalar_count() const { return scalar_count_; }
	uint8_t tag(uint32_t i) const { return tags_[i]; }

	/* Tensor @i as added; not for a new output, which has none before the submit. */
	TensorArgRef<const ChipTensor> tensor(uint32_t i) const
	{
		if (__builtin_expect(i >= tensor_count_ || tags_[i] == PTO_ARG_OUTPUT, 0))
			return TensorArgRef<const ChipTensor>(
				pto_orch::no_tensor("tensor", i, tensor_count_));
		return TensorArgRef<const ChipTensor>(
			*reinterpret_cast<const ChipTensor *>(refs_[i].tensor));
	}

	uint64_t scalar(uint32_t i) const
	{
		return i < scalar_count_ ? scalars_[i] : pto_orch::no_scalar(i, scalar_count_);
	}

	/* Named tensors that the kernel reads. */
	template <typename... Ts> void add_input(Ts &&...t)
	{
		(add_tensor<Ts>(PTO_ARG_INPUT, t), ...);
	}

	/* Named tensors that the kernel reads and writes. */
	template <typename... Ts> void add_inout(Ts &&...t)
	{
		(add_tensor<Ts>(PTO_ARG_INOUT, t), ...);
	}

	/* Named tensors without inferred dependences. */
	template <typename... Ts> void add_no_dep(Ts &&...t)
	{
		(add_tensor<Ts>(PTO_ARG_NO_DEP, t), ...);
	}

	/*
	 * Either named tensors that the kernel overwrites, or named
	 * TensorCreateInfos for which the submit makes new buffers.
	 */
	template <typename... Xs> void add_output(Xs &&...x)
	{
		static_assert((std::is_base_of<ChipTensor, std::decay_t<Xs>>::value && ...) ||
				      (std::is_base_of<TensorCreateInfo, std::decay_t<Xs>>::value &&
				       ...),
			      "outputs of one call are all tensors or all TensorCreateInfos");
		(add_one_output<Xs>(x), ...);
	}

	/* The clusters on which the task has to run; from rt_allocate_cluster(). */
	void add_cluster(const ChipTensor &cid)
	{
		add_special(PTO_ARG_CLUSTER, PTO_KIND_CLUSTER, cid,
			    "add_cluster takes a result of rt_allocate_cluster");
	}
	void add_cluster(const ChipTensor &&) = delete;

	/* The end of a pipe from which the kernel pops. */
	void add_pipe_in(const ChipTensor &pipe)
	{
		add_special(PTO_ARG_PIPE_IN, PTO_KIND_PIPE, pipe,
			    "add_pipe_in takes a result of make_pipe");
	}
	void add_pipe_in(const ChipTensor &&) = delete;

	/* The end of a pipe into which the kernel pushes. */
	void add_pipe_out(const ChipTensor &pipe)
	{
		add_special(PTO_ARG_PIPE_OUT, PTO_KIND_PIPE, pipe,
			    "add_pipe_out takes a result of make_pipe");
	}
	void add_pipe_out(const ChipTensor &&) = delete;

	/* Numbers and enumerators; the kernel gets them as to_u64() gives them. */
	template <typename... Vs> void add_scalar(Vs... v) { (add_word(to_u64(v)), ...); }

	void add_scalars(const uint64_t *values, int n)
	{
		for (int i = 0; i < n; i++)
			add_word(values[i]);
	}

	/* Each as a zero-extended pattern of 32 bits. */
	void add_scalars_i32(const int32_t *values, int n)
	{
		for (int i = 0; i < n; i++)
			add_word(to_u64(values[i]));
	}

	/* Scalars @off to @off + @n - 1 of other arguments. */
	template <unsigned T2, unsigned S2>
	void copy_scalars_from(const Arg<T2, S2> &src, int off, int n)
	{
		if (off < 0 || n < 0 ||
		    static_cast<uint64_t>(off) + static_cast<uint64_t>(n) > src.scalar_count()) {
			set_error("copy_scalars_from: range outside the source's scalars");
			return;
		}
		for (int i = 0; i < n; i++)
			add_word(src.scalar(static_cast<uint32_t>(off + i)));
	}

	/**
	 * set_dependencies() - tasks to wait for besides the inferred ones
	 * @ids: kept as a pointer; must live until the submit returns
	 * @n: 0 clears
	 *
	 * Each is waited for and its buffers are kept until this task has
	 * completed.
	 */
	void set_dependencies(const PTO2TaskId *ids, int n)
	{
		set_dependencies_with_kinds(ids, nullptr, n);
	}

	/* The same with one set of DepFlags per id. */
	void set_dependencies_with_kinds(const PTO2TaskId *ids, const DepFlags *kinds, int n)
	{
		if (n < 0 || (n > 0 && !ids)) {
			set_error("set_dependencies: n is negative, or ids is null and n is not 0");
			return;
		}
		if (n > 0 && dep_count_) {
			set_error("set_dependencies: dependencies are already set");
			return;
		}
		dep_count_ = static_cast<uint32_t>(n);
		deps_ = n ? reinterpret_cast<const uint64_t *>(ids) : nullptr;
		dep_kinds_ = n ? reinterpret_cast<const uint8_t *>(kinds) : nullptr;
	}

	/* Lets consumers of this task be placed on cores before it has finished. */
	void set_allow_early_resolve(bool on) { set_early(on); }

	/* Run the kernels only if @pred holds when the task is ready; copied. */
	void set_predicate(const CoreTaskPredicate &pred)
	{
		memcpy(&pred_, &pred, sizeof(pred_));
		predicate_ = &pred_;
	}

	/* Let the task count in span task_slot_<slot> of the timing report. */
	void set_task_timing_slot(int slot)
	{
		if (slot < 0 || slot > 15)
			set_error("task_timing_slot out of range (valid: 0..15)");
		else
			set_slot(static_cast<int8_t>(slot));
	}

	/**
	 * dump() - mark arguments for the partial dump
	 * @x: tensors and create infos that were added, or argument numbers
	 *	(tensors 0..31, scalar j is 32 + j); none: all arguments
	 */
	template <typename... Xs> void dump(const Xs &...x)
	{
		if (sizeof...(x) == 0)
			dump_mask_ = UINT64_MAX;
		(mark(x), ...);
	}

	/* Back to no arguments. */
	void clear() { clear_args(); }
	void reset() { clear_args(); }

private:
	bool room_for_tensor(const ChipTensor *t, uint8_t kind, const char *kind_text)
	{
		if (__builtin_expect(tensor_count_ < T && !scalar_count_ && (!t || t->kind == kind),
				     1))
			return true;
		if (scalar_count_)
			set_error(pto_orch::text_order);
		else if (tensor_count_ >= T)
			set_error(pto_orch::text_too_many<T>.tensors);
		else
			set_error(kind_text);
		return false;
	}

	template <typename X> void add_tensor(uint8_t tag, const ChipTensor &t)
	{
		static_assert(pto_orch::is_named<X, ChipTensor>,
			      "the argument is a named ChipTensor");
		if (room_for_tensor(&t, PTO_KIND_TENSOR, pto_orch::text_kind))
			push_tensor(tag, t);
	}

	/* A tensor that was only declared gets its buffer from this task. */
	template <typename X> void add_one_output(const ChipTensor &t)
	{
		add_tensor<X>(t.buffer.addr || !t.home_scope ? PTO_ARG_OUTPUT_EXISTING :
							       PTO_ARG_OUTPUT_LAZY,
			      t);
	}

	template <typename X> void add_one_output(const TensorCreateInfo &info)
	{
		static_assert(pto_orch::is_named<X, TensorCreateInfo>,
			      "the argument is a named TensorCreateInfo");
		if (room_for_tensor(nullptr, 0, nullptr))
			push_create(info);
	}

	void add_special(uint8_t tag, uint8_t kind, const ChipTensor &t, const char *text)
	{
		if (room_for_tensor(&t, kind, text))
			push_tensor(tag, t);
	}

	void add_word(uint64_t word)
	{
		if (__builtin_expect(scalar_count_ < S, 1))
			push_scalar(word);
		else
			set_error(pto_orch::text_too_many<S>.scalars);
	}

	void mark_ref(const void *ref)
	{
		for (uint32_t i = 0; i < tensor_count_; i++)
			if (refs_[i].tensor == ref) {
				dump_mask_ |= 1ULL << i;
				return;
			}
		set_error("dump: the tensor is not an argument");
	}

	void mark(const ChipTensor &t) { mark_ref(&t); }
	void mark(const TensorCreateInfo &info) { mark_ref(info.raw()); }
	template <typename I> std::enable_if_t<std::is_integral<I>::value> mark(const I &i)
	{
		if (static_cast<uint64_t>(i) < PTO_TASK_TENSORS + PTO_TASK_SCALARS)
			dump_mask_ |= 1ULL << i;
		else
			set_error("dump: no such argument");
	}

	struct pto_predicate pred_;
};

using CoreTaskArgs = Arg<PTO_TASK_TENSORS, PTO_TASK_SCALARS>;
using L0TaskArgs = CoreTaskArgs;
static_assert(std::is_trivially_destructible<CoreTaskArgs>::value, "costs nothing to end");

/* Arguments that collect up to @N explicit dependencies. */
template <unsigned N = 16> class CoreTaskArgsWithDeps : public CoreTaskArgs {
public:
	/* Wait for these tasks and keep their buffers. */
	template <typename... Ids> void add_dep(Ids... ids)
	{
		(add_one(ids, PTO_DEP_WAIT | PTO_DEP_RETAIN), ...);
	}

	/* Only wait for these tasks. */
	template <typename... Ids> void add_dep_wait(Ids... ids)
	{
		(add_one(ids, PTO_DEP_WAIT), ...);
	}

private:
	void add_one(PTO2TaskId id, uint8_t kind)
	{
		if (dep_count_ && deps_ != ids_) {
			set_error("add_dep: set_dependencies was used before");
			return;
		}
		if (dep_count_ >= N) {
			set_error(pto_orch::text_too_many<N>.deps);
			return;
		}
		deps_ = ids_;
		dep_kinds_ = kinds_;
		ids_[dep_count_] = id.raw;
		kinds_[dep_count_++] = kind;
	}

	uint64_t ids_[N];
	uint8_t kinds_[N];
};

/**
 * ChipTaskArgs - arguments of the entry
 *
 * The runtime passes itself; valid for the whole run.  Tensors and scalars are
 * numbered separately.
 */
template <> class Arg<PTO_ENTRY_TENSORS, PTO_ENTRY_SCALARS> : private PTO2Runtime {
public:
	Arg() = delete;
	Arg(const Arg &) = delete;
	Arg &operator=(const Arg &) = delete;

	uint32_t tensor_count() const { return entry_tensor_count; }
	uint32_t scalar_count() const { return entry_scalar_count; }

	TensorArgRef<const ChipTensor> tensor(uint32_t i) const
	{
		if (__builtin_expect(i >= entry_tensor_count, 0))
			return TensorArgRef<const ChipTensor>(
				pto_orch::no_tensor("tensor", i, entry_tensor_count));
		return TensorArgRef<const ChipTensor>(
			reinterpret_cast<const ChipTensor *>(entry_tensors)[i]);
	}

	uint64_t scalar(uint32_t i) const
	{
		return i < entry_scalar_count ? entry_scalars[i] :
						pto_orch::no_scalar(i, entry_scalar_count);
	}
};

using ChipTaskArgs = Arg<PTO_ENTRY_TENSORS, PTO_ENTRY_SCALARS>;
using ChipStorageTaskArgs = ChipTaskArgs;

#endif /* PTO_ORCHESTRATION_ARGS_H */
