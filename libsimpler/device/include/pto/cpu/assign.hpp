/* SPDX-License-Identifier: MIT */
/*
 * Binding tiles to memory: TASSIGN, TSUBVIEW, TRESHAPE.
 *
 * Spec: pto-isa §3.6, §4.1.
 */
#ifndef PTO_CPU_ASSIGN_HPP
#define PTO_CPU_ASSIGN_HPP

#include "pto/common/event.hpp"
#include "pto/common/pto_tile.hpp"

namespace pto {
namespace assign_ {

using checking_::arena_name;
using checking_::arena_of;

/*
 * Memory of @bytes at @addr, an offset into the arena or a host pointer inside
 * it.  Null when the end is beyond the arena.
 */
inline __attribute__((noinline)) void *resolve(int arena, uint64_t addr, size_t bytes)
{
	pto_core *c = core_::self();
	uint8_t *base = core_::arena_base(c, arena);
	const uint64_t size = c->arena_bytes[arena], at = reinterpret_cast<uintptr_t>(base);
	const uint64_t off = addr >= at && addr - at < size ? addr - at : addr;

	return off > size || bytes > size - off ? nullptr : base + off;
}

[[noreturn]] PTO_COLD void fail_assign(int arena, uint64_t addr, size_t bytes, const site &at)
{
	checking_::fail_at(at, "TASSIGN",
			   "%zu bytes at 0x%llx end beyond the %u bytes of %s; move the tile or "
			   "make it smaller",
			   bytes, static_cast<unsigned long long>(addr),
			   core_::self()->arena_bytes[arena], arena_name(arena));
}

template <typename T>
inline typename T::DType *resolve_tile(uint64_t addr, const site &at = site::here())
{
	constexpr int arena = arena_of(T::Loc);
	constexpr size_t bytes = T::Extent * sizeof(typename T::DType);
	void *p = resolve(arena, addr, bytes);

	if (__builtin_expect(!p, 0))
		fail_assign(arena, addr, bytes, at);
	return static_cast<typename T::DType *>(p);
}

/* True for a pointer that lies in no arena of its own kind, such as the slot of a popped tile. */
template <typename T>
inline bool is_foreign(const void *p)
{
	pto_core *c = core_::self();
	const uintptr_t at = reinterpret_cast<uintptr_t>(core_::arena_base(c, arena_of(T::Loc)));
	const uintptr_t v = reinterpret_cast<uintptr_t>(p);

	return v >= c->arena_bytes[arena_of(T::Loc)] &&
	       (v < at || v - at >= c->arena_bytes[arena_of(T::Loc)]);
}

} // namespace assign_

/* Binds a tile to an address of its memory, or a global tensor to a pointer. */
template <typename T, typename A>
PTO_INST RecordEvent TASSIGN(T &t, A addr, PTO_SITE)
{
	if constexpr (is_global_data_v<T>) {
		t.SetAddr(addr);
	} else {
#ifdef __PTO_AUTO__
		(void)t;
		(void)addr;
		(void)at;
#else
		using E = typename T::DType;
		if constexpr (std::is_pointer_v<A>) {
			if (assign_::is_foreign<T>(addr)) {
				t.Bind(const_cast<E *>(reinterpret_cast<const E *>(addr)));
				return {};
			}
			t.Bind(assign_::resolve_tile<T>(reinterpret_cast<uintptr_t>(addr), at));
		} else {
			t.Bind(assign_::resolve_tile<T>(static_cast<uint64_t>(addr), at));
		}
#endif
	}
	return {};
}

template <auto Addr, typename T>
PTO_INST RecordEvent TASSIGN(T &t, PTO_SITE)
{
	static_assert(uint64_t(Addr) % BLOCK_BYTE_SIZE == 0,
		      "[PTO][SA] SA-0351: the address must be a multiple of 32");
	return TASSIGN(t, uint64_t(Addr), at);
}

namespace assign_
{
/*
 * Whether elements of a @D lie as far apart as those of the window of a @S, at least up to
 * (@rows - 1, @cols - 1): a window keeps the rows, or boxes, of the tile that it is in.
 */
template <typename D, typename S> bool same_places(int row, int col, int rows, int cols)
{
	const size_t start = S::Offset(row, col);

	for (int r : { 0, rows - 1 })
		for (int c : { 0, cols - 1 })
			if (S::Offset(row + r, col + c) - start != D::Offset(r, c))
				return false;
	return true;
}
} // namespace assign_

/*
 * @dst becomes an alias of the window of @src at (row, col); no data moves.  Its size is that of
 * the valid region of @dst.
 */
template <typename D, typename S, typename... W>
PTO_INST RecordEvent TSUBVIEW(D &dst, const S &src, int64_t row, int64_t col, const W &...)
{
	static_assert(std::is_same_v<typename D::DType, typename S::DType> && D::Loc == S::Loc &&
			      D::BFractal == S::BFractal && D::SFractal == S::SFractal,
		      "[PTO][SA] TSUBVIEW needs equal types, layouts and locations");
	if (row < 0 || col < 0 || row + dst.GetValidRow() > S::Rows ||
	    col + dst.GetValidCol() > S::Cols)
		core_::fail(
			"TSUBVIEW: window %d x %d at (%lld, %lld) is not within the %d x %d tile",
			dst.GetValidRow(), dst.GetValidCol(), static_cast<long long>(row),
			static_cast<long long>(col), S::Rows, S::Cols);
	if (dst.GetValidRow() > 0 && dst.GetValidCol() > 0 &&
	    !assign_::same_places<D, S>(int(row), int(col), dst.GetValidRow(), dst.GetValidCol()))
		core_::fail(
			"TSUBVIEW: a %d x %d tile cannot be the window %d x %d at (%lld, %lld) of a %d x %d tile, "
			"whose rows or boxes lie apart differently: give it the tile's Rows and Cols and a valid region",
			D::Rows, D::Cols, dst.GetValidRow(), dst.GetValidCol(),
			static_cast<long long>(row), static_cast<long long>(col), S::Rows, S::Cols);
	dst.Bind(src.data() + S::Offset(int(row), int(col)), true);
	return {};
}

/* @dst becomes an alias of @src's memory with its own type and shape. */
template <typename D, typename S, typename... W>
PTO_INST RecordEvent TRESHAPE(D &dst, const S &src, const W &...)
{
	static_assert(D::Loc == S::Loc, "[PTO][SA] TRESHAPE needs equal locations");
	static_assert(size_t(D::Numel) * element_bits<typename D::DType> ==
			      size_t(S::Numel) * element_bits<typename S::DType>,
		      "[PTO][SA] TRESHAPE needs equal sizes in bytes");
	static_assert(D::isBoxedLayout == S::isBoxedLayout,
		      "[PTO][SA] TRESHAPE cannot change boxing");
	dst.Bind(reinterpret_cast<typename D::DType *>(src.data()), src.IsWindow());
	return {};
}

} // namespace pto

#endif
