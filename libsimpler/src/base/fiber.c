/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/fiber.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sanitize.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(low, high)	0u
#define VALGRIND_STACK_DEREGISTER(number)	((void)(number))
#endif
#if SANITIZE_ADDRESS
#include <sanitizer/common_interface_defs.h>
#endif
#if SANITIZE_THREAD
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned int flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned int flags);
#endif

#if defined(__x86_64__)
#define SAVE_WORDS	7	/* layout in fiber_x86_64.S */
#define SAVE_FIBER	4
#define SAVE_PC		6
#elif defined(__aarch64__)
#define SAVE_WORDS	20	/* layout in fiber_aarch64.S */
#define SAVE_PC		1
#define SAVE_FIBER	2
#else
#error "fiber: no context switch for this processor"
#endif

_Static_assert(offsetof(struct fiber, sp) == 0,
	       "the assembler expects the saved stack pointer first");

/* In fiber_<processor>.S */
void fiber_swap(struct fiber *from, struct fiber *to);
void fiber_base(void);

void fiber_main(struct fiber *self) __attribute__((noreturn, visibility("hidden")));

#if SANITIZE_ADDRESS
/*
 * The fiber that runs now tells ASan that it has arrived, and learns the bounds of the stack that
 * was left.
 */
static void fiber_arrive(struct fiber *self)
{
	struct fiber *left = self->came_from;

	__sanitizer_finish_switch_fiber(self->asan_fake_stack, &left->stack_low,
					&left->stack_bytes);
}

static void fiber_depart(struct fiber *from, struct fiber *to)
{
	__sanitizer_start_switch_fiber(&from->asan_fake_stack, to->stack_low, to->stack_bytes);
}
#elif SANITIZE_THREAD
static NO_SANITIZE void fiber_arrive(struct fiber *self)
{
	(void)self;
}

/* With synchronisation (flag 0): both fibers run on this thread, one after the other. */
static NO_SANITIZE void fiber_depart(struct fiber *from, struct fiber *to)
{
	(void)from;
	__tsan_switch_to_fiber(to->tsan_fiber, 0);
}
#endif

#if SANITIZE_ADDRESS || SANITIZE_THREAD
/*
 * Instrumented on purpose: both fibers are written in the name of the one that leaves, so that TSan
 * reports a fiber that was handed to another thread without order.
 */
static __attribute__((noinline)) void fiber_note(struct fiber *from, struct fiber *to)
{
	from->came_from = NULL;
	to->came_from = from;
}

/* Not instrumented: what runs between departure and arrival belongs to neither fiber. */
NO_SANITIZE void fiber_switch(struct fiber *from, struct fiber *to)
{
	if (from == to)
		return;
	fiber_note(from, to);
	fiber_depart(from, to);
	fiber_swap(from, to);
	fiber_arrive(from);
}
#else
static void fiber_arrive(struct fiber *self)
{
	(void)self;
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
	fiber_swap(from, to);
}
#endif

void fiber_main(struct fiber *self)
{
	static const char text[] = "fiber: the entry function returned, but nothing is below it\n";

	fiber_arrive(self);
	self->entry(self->arg);
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		abort();
	abort();
}

static void fiber_tsan_create(struct fiber *f)
{
#if SANITIZE_THREAD
	f->tsan_fiber = __tsan_create_fiber(0);
#else
	(void)f;
#endif
}

static void fiber_tsan_destroy(struct fiber *f)
{
#if SANITIZE_THREAD
	__tsan_destroy_fiber(f->tsan_fiber);
#else
	(void)f;
#endif
}

static char *fiber_stack_top(const struct fiber *f)
{
	return (char *)((uintptr_t)f & ~(uintptr_t)15);
}

/* The save area that makes the first switch continue at fiber_base(). */
static void fiber_prepare(struct fiber *f, void (*entry)(void *arg), void *arg)
{
	void **save = (void **)fiber_stack_top(f) - (SAVE_WORDS + SAVE_WORDS % 2);

#if defined(__x86_64__)
	save++;		/* fiber_base() starts 16-byte aligned, right above the return address */
#endif
	memset(save, 0, SAVE_WORDS * sizeof(*save));
	save[SAVE_FIBER] = f;
	save[SAVE_PC] = (void *)fiber_base;
	f->sp = save;
	f->entry = entry;
	f->arg = arg;
}

