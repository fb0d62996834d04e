/* SPDX-License-Identifier: MIT */
/* An orchestration under a name of its own that uses nothing else; has no GNU build id. */
#include <stdint.h>

void my_entry(void *rt, uint64_t *words, int count);
void my_entry(void *rt, uint64_t *words, int count)
{
	(void)rt;
	words[0] = (uint64_t)count + 1;
}

void other_function(void);
void other_function(void)
{
}
