/* SPDX-License-Identifier: MIT */
/*
 * The core a kernel runs on.  The loader stores the table of core services in
 * pto_core_ops_bound before the first call.  Without a table (a kernel called
 * as a plain function) each thread has a core of its own whose memories are
 * allocated when first used.
 *
 * Spec: pto-isa §2.2, §3.6, §3.9; pto_runtime_abi.h.
 */
#ifndef PTO_COMMON_CORE_HPP
#define PTO_COMMON_CORE_HPP

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "pto_runtime_abi.h"

extern "C" {
/* One per kernel object, however many of its sources include this header. */
__attribute__((visibility("default"), weak, used)) const struct pto_core_ops *pto_core_ops_bound =
	nullptr;
}

/*
 * What runs only on the way to an error or in checked mode.  Every kernel has it, so it is compiled
 * quickly instead of well.
 */
#ifdef __clang__
#define PTO_COLD inline __attribute__((noinline, cold))
#else
#define PTO_COLD inline __attribute__((noinline, cold, optimize("O0")))
#endif

namespace pto
{
namespace core_
{

constexpr int ERR_INVALID_ARGS = 5;
constexpr unsigned ARENA_ALIGN = 512;

/* The core of a thread that runs kernels without a runtime. */
struct private_core {
	pto_core core;

	private_core() : core()
	{
		set_arch(2201);
		core.block_num = 1;
		core.sub_block_dim = 1;
#if defined(__DAV_CUBE__) && !defined(__DAV_VEC__)
		core.is_aic = 1;
#endif
	}
	~private_core()
	{
		clear();
	}
	private_core(const private_core &) = delete;
	private_core &operator=(const private_core &) = delete;

	static uint32_t size_of(const char *env, uint32_t bytes)
	{
		const char *text = getenv(env);
		unsigned long v = text ? strtoul(text, nullptr, 0) : 0;

		return v ? uint32_t(v) : bytes;
	}
	void set_arch(int arch)
	{
		const bool a5 = arch != 2201;
		uint32_t *b = core.arena_bytes;

		clear();
		core.arch = uint16_t(arch);
		b[PTO_ARENA_UB] = size_of("PTO_CPU_SIM_UB_BYTES", 512u << 10);
		b[PTO_ARENA_L1] = size_of("PTO_CPU_SIM_L1_BYTES", 512u << 10);
		b[PTO_ARENA_L0A] = size_of("PTO_CPU_SIM_L0A_BYTES", 64u << 10);
		b[PTO_ARENA_L0B] = size_of("PTO_CPU_SIM_L0B_BYTES", 64u << 10);
		b[PTO_ARENA_L0C] = size_of("PTO_CPU_SIM_L0C_BYTES", (a5 ? 256u : 128u) << 10);
		b[PTO_ARENA_BIAS] = 4u << 10;
		b[PTO_ARENA_SCALING] = 4u << 10;
		b[PTO_ARENA_SCALE_LEFT] = 4u << 10;
		b[PTO_ARENA_SCALE_RIGHT] = 4u << 10;
	}
	void clear()
	{
		for (auto &arena : core.arena) {
			free(arena);
			arena = nullptr;
		}
	}
	void allocate(int arena)
	{
		size_t bytes =
			(core.arena_bytes[arena] + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;

		core.arena[arena] = static_cast<uint8_t *>(aligned_alloc(ARENA_ALIGN, bytes));
		if (!core.arena[arena])
			abort();
		memset(core.arena[arena], 0, bytes);
	}
};

inline __attribute__((noinline)) private_core &own_core()
{
	static thread_local private_core core;

	return core;
}

/* Looked up anew by every instruction: a block may move to another thread in a pipe operation. */
inline pto_core *self()
{
	return pto_core_ops_bound ? pto_core_ops_bound->self() : &own_core().core;
}

inline uint8_t *arena_base(pto_core *core, int arena)
{
	if (__builtin_expect(!core->arena[arena] && !pto_core_ops_bound, 0))
		own_core().allocate(arena);
	return core->arena[arena];
}

/* Ends the run with code INVALID_ARGS; the message starts with place and instruction if given. */
[[noreturn]] PTO_COLD void vfail(const char *file, int line, const char *op, const char *fmt,
				 va_list ap)
{
	char text[512];
	int n = file ? snprintf(text, sizeof(text), "%s:%d: ", file, line) : 0;

	n = n < 200 ? n : 200;
	if (op)
		n += snprintf(text + n, 100, "%s: ", op);
	vsnprintf(text + n, sizeof(text) - size_t(n), fmt, ap);
	if (pto_core_ops_bound)
		pto_core_ops_bound->fail(ERR_INVALID_ARGS, "%s", text);
	fprintf(stderr, "[PTO][CA] %s\n", text);
	abort();
}

[[noreturn]] PTO_COLD __attribute__((format(printf, 1, 2))) void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfail(nullptr, 0, nullptr, fmt, ap);
}

/* True when instructions check their operands at run time (SIMPLER_CHECK=1 or PTO_CHECKED). */
inline bool checked()
{
#ifdef PTO_CHECKED
	return true;
#else
	return pto_core_ops_bound && pto_core_ops_bound->checked;
#endif
}

} // namespace core_

enum class NPUArch { A2A3 = 2201, A5 = 3510 };

} // namespace pto

/* Memories of this thread's own core: sizes of an architecture, contents zero. */
inline void NPU_MEMORY_INIT(pto::NPUArch arch)
{
	pto::core_::own_core().set_arch(int(arch));
}

inline void NPU_MEMORY_CLEAR()
{
	pto::core_::own_core().clear();
}

#endif
