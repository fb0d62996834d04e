/* SPDX-License-Identifier: MIT */
/*
 * Graphs: a function that submits tasks on the tensors and scalars it is
 * given, so that one piece of a model is written once and submitted often.
 * The function runs at the submit, on the caller's thread and in the caller's
 * scope; its tasks order themselves against all others like any tasks.
 *
 * Spec: chip-runtime §14.3, decisions D19.
 */
#ifndef PTO_ORCHESTRATION_GRAPH_H
#define PTO_ORCHESTRATION_GRAPH_H

#include "args.h"

#define PTO_GRAPH_TENSORS 128
#define PTO_GRAPH_SCALARS 64

namespace pto_orch __attribute__((visibility("hidden")))
{
constexpr uint64_t fnv1a(const char *text)
{
	uint64_t hash = 1469598103934665603ULL;

	while (*text) {
		hash ^= static_cast<unsigned char>(*text++);
		hash *= 1099511628211ULL;
	}
	return hash;
}
} /* namespace pto_orch */

/* Identity of a graph that does not depend on the address of its function. */
#define GRAPH_KEY(text) (::pto_orch::fnv1a(text))

/**
 * GraphTaskArgs - tensors and scalars at the boundary of a graph
 *
 * Tensors are referred to and must live until the submit returns.
 */
template <> class Arg<PTO_GRAPH_TENSORS, PTO_GRAPH_SCALARS> {
public:
	Arg() {}
	Arg(const Arg &) = delete;
	Arg &operator=(const Arg &) = delete;

	uint32_t tensor_count() const { return tensor_count_; }
	uint32_t scalar_count() const { return scalar_count_; }

	TensorArgRef<const ChipTensor> tensor(uint32_t i) const
	{
		return TensorArgRef<const ChipTensor>(
			i < tensor_count_ ? *tensors_[i] :
					    pto_orch::no_tensor("tensor", i, tensor_count_));
	}

	uint64_t scalar(uint32_t i) const
	{
		return i < scalar_count_ ? scalars_[i] : pto_orch::no_scalar(i, scalar_count_);
	}

	template <typename... Ts> void add_input(Ts &&...t) { (add_tensor<Ts>(t), ...); }
	template <typename... Ts> void add_output(Ts &&...t) { (add_tensor<Ts>(t), ...); }
	template <typename... Ts> void add_inout(Ts &&...t) { (add_tensor<Ts>(t), ...); }
	template <typename... Ts> void add_no_dep(Ts &&...t) { (add_tensor<Ts>(t), ...); }
	template <typename... Vs> void add_scalar(Vs... v) { (add_word(to_u64(v)), ...); }

	void set_error(const char *text)
	{
		if (!error_)
			error_ = text;
	}

	bool has_error() const { return error_; }
	const char *error_msg() const { return error_ ? error_ : ""; }

	void clear()
	{
		tensor_count_ = scalar_count_ = 0;
		error_ = nullptr;
	}
	void reset() { clear(); }

private:
	template <typename X> void add_tensor(const ChipTensor &t)
	{
		static_assert(pto_orch::is_named<X, ChipTensor>,
			      "the argument is a named ChipTensor");
		if (scalar_count_)
			set_error(pto_orch::text_order);
		else if (tensor_count_ >= PTO_GRAPH_TENSORS)
			set_error(pto_orch::text_too_many<PTO_GRAPH_TENSORS>.tensors);
		else
			tensors_[tensor_count_++] = &t;
	}

	void add_word(uint64_t word)
	{
		if (scalar_count_ >= PTO_GRAPH_SCALARS)
			set_error(pto_orch::text_too_many<PTO_GRAPH_SCALARS>.scalars);
		else
			scalars_[scalar_count_++] = word;
	}

	uint32_t tensor_count_ = 0;
	uint32_t scalar_count_ = 0;
	const char *error_ = nullptr;
	const ChipTensor *tensors_[PTO_GRAPH_TENSORS];
	uint64_t scalars_[PTO_GRAPH_SCALARS];
};

using GraphTaskArgs = Arg<PTO_GRAPH_TENSORS, PTO_GRAPH_SCALARS>;

/* Whether the tasks of the graph were submitted. */
struct GraphSubmitResult {
	bool submitted = false;

	explicit operator bool() const { return submitted; }
};

/**
 * rt_submit_graph() - submit the tasks of a graph
 * @f: called as f(args, config...)
 * @args: boundary; at least one tensor
 * @config: numbers that shape the graph
 *
 * Return: true unless the arguments are wrong or the run has failed.
 */
template <typename F, typename... Config,
	  typename = std::enable_if_t<!std::is_integral<std::decay_t<F>>::value>>
inline GraphSubmitResult rt_submit_graph(F &&f, const GraphTaskArgs &args, Config... config)
{
	static_assert((std::is_arithmetic<Config>::value && ...), "config values are numbers");
	if (args.has_error() || !args.tensor_count()) {
		pto_orch::invalid("rt_submit_graph", "%s",
				  args.has_error() ? args.error_msg() :
						     "a graph has at least one tensor");
		return GraphSubmitResult();
	}
	if (rt_is_fatal())
		return GraphSubmitResult();
	f(args, config...);
	return GraphSubmitResult{ !rt_is_fatal() };
}

/* The same with an identity of its own, from GRAPH_KEY(). */
template <typename F, typename... Config>
inline GraphSubmitResult rt_submit_graph(uint64_t graph_id, F &&f, const GraphTaskArgs &args,
					 Config... config)
{
	(void)graph_id; /* names what would be kept; nothing outlives the call */
	return rt_submit_graph(f, args, config...);
}

#endif /* PTO_ORCHESTRATION_GRAPH_H */
