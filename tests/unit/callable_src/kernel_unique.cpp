// SPDX-License-Identifier: MIT
// gcc gives both variables the binding STB_GNU_UNIQUE, which would merge all copies in a process.
#include <cstdint>

template <typename T>
struct counter {
	static inline T value = 100;
};

static inline int64_t &hidden_in_function()
{
	return counter<int64_t>::value;
}

inline int64_t *local_static()
{
	static int64_t value = 200;
	return &value;
}

extern "C" void kernel_entry(int64_t *args)
{
	args[0] = ++hidden_in_function();
	args[1] = ++*local_static();
	args[2] = reinterpret_cast<int64_t>(&counter<int64_t>::value);
}
