/* SPDX-License-Identifier: MIT */
/*
 * The few runtime calls that test programs of kernels make, on host memory.
 *
 * Spec: pto-isa §3.2.
 */
#ifndef PTO_COMMON_ACL_HPP
#define PTO_COMMON_ACL_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

typedef int aclError;
typedef void *aclrtStream;
typedef void *aclrtContext;

enum aclrtMemMallocPolicy {
	ACL_MEM_MALLOC_HUGE_FIRST,
	ACL_MEM_MALLOC_HUGE_ONLY,
	ACL_MEM_MALLOC_NORMAL_ONLY
};
enum aclrtMemcpyKind {
	ACL_MEMCPY_HOST_TO_HOST,
	ACL_MEMCPY_HOST_TO_DEVICE,
	ACL_MEMCPY_DEVICE_TO_HOST,
	ACL_MEMCPY_DEVICE_TO_DEVICE
};

constexpr aclError ACL_SUCCESS = 0;
constexpr aclError ACL_ERROR_RT_PARAM_INVALID = 145000; /* also memset beyond the buffer */
constexpr aclError ACL_ERROR_RT_MEMORY_ALLOCATION = 207001;

inline aclError aclInit(const char *) { return ACL_SUCCESS; }
inline aclError aclFinalize() { return ACL_SUCCESS; }
inline aclError aclrtSetDevice(int32_t) { return ACL_SUCCESS; }
inline aclError aclrtResetDevice(int32_t) { return ACL_SUCCESS; }
inline aclError aclrtSynchronizeStream(aclrtStream) { return ACL_SUCCESS; }
inline aclError aclrtSynchronizeDevice() { return ACL_SUCCESS; }
inline aclError aclrtDestroyStream(aclrtStream) { return ACL_SUCCESS; }

inline aclError aclrtCreateStream(aclrtStream *stream)
{
	static char one;

	*stream = &one;
	return ACL_SUCCESS;
}

/* Zeroed. */
inline aclError aclrtMallocHost(void **p, size_t bytes)
{
	*p = calloc(1, bytes ? bytes : 1);
	return *p ? ACL_SUCCESS : ACL_ERROR_RT_MEMORY_ALLOCATION;
}
template <typename Policy>
inline aclError aclrtMalloc(void **p, size_t bytes, Policy)
{
	return aclrtMallocHost(p, bytes);
}
inline aclError aclrtFree(void *p)
{
	free(p);
	return ACL_SUCCESS;
}
inline aclError aclrtFreeHost(void *p) { return aclrtFree(p); }

/* As much as fits. */
template <typename Kind>
inline aclError aclrtMemcpy(void *to, size_t to_bytes, const void *from, size_t bytes, Kind)
{
	memcpy(to, from, to_bytes < bytes ? to_bytes : bytes);
	return ACL_SUCCESS;
}
inline aclError aclrtMemset(void *to, size_t to_bytes, int32_t value, size_t bytes)
{
	if (!to || bytes > to_bytes)
		return ACL_ERROR_RT_PARAM_INVALID;
	memset(to, value, bytes);
	return ACL_SUCCESS;
}

#endif
