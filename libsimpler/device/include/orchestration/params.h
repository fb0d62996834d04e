/* SPDX-License-Identifier: MIT */
/*
 * Task parameters of the older APIs: the array of PTOParam that generated
 * sources fill with make_*_param(), and the PTOParam of the generation after
 * it, an object that collects the arguments with add_input() and its like.
 * Kernel arguments have the order of the parameters.
 *
 * Spec: chip-runtime §8.2 to §8.4, pypto §9.3, §15.6.
 */
#ifndef PTO_ORCHESTRATION_PARAMS_H
#define PTO_ORCHESTRATION_PARAMS_H

#include <new>

#include "args.h"

enum class PTOParamType : int32_t {
	INPUT = 0,
	OUTPUT = 1,
	INOUT = 2,
	SCALAR = 3,
	CLUSTER = 4,
	PIPE_IN = 5,
	PIPE_OUT = 6,
};

namespace pto_orch __attribute__((visibility("hidden")))
{
/* What the tensor argument of a parameter type has to be, and its tag. */
inline uint8_t tag_of(PTOParamType type, const ChipTensor &t)
{
	switch (type) {
	case PTOParamType::INPUT:
		return PTO_ARG_INPUT;
	case PTOParamType::OUTPUT:
		return t.buffer.addr ? PTO_ARG_OUTPUT_EXISTING : PTO_ARG_OUTPUT_LAZY;
	case PTOParamType::INOUT:
		return PTO_ARG_INOUT;
	case PTOParamType::CLUSTER:
		return PTO_ARG_CLUSTER;
	case PTOParamType::PIPE_IN:
		return PTO_ARG_PIPE_IN;
	default:
		return PTO_ARG_PIPE_OUT;
	}
}

inline uint8_t kind_of(PTOParamType type)
{
	if (type == PTOParamType::CLUSTER)
		return PTO_KIND_CLUSTER;
	return type == PTOParamType::PIPE_IN || type == PTOParamType::PIPE_OUT ? PTO_KIND_PIPE :
										 PTO_KIND_TENSOR;
}

} /* namespace pto_orch */

namespace pto_orch /* not hidden: members of what users have in their own types */
{
/* Arguments whose order is that of the calls. */
struct OrderedArgs : CoreArgs {
	OrderedArgs() { set_ordered(); }

	void clear() { clear_args(), set_ordered(); }

	void add(PTOParamType type, const ChipTensor *t)
	{
		if (__builtin_expect(!t || t->kind != kind_of(type), 0))
			return set_error("a parameter has no tensor, or a pipe or cluster where "
					 "none belongs");
		if (__builtin_expect(tensor_count_ >= PTO_TASK_TENSORS, 0))
			return set_error(text_too_many<PTO_TASK_TENSORS>.tensors);
		order_[tensor_count_ + scalar_count_] = static_cast<uint8_t>(tensor_count_);
		push_tensor(tag_of(type, *t), *t);
	}

	void add(uint64_t word)
	{
		if (__builtin_expect(scalar_count_ >= PTO_TASK_SCALARS, 0))
			return set_error(text_too_many<PTO_TASK_SCALARS>.scalars);
		order_[tensor_count_ + scalar_count_] =
			static_cast<uint8_t>(PTO_ORDER_SCALAR(scalar_count_));
		push_scalar(word);
	}
};

/*
 * Storage of the collecting PTOParam.  Allocated when first used, so that an
 * array of parameters stays small; copies are deep.
 */
class ParamStore {
public:
	ParamStore() = default;
	ParamStore(ParamStore &&other) noexcept : args_(other.args_) { other.args_ = nullptr; }
	ParamStore(const ParamStore &other) { copy(other); }
	~ParamStore()
	{
		if (__builtin_expect(args_ != nullptr, 0))
			delete args_;
	}

	ParamStore &operator=(const ParamStore &other)
	{
		if (this != &other) {
			delete args_;
			args_ = nullptr;
			copy(other);
		}
		return *this;
	}

	ParamStore &operator=(ParamStore &&other) noexcept
	{
		std::swap(args_, other.args_);
		return *this;
	}

	OrderedArgs *get() const { return args_; }

	/* Null after the run has failed for want of memory. */
	OrderedArgs *need()
	{
		if (!args_)
			args_ = new (std::nothrow) OrderedArgs;
		if (!args_)
			invalid("PTOParam", "no memory for %zu bytes", sizeof(OrderedArgs));
		return args_;
	}

private:
	void copy(const ParamStore &other)
	{
		if (other.args_ && need())
			memcpy(static_cast<void *>(args_), other.args_, sizeof(OrderedArgs));
	}

	OrderedArgs *args_ = nullptr;
};
} /* namespace pto_orch */


/*
 * One parameter as {type, tensor, scalar_value}, or a collector of all of them.
 * An aggregate, so that both generations of sources compile.
 */
