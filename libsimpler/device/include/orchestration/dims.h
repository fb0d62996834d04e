/* SPDX-License-Identifier: MIT */
/*
 * A list of extents, offsets or indices as users write it: braces, array,
 * pointer, std::array or std::vector, of any integer type.
 */
#ifndef PTO_ORCHESTRATION_DIMS_H
#define PTO_ORCHESTRATION_DIMS_H

#include <initializer_list>
#include <limits>
#include <stdint.h>
#include <string.h>
#include <type_traits>
#include <utility>

#include "runtime.h"

namespace pto_orch __attribute__((visibility("hidden")))
{
/* An integer of any type; lets braces mix them, as in {i * 16, 0}. */
struct dim_value {
	int64_t v;

	template <typename I, typename = std::enable_if_t<std::is_integral<I>::value>>
	constexpr dim_value(I i)
		: v(sizeof(I) == 8 && std::is_unsigned<I>::value &&
				    static_cast<uint64_t>(i) > INT64_MAX ?
			    INT64_MAX :
			    static_cast<int64_t>(i))
	{
	}
};

/* Refers to the values, so it may only be a parameter. */
class dims {
public:
	dims(std::initializer_list<dim_value> values)
		: dims(values.begin(), sizeof(dim_value), true, values.size())
	{
	}

	template <typename I, size_t N, typename = std::enable_if_t<std::is_integral<I>::value>>
	dims(const I (&values)[N]) : dims(values, sizeof(I), std::is_signed<I>::value, N)
	{
	}

	template <typename P, typename I = std::remove_pointer_t<P>,
		  typename = std::enable_if_t<std::is_pointer<P>::value &&
					      std::is_integral<I>::value>>
	dims(const P &values) : dims(values, sizeof(I), std::is_signed<I>::value, unknown)
	{
	}

	template <typename C, typename I = std::remove_pointer_t<
				      decltype(std::declval<const C &>().data())>,
		  typename = std::enable_if_t<std::is_integral<I>::value>, typename = void>
	dims(const C &values)
		: dims(values.data(), sizeof(I), std::is_signed<I>::value, values.size())
	{
	}

	/**
	 * copy() - take the first @n values
	 * @n: how many the caller needs
	 * @out: place for PTO_MAX_DIMS of them; the rest is left alone
	 * @func: caller's name for the message
	 * @what: "shape", "offset", …
	 *
	 * Return: true; false after INVALID_ARGS if there are too few or too
	 * many, or if one is negative or has more than 32 bits.
	 */
	bool copy(uint32_t n, uint32_t *out, const char *func, const char *what) const
	{
		/* values in braces, none wrong: the usual case of a view, which is made for every task */
		if (__builtin_expect(width_ == sizeof(dim_value) && signed_ && values_ &&
				     n <= PTO_MAX_DIMS && n <= count_, 1)) {
			uint64_t all = 0;

			for (uint32_t d = 0; d < n; d++) {
				int64_t v = load<int64_t>(d);

				all |= static_cast<uint64_t>(v);
				out[d] = static_cast<uint32_t>(v);
			}
			if (__builtin_expect(all <= UINT32_MAX, 1))
				return true;
		}
		return copy_checked(n, out, func, what);
	}

private:
	static constexpr uint64_t unknown = UINT64_MAX;

	__attribute__((noinline)) bool copy_checked(uint32_t n, uint32_t *out, const char *func,
						    const char *what) const
	{
		if (__builtin_expect(n > PTO_MAX_DIMS, 0)) {
			invalid(func, "%u dimensions, at most %d are possible", n, PTO_MAX_DIMS);
			return false;
		}
		if (__builtin_expect(n > count_ || (n && !values_), 0)) {
			invalid(func, "%s list has %llu values, %u are needed", what,
				values_ ? static_cast<unsigned long long>(count_) : 0ULL, n);
			return false;
		}
		for (uint32_t d = 0; d < n; d++) {
			int64_t v = at(d);

			if (__builtin_expect(v < 0 || v > UINT32_MAX, 0)) {
				invalid(func, "%s[%u] is %lld, not in 0..4294967295", what, d,
					static_cast<long long>(v));
				return false;
			}
			out[d] = static_cast<uint32_t>(v);
		}
		return true;
	}

	dims(const void *values, uint32_t width, bool is_signed, uint64_t count)
		: values_(values), count_(count), width_(width), signed_(is_signed)
	{
	}

	template <typename I> int64_t load(uint32_t d) const
	{
		I i;

		memcpy(&i, static_cast<const char *>(values_) + d * sizeof(I), sizeof(I));
		return dim_value(i).v;
	}

	int64_t at(uint32_t d) const
	{
		switch (width_) {
		case 1:
			return signed_ ? load<int8_t>(d) : load<uint8_t>(d);
		case 2:
			return signed_ ? load<int16_t>(d) : load<uint16_t>(d);
		case 4:
			return signed_ ? load<int32_t>(d) : load<uint32_t>(d);
		default:
			return signed_ ? load<int64_t>(d) : load<uint64_t>(d);
		}
	}

	const void *values_;
	uint64_t count_;
	uint32_t width_;
	bool signed_;
};
} /* namespace pto_orch */

#endif /* PTO_ORCHESTRATION_DIMS_H */
