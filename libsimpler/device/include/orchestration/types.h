/* SPDX-License-Identifier: MIT */
/*
 * Small value types of the orchestration API: modes, argument kinds, task ids,
 * kernel triples, and scalars as 64-bit words.
 *
 * Spec: chip-runtime §6.3, §6.4, §7.4.
 */
#ifndef PTO_ORCHESTRATION_TYPES_H
#define PTO_ORCHESTRATION_TYPES_H

#include <stdint.h>
#include <string.h>
#include <type_traits>

#include "../pto_runtime_abi.h"

#define INVALID_KERNEL_ID PTO_NO_KERNEL

enum class PTO2ScopeMode : int32_t { AUTO = PTO_SCOPE_AUTO, MANUAL = PTO_SCOPE_MANUAL };

enum class TensorArgType : uint8_t {
	INPUT = PTO_ARG_INPUT,
	OUTPUT = PTO_ARG_OUTPUT,
	INOUT = PTO_ARG_INOUT,
	OUTPUT_EXISTING = PTO_ARG_OUTPUT_EXISTING,
	NO_DEP = PTO_ARG_NO_DEP,
};

/* What an explicit dependency does; a set of bits. */
enum class DepFlags : uint8_t {
	NONE = PTO_DEP_NONE,
	WAIT = PTO_DEP_WAIT,
	RETAIN = PTO_DEP_RETAIN,
};

constexpr DepFlags operator|(DepFlags a, DepFlags b)
{
	return static_cast<DepFlags>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}

constexpr DepFlags operator&(DepFlags a, DepFlags b)
{
	return static_cast<DepFlags>(static_cast<uint8_t>(a) & static_cast<uint8_t>(b));
}

/* Name of a submitted task: number within its ring, and the ring. */
struct PTO2TaskId {
	uint64_t raw = PTO_NO_TASK;

	static constexpr PTO2TaskId invalid() { return PTO2TaskId{ PTO_NO_TASK }; }
	constexpr bool is_valid() const { return raw != PTO_NO_TASK; }
	constexpr uint32_t ring() const { return static_cast<uint32_t>(raw >> 32); }
	constexpr uint32_t local() const { return static_cast<uint32_t>(raw); }
};
static_assert(sizeof(PTO2TaskId) == sizeof(uint64_t), "task ids are passed as words");

constexpr bool operator==(PTO2TaskId a, PTO2TaskId b)
{
	return a.raw == b.raw;
}

constexpr bool operator!=(PTO2TaskId a, PTO2TaskId b)
{
	return a.raw != b.raw;
}

/* Kernels of one block, by func_id; two or three of them run together on one cluster. */
struct MixedKernels {
	int32_t aic_kernel_id = INVALID_KERNEL_ID;
	int32_t aiv0_kernel_id = INVALID_KERNEL_ID;
	int32_t aiv1_kernel_id = INVALID_KERNEL_ID;
};

/**
 * to_u64() - value as an argument word
 * @v: number or enumerator
 *
 * Return: its bits in the low bytes, zeros above them (an int32_t -1 gives
 * 0xffffffff).
 */
template <typename T> inline uint64_t to_u64(T v)
{
	static_assert(std::is_arithmetic<T>::value || std::is_enum<T>::value,
		      "a scalar argument is a number or an enumerator");
	static_assert(sizeof(T) <= sizeof(uint64_t), "a scalar argument has at most 64 bits");
	uint64_t word = 0;

	memcpy(&word, &v, sizeof(v));
	return word;
}

/* Inverse of to_u64(). */
template <typename T> inline T from_u64(uint64_t word)
{
	static_assert(std::is_arithmetic<T>::value || std::is_enum<T>::value,
		      "a scalar argument is a number or an enumerator");
	static_assert(sizeof(T) <= sizeof(uint64_t), "a scalar argument has at most 64 bits");
	T v;

	memcpy(&v, &word, sizeof(v));
	return v;
}

/*
 * Older spelling, for 32-bit floats.  A template, because generated sources may
 * bring their own function of this name, which then wins (decisions D20).
 */
template <typename T> inline uint64_t float_to_u64(T v)
{
	static_assert(std::is_arithmetic<T>::value, "float_to_u64 takes a number");
	return to_u64(static_cast<float>(v));
}

#endif /* PTO_ORCHESTRATION_TYPES_H */
