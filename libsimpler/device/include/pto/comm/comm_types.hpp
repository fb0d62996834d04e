/* SPDX-License-Identifier: MIT */
/*
 * Types of the communication instructions.
 *
 * Spec: pto-isa §6.
 */
#ifndef PTO_COMM_TYPES_HPP
#define PTO_COMM_TYPES_HPP

#include "pto/common/global_tensor.hpp"

namespace pto {
namespace comm {

enum class NotifyOp { AtomicAdd = 0, Set = 1 };
enum class WaitCmp { EQ = 0, NE = 1, GT = 2, GE = 3, LT = 4, LE = 5 };
enum class ReduceOp { Sum = 0, Max = 1, Min = 2 };
enum class DmaEngine { SDMA = 0, URMA = 1, RDMA = 2 };

/* 32-bit words that blocks, chips and processes notify each other with. */
template <int Rows, int Cols>
using Signal2D = GlobalTensor<
	int32_t, Shape<1, 1, 1, Rows, Cols>,
	Stride<int64_t(Rows) * Cols, int64_t(Rows) * Cols, int64_t(Rows) * Cols, Cols, 1>>;
using Signal = Signal2D<1, 1>;

/* The tensors of all ranks; @root is where gathers end and scatters start. */
template <typename GT>
struct ParallelGroup {
	using Tensor = GT;
	GT *tensors;
	int size;
	int root;

	static ParallelGroup Create(GT *tensors, int size, int root)
	{
		return {tensors, size, root};
	}
	int GetSize() const { return size; }
	int GetRootIdx() const { return root; }
	GT &operator[](int rank) const { return tensors[rank]; }
};

/* What an asynchronous transfer needs besides its tensors; nothing on the host. */
struct AsyncSession {
	AsyncSession() = default;
	template <typename... Any>
	explicit AsyncSession(const Any &...)
	{}
};

/* The end of an asynchronous transfer; the host has finished when it returns one. */
struct AsyncEvent {
	bool done = true;

	template <typename Session>
	bool Wait(const Session &) const
	{
		return done;
	}
	template <typename Session>
	bool Test(const Session &) const
	{
		return done;
	}
};

} // namespace comm
} // namespace pto

#endif