struct PTOParam {
	PTOParamType type = PTOParamType::SCALAR;
	Tensor *tensor = nullptr;
	uint64_t scalar_value = 0;
	pto_orch::ParamStore store = {};

	/* Named tensors that the kernel reads. */
	template <typename... Ts> void add_input(Ts &&...t)
	{
		(add<Ts>(PTOParamType::INPUT, t), ...);
	}

	/* Named tensors that the kernel overwrites; without memory they get it at the submit. */
	template <typename... Ts> void add_output(Ts &&...t)
	{
		(add<Ts>(PTOParamType::OUTPUT, t), ...);
	}

	/* Named tensors that the kernel reads and writes. */
	template <typename... Ts> void add_inout(Ts &&...t)
	{
		(add<Ts>(PTOParamType::INOUT, t), ...);
	}

	template <typename... Vs> void add_scalar(Vs... v)
	{
		if (pto_orch::OrderedArgs *args = store.need())
			(args->add(to_u64(v)), ...);
	}

	template <typename T> void add_cluster(T &&cid) { add<T>(PTOParamType::CLUSTER, cid); }
	template <typename T> void add_pipe_in(T &&p) { add<T>(PTOParamType::PIPE_IN, p); }
	template <typename T> void add_pipe_out(T &&p) { add<T>(PTOParamType::PIPE_OUT, p); }

	/* Back to no arguments. */
	void clear()
	{
		if (store.get())
			store.get()->clear();
	}
	void reset() { clear(); }

private:
	template <typename X> void add(PTOParamType what, const ChipTensor &t)
	{
		static_assert(pto_orch::is_named<X, ChipTensor>, "the argument is a named Tensor");
		if (pto_orch::OrderedArgs *args = store.need())
			args->add(what, &t);
	}
};

namespace pto_orch __attribute__((visibility("hidden")))
{
inline PTOParam make_param(PTOParamType type, const Tensor &t)
{
	return PTOParam{ type, const_cast<Tensor *>(&t), 0 };
}

/* Only an output may lack memory. */
inline PTOParam make_filled_param(PTOParamType type, const Tensor &t, const char *func)
{
	if (__builtin_expect(!t.buffer.addr, 0))
		invalid(func, t.kind == PTO_KIND_TENSOR ?
				      "the tensor has no memory yet: no task has written it" :
				      "a pipe or cluster has a parameter function of its own");
	return make_param(type, t);
}

inline PTOParam make_special_param(PTOParamType type, const Tensor &t, const char *func,
				   const char *source)
{
	if (__builtin_expect(t.kind != kind_of(type), 0))
		invalid(func, "the argument is not a result of %s", source);
	return make_param(type, t);
}
} /* namespace pto_orch */

/**
 * make_input_param() - tensor that the kernel reads
 * @t: must have memory, and must live until the submit returns
 */
inline PTOParam make_input_param(const Tensor &t)
{
	return pto_orch::make_filled_param(PTOParamType::INPUT, t, "make_input_param");
}

/* Tensor that the kernel reads and writes. */
inline PTOParam make_inout_param(const Tensor &t)
{
	return pto_orch::make_filled_param(PTOParamType::INOUT, t, "make_inout_param");
}

/* Tensor that the kernel overwrites; without memory it gets it at the submit. */
inline PTOParam make_output_param(const Tensor &t)
{
	return pto_orch::make_param(PTOParamType::OUTPUT, t);
}

/* Word that the kernel gets as it is. */
inline PTOParam make_scalar_param(uint64_t word)
{
	return PTOParam{ PTOParamType::SCALAR, nullptr, word };
}

/* The clusters on which the task has to run. */
inline PTOParam make_cluster_param(const Tensor &cid)
{
	return pto_orch::make_special_param(PTOParamType::CLUSTER, cid, "make_cluster_param",
					    "pto2_rt_allocate_cluster");
}

/* The end of a pipe from which the kernel pops, and the one into which it pushes. */
inline PTOParam make_pipe_in_param(const Tensor &pipe)
{
	return pto_orch::make_special_param(PTOParamType::PIPE_IN, pipe, "make_pipe_in_param",
					    "make_pipe");
}

inline PTOParam make_pipe_out_param(const Tensor &pipe)
{
	return pto_orch::make_special_param(PTOParamType::PIPE_OUT, pipe, "make_pipe_out_param",
					    "make_pipe");
}

/* A parameter refers to its tensor, which therefore has to have a name. */
PTOParam make_input_param(const Tensor &&t) = delete;
PTOParam make_inout_param(const Tensor &&t) = delete;
PTOParam make_output_param(const Tensor &&t) = delete;
PTOParam make_cluster_param(const Tensor &&cid) = delete;
PTOParam make_pipe_in_param(const Tensor &&pipe) = delete;
PTOParam make_pipe_out_param(const Tensor &&pipe) = delete;

#endif /* PTO_ORCHESTRATION_PARAMS_H */
