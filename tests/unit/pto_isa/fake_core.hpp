/* SPDX-License-Identifier: MIT */
/* A core of the test's own behind pto_core_ops_bound, whose fail() comes back to the test. */
#ifndef PTO_ISA_FAKE_CORE_HPP
#define PTO_ISA_FAKE_CORE_HPP

#include <csetjmp>
#include <cstdlib>

#include "check.hpp"

namespace check {

struct fake_core {
	static constexpr uint32_t BYTES = 64u << 10;

	pto_core core = {};
	pto_core_ops ops = {};
	int code = 0;
	char text[512] = "";
	jmp_buf back;

	static fake_core *&current()
	{
		static fake_core *c;

		return c;
	}
	fake_core()
	{
		for (int i = 0; i < PTO_ARENA_COUNT; i++) {
			core.arena[i] = static_cast<uint8_t *>(aligned_alloc(512, BYTES));
			memset(core.arena[i], 0, BYTES);
			core.arena_bytes[i] = BYTES;
		}
		static uint64_t tasks;

		core.task_cookie = ++tasks;
		core.block_num = 1;
		core.sub_block_dim = 1;
		ops.bytes = sizeof(ops);
		ops.self = [] { return &current()->core; };
		ops.fail = on_fail;
		current() = this;
		pto_core_ops_bound = &ops;
	}
	~fake_core()
	{
		pto_core_ops_bound = nullptr;
		for (uint8_t *arena : core.arena)
			free(arena);
	}
	fake_core(const fake_core &) = delete;
	fake_core &operator=(const fake_core &) = delete;

	__attribute__((noreturn)) static void on_fail(int code, const char *fmt, ...)
	{
		fake_core *c = current();
		va_list ap;

		c->code = code;
		va_start(ap, fmt);
		vsnprintf(c->text, sizeof(c->text), fmt, ap);
		va_end(ap);
		longjmp(c->back, 1);
	}

	/* True when @f ends the run; the message is in @text. */
	template <typename F>
	__attribute__((noinline)) bool fails(const F &f)
	{
		text[0] = 0;
		if (setjmp(back))
			return true;
		f();
		return false;
	}
};

} // namespace check

#endif
