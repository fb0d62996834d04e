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
	const size_t before = check::covered().size();

	check::all()[i].run(t);
	for (size_t k = before; k < check::covered().size(); k++)
		check::covered()[k].ok = !t.bad;
	return t.bad ? -1 : 0;
}

extern "C" __attribute__((visibility("default"))) int
pto_isa_check_covered(size_t i, pto_isa_covered *what)
{
	if (i >= check::covered().size())
		return -1;
	*what = check::covered()[i].what;
	return check::covered()[i].ok;
}

#endif
