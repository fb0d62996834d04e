/* SPDX-License-Identifier: MIT */
/* Included once, last, by each object of instruction checks. */
#ifndef PTO_ISA_EXPORTS_HPP
#define PTO_ISA_EXPORTS_HPP

#include "check.hpp"

extern "C" __attribute__((visibility("default"))) const char *pto_isa_check_name(size_t i)
{
	return i < check::all().size() ? check::all()[i].name : nullptr;
}

extern "C" __attribute__((visibility("default"))) int pto_isa_check_run(size_t i, char *msg,
									size_t size)
{
	check::context t(msg, size);

	check::all()[i].run(t);
	return t.bad ? -1 : 0;
}

#endif
