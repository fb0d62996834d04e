/* SPDX-License-Identifier: MIT */
/*
 * Qualifiers and builtins of the device compiler as the host sees them.
 * Synchronisation between pipes orders nothing here, since instructions run in
 * program order on the calling thread; checked mode follows it.
 *
 * Spec: pto-isa §3.1, §3.2.
 */
#ifndef PTO_COMMON_QUALIFIERS_HPP
#define PTO_COMMON_QUALIFIERS_HPP

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "pto/check/checker.hpp"
#include "pto/common/core.hpp"
#include "pto/common/hooks.hpp"
#include "pto_qualifiers.h"

#if !defined(__DAV_CUBE__) && !defined(__DAV_VEC__)
#define __DAV_CUBE__
#define __DAV_VEC__
#endif

#ifndef __ubuf__
#define __ubuf__
#endif
#ifndef __cbuf__
#define __cbuf__
#endif
#ifndef __ca__
#define __ca__
#endif
#ifndef __cb__
#define __cb__
#endif
#ifndef __cc__
#define __cc__
#endif
#ifndef __fbuf__
#define __fbuf__
#endif
#ifndef __biasbuf__
#define __biasbuf__
#endif
#ifndef __in__
#define __in__
#endif
#ifndef __out__
#define __out__
#endif
#ifndef __tf__
#define __tf__
#endif
#define PTO_INST inline __attribute__((always_inline))
#define PTO_INTERNAL inline __attribute__((always_inline))
#define PTO_INLINE inline __attribute__((always_inline))
#define __cce_get_tile_ptr(x) (x)
#define FFTS_MODE_VAL 2

typedef int event_t;
typedef int pipe_t;
typedef int mem_dsb_t;

enum { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };
enum { PIPE_S, PIPE_V, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_M, PIPE_ALL, PIPE_FIX };
enum { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum { DSB_ALL, DSB_DDR, DSB_UB, DSB_SEQ };

inline void set_flag(pipe_t src, pipe_t dst, event_t id, const pto::site &at = pto::site::here())
{
	if (__builtin_expect(pto::core_::checked(), 0))
		pto::checking_::set(src, dst, id, at);
}
inline void wait_flag(pipe_t src, pipe_t dst, event_t id, const pto::site &at = pto::site::here())
{
	if (__builtin_expect(pto::core_::checked(), 0))
		pto::checking_::wait(src, dst, id, at);
}
inline void pipe_barrier(pipe_t pipe)
{
	if (__builtin_expect(pto::core_::checked(), 0))
		pto::checking_::barrier(pipe);
}
template <typename P, typename... Rest>
inline void dcci(P *, Rest...)
{}
template <typename Kind>
inline void dsb(Kind)
{}
inline void set_mask_norm() {}
inline void set_mask_count() {}
template <typename Hi, typename Lo>
inline void set_vector_mask(Hi, Lo)
{}
inline void set_ffts_base_addr(uint64_t) {}
inline uint64_t getFFTSMsg(uint64_t mode, uint64_t event) { return 1 | mode << 4 | event << 8; }
inline void ffts_cross_core_sync(pipe_t, uint64_t) {}
inline void wait_flag_dev(int) {}
inline void set_intra_block(pipe_t, int) {}
inline void wait_intra_block(pipe_t, int) {}
inline void get_buf(pipe_t pipe, int id, int)
{
	if (__builtin_expect(pto::core_::checked(), 0))
		pto::checking_::get_buffer(pipe, id);
}
inline void rls_buf(pipe_t pipe, int id, int)
{
	if (__builtin_expect(pto::core_::checked(), 0))
		pto::checking_::release_buffer(pipe, id);
}

inline uint64_t get_ctrl() { return pto::core_::self()->ctrl; }
inline void set_ctrl(uint64_t v) { pto::core_::self()->ctrl = v; }
inline uint64_t sbitset0(uint64_t v, int bit) { return v & ~(uint64_t(1) << bit); }
inline uint64_t sbitset1(uint64_t v, int bit) { return v | uint64_t(1) << bit; }

inline int64_t get_block_idx() { return pto::cpu_sim::place()->block_idx; }
inline int64_t get_block_num() { return pto::core_::self()->block_num; }
inline int64_t get_subblockid() { return pto::cpu_sim::place()->sub_block_id; }
inline int64_t get_subblockdim() { return pto::cpu_sim::place()->sub_block_dim; }
inline int64_t get_coreid() { return pto::core_::self()->core_id; }
inline uint64_t get_task_cookie() { return pto::cpu_sim::place()->task_cookie; }

[[noreturn]] inline void trap() { pto::core_::fail("trap: the kernel executed trap()"); }

namespace cce {
inline __attribute__((format(printf, 1, 2))) int printf(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vprintf(fmt, ap);
	va_end(ap);
	return n;
}
} // namespace cce

#endif