static size_t fiber_page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * A frame that is not touched as it grows could step over a single page into whatever is mapped
 * below; this much address space, which costs no memory, is wider than the frames of any sane
 * kernel.
 */
#define GUARD_BYTES	((size_t)256 << 10)

/* Guard pages, stack and struct fiber; 0 when the sum does not fit a size_t. */
static size_t fiber_map_bytes(size_t stack_bytes)
{
	size_t page = fiber_page();

	if (stack_bytes < FIBER_STACK_MIN)
		stack_bytes = FIBER_STACK_MIN;
	if (stack_bytes > SIZE_MAX / 2)
		return 0;
	return ((stack_bytes + sizeof(struct fiber) + 64 + page - 1) & ~(page - 1)) + GUARD_BYTES;
}

static char *fiber_map(size_t bytes)
{
	char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	if (mprotect(map, GUARD_BYTES, PROT_NONE)) {
		munmap(map, bytes);
		return NULL;
	}
	/*
	 * A huge page would commit the whole stack at the first touch. Kernels without huge pages
	 * refuse: fine.
	 */
	madvise(map, bytes, MADV_NOHUGEPAGE);
	return map;
}

struct fiber *fiber_create(size_t stack_bytes, void (*entry)(void *arg), void *arg)
{
	size_t bytes = fiber_map_bytes(stack_bytes);
	struct fiber *f;
	char *map;

	map = bytes ? fiber_map(bytes) : NULL;
	if (!map) {
		errno = ENOMEM;
		return NULL;
	}
	f = (struct fiber *)(((uintptr_t)map + bytes - sizeof(*f)) & ~(uintptr_t)63);
	f->map = map;
	f->map_bytes = bytes;
	f->stack_low = map + GUARD_BYTES;
	f->stack_bytes = (size_t)(fiber_stack_top(f) - (char *)f->stack_low);
	/* otherwise valgrind takes a switch for a jump of the stack pointer */
	f->valgrind_stack = VALGRIND_STACK_REGISTER(f->stack_low, fiber_stack_top(f));
	fiber_tsan_create(f);
	fiber_prepare(f, entry, arg);
	return f;
}

void fiber_reset(struct fiber *f, void (*entry)(void *arg), void *arg)
{
	assert(f->map);
	sanitize_unpoison(f->stack_low, f->stack_bytes);
	fiber_tsan_destroy(f);
	fiber_tsan_create(f);
	fiber_prepare(f, entry, arg);
}

void fiber_destroy(struct fiber *f)
{
	if (!f)
		return;
	assert(f->map);
	sanitize_unpoison(f->stack_low, f->stack_bytes);
	fiber_tsan_destroy(f);
	VALGRIND_STACK_DEREGISTER(f->valgrind_stack);
	munmap(f->map, f->map_bytes);
}

struct fiber *fiber_thread_init(struct fiber_thread *t)
{
	memset(t, 0, sizeof(*t));
#if SANITIZE_THREAD
	t->fiber.tsan_fiber = __tsan_get_current_fiber();
#endif
	return &t->fiber;
}

bool fiber_guard_hit(const struct fiber *f, const void *addr)
{
	const char *p = addr;

	return f->map && p >= f->map && p < (const char *)f->stack_low;
}

void fiber_pool_init(struct fiber_pool *p, size_t stack_bytes, unsigned int max)
{
	*p = (struct fiber_pool){ .stack_bytes = stack_bytes, .max = max };
}

struct fiber *fiber_pool_get(struct fiber_pool *p, void (*entry)(void *arg), void *arg)
{
	struct fiber *f = p->free;

	if (!f)
		return fiber_create(p->stack_bytes, entry, arg);
	p->free = f->next;
	p->count--;
	fiber_reset(f, entry, arg);
	return f;
}

void fiber_pool_put(struct fiber_pool *p, struct fiber *f)
{
	if (!f)
		return;
	if (p->count >= p->max) {
		fiber_destroy(f);
		return;
	}
	f->next = p->free;
	p->free = f;
	p->count++;
}

void fiber_pool_trim(struct fiber_pool *p, unsigned int keep)
{
	struct fiber *f;

	while (p->count > keep) {
		f = p->free;
		p->free = f->next;
		p->count--;
		fiber_destroy(f);
	}
}
