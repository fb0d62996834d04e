// SPDX-License-Identifier: MIT
/* Kernel authors name their functions freely: words that the headers use inside are free. */
#include <pto/pto-inst.hpp>

#ifdef _GLIBCXX_CMATH
#error "pto-inst.hpp includes <cmath>, two thirds of a kernel's text; use __builtin_ functions"
#endif

using namespace pto;

#define WORDS(f) \
	f(matmul) f(pipe) f(copy) f(move) f(sort) f(core) f(simd) f(reduce) f(gather) f(convert) \
	f(compare) f(broadcast) f(transfer) f(layout) f(pad) f(table) f(quantise) f(generate) \
	f(partial) f(assign) f(spans) f(blocked) f(conv) f(bits) f(mx) f(checking) f(fixpipe)
#define DEFINE(word) int word(int x) { return x + int(sizeof(#word)); }
#define CALL(word) + word(0) - int(sizeof(#word))

WORDS(DEFINE)

int every_one_of_them() { return 0 WORDS(CALL); }

#include "check.hpp"

CHECK(functions_may_have_names_that_the_headers_use_inside)
{
	t.expect(every_one_of_them() == 0, "each call reaches the kernel's own function");
}

#include "exports.hpp"
