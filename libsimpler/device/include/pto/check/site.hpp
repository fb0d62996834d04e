/* SPDX-License-Identifier: MIT */
/*
 * Where an instruction stands in the kernel's source, and the operands that
 * every instruction may have after its own: scratch tiles and events.
 *
 * An instruction lists PTO_EXTRA_T last among its template parameters and
 * PTO_EXTRA last among its parameters; the place of the call is the default
 * value of the very last one.
 */
#ifndef PTO_CHECK_SITE_HPP
#define PTO_CHECK_SITE_HPP

namespace pto {

struct site {
	const char *file;
	int line;

	static constexpr site here(const char *file = __builtin_FILE(), int line = __builtin_LINE())
	{
		return {file, line};
	}
};

/* An operand that was not given. */
struct no_operand {};

} // namespace pto

#define PTO_EXTRA_T                                                       \
	typename W1 = ::pto::no_operand, typename W2 = ::pto::no_operand, \
		 typename W3 = ::pto::no_operand, typename W4 = ::pto::no_operand
#define PTO_EXTRA                                                                   \
	const W1 &w1 = {}, const W2 &w2 = {}, const W3 &w3 = {}, const W4 &w4 = {}, \
		 const ::pto::site &at = ::pto::site::here()
/* For instructions that take neither. */
#define PTO_SITE const ::pto::site &at = ::pto::site::here()
/* The same for functions that hand them on. */
#define PTO_EXTRA_ARGS w1, w2, w3, w4, at

#endif
