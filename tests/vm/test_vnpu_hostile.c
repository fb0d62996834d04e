// SPDX-License-Identifier: MIT
/* Whatever the guest writes: the stated error or the end of one context, never more. */
#include <sys/mman.h>

#include "host_fixture.h"
#include "simpler/error.h"

#define VNPU_FIRST (2ull << 20)	/* of device memory, also when the register says something else */
#define BYSTANDER 20	/* a context and stream that must not notice anything */

struct bystander {
	struct drv_context context;
	struct drv_stream stream;
	uint64_t va;
	uint64_t *data;
};

static struct simpler_hw_cmd fill(uint64_t va, uint64_t word)
{
	return (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_FILL,
		.fill = { .dst = va, .bytes = 8, .pattern = word, .width = 8 } };
}

static void bystander_open(struct bystander *b, struct drv_chip *chip)
{
	drv_context_create(&b->context, chip, BYSTANDER);
	b->va = drv_buffer(&b->context, 4096, &b->data);
	assert_int_equal(drv_stream_create(&b->stream, &b->context, BYSTANDER), 0);
}

static void bystander_works(struct bystander *b, uint64_t word)
{
	assert_int_equal(drv_run(&b->stream, fill(b->va, word)), 0);
	assert_int_equal(b->data[0], word);
	assert_int_equal(b->stream.ring->state, SIMPLER_HW_STREAM_READY);
}

/* The context ended with this record, another one did not. */
static struct simpler_hw_fault ends_with(struct fixture *f, struct bystander *b, uint32_t code)
{
	struct simpler_hw_fault fault = drv_fault(&f->chip);

	assert_int_equal(fault.code, code);
	assert_int_equal(fault.context, f->context.number);
	assert_int_equal(f->stream.ring->state, SIMPLER_HW_STREAM_BANNED);
	bystander_works(b, fault.timestamp);
	return fault;
}

/* ---- what kernels do ---- */

static void a_stray_load_is_a_page_fault(void **state)
{
	struct fixture *f = *state;
	struct simpler_hw_fault fault;
	struct drv_program p;
	struct bystander b;
	uint64_t hole;

	bystander_open(&b, &f->chip);
	drv_program_load(&p, &f->stream);
	hole = f->context.next_va;
	assert_int_equal(drv_program_run(&p, DRV_LOAD, hole, 0), SIMPLER_RUN_KERNEL_FAULT);
	fault = ends_with(f, &b, SIMPLER_HW_FAULT_PAGE);
	assert_int_equal(fault.address, hole);
	assert_int_equal(fault.stream, f->stream.number);
	assert_int_equal(fault.seqno, f->stream.seqno);
	assert_int_equal(fault.func_id, 0);
	assert_int_equal(p.launch->status.address, hole);
}

static void the_pages_of_another_context_are_not_there(void **state)
{
	struct fixture *f = *state;
	struct drv_program p;
	struct bystander b;

	bystander_open(&b, &f->chip);
	b.data[1] = 77;
	drv_program_load(&p, &f->stream);
	b.context.next_va += 1ull << 32;
	b.va = drv_buffer(&b.context, 4096, &b.data);
	b.data[1] = 78;
	drv_program_run(&p, DRV_STORE, b.va + 8, 1);
	assert_int_equal(ends_with(f, &b, SIMPLER_HW_FAULT_PAGE).address, b.va + 8);
	assert_int_equal(b.data[1], 78);
}

static void a_read_only_page_is_not_written(void **state)
{
	struct fixture *f = *state;
	struct drv_program p;
	struct bystander b;
	uint64_t va;

	bystander_open(&b, &f->chip);
	drv_program_load(&p, &f->stream);
	va = drv_host_buffer(&f->context, 0x200000, 4096, false);
	f->host.ram[0x200000] = 42;
	assert_int_equal(drv_program_run(&p, DRV_LOAD, va, 0), 0);
	assert_int_equal(p.data[0], 42);
	drv_program_run(&p, DRV_STORE, va, 43);
	assert_int_equal(ends_with(f, &b, SIMPLER_HW_FAULT_PAGE).address, va);
	assert_int_equal(f->host.ram[0x200000], 42);
}

static void an_abort_is_a_kernel_fault(void **state)
{
	struct fixture *f = *state;
	struct drv_program p;
	struct bystander b;

	bystander_open(&b, &f->chip);
	drv_program_load(&p, &f->stream);
	drv_program_run(&p, DRV_ABORT, 0, 0);
	ends_with(f, &b, SIMPLER_HW_FAULT_KERNEL);
}

static void an_executor_that_exits_ends_its_context_only(void **state)
{
	struct fixture *f = *state;
	struct drv_program p;
	struct bystander b;

	bystander_open(&b, &f->chip);
	drv_program_load(&p, &f->stream);
	assert_int_equal(drv_program_run(&p, DRV_EXIT, 0, 0), -1);
	ends_with(f, &b, SIMPLER_HW_FAULT_HARDWARE);
	assert_int_equal(drv_context_destroy(&f->context), 0);
}

static void a_kernel_cannot_leave_its_executor(void **state)
{
	struct fixture *f = *state;
	struct drv_program p;
	uint64_t va;

	drv_program_load(&p, &f->stream);
	va = drv_host_buffer(&f->context, 0x200000, 4096, false);
	if (drv_program_run(&p, DRV_ESCAPE, va, 0))
		fail_msg("%s", p.launch->status.text);
	assert_int_equal(p.data[0], 0);
}

static void stop_ends_an_endless_kernel(void **state)
{
	struct fixture *f = *state;
	struct drv_program p;
	struct bystander b;

	bystander_open(&b, &f->chip);
	drv_program_load(&p, &f->stream);
	drv_program_begin(&p, DRV_ENDLESS, 0, 0);
	while (!__atomic_load_n(&p.data[1], __ATOMIC_RELAXED))
		bystander_works(&b, 5);
	assert_int_equal(drv_admin(&f->chip, (struct simpler_hw_admin){
		.opcode = SIMPLER_HW_ADMIN_CONTEXT_STOP, .context = 0 }), 0);
	assert_int_equal(f->stream.ring->state, SIMPLER_HW_STREAM_BANNED);
	assert_int_equal(drv_counter(&f->host, 0, "executors"), 1);
	bystander_works(&b, 6);
	/* what a stopped context still may be asked for */
	drv_map_changed(&f->context, SIMPLER_HW_VA_MIN, 4096);
	assert_int_equal(drv_stream_destroy(&f->stream), 0);
	assert_int_equal(drv_stream_create(&f->stream, &f->context, 0), 0);
	assert_int_equal(f->stream.ring->state, SIMPLER_HW_STREAM_BANNED);
	assert_int_equal(drv_context_destroy(&f->context), 0);
	assert_int_equal(f->chip.regs->fault_producer, 0);
}

/* ---- page tables ---- */

static void an_unmapped_page_is_gone_after_map_changed(void **state)
{
	struct fixture *f = *state;
	struct drv_program p;
	struct bystander b;
	uint64_t *data;
	uint64_t va = drv_buffer(&f->context, 3 * 4096, &data);

	bystander_open(&b, &f->chip);
	drv_program_load(&p, &f->stream);
	assert_int_equal(drv_program_run(&p, DRV_STORE, va + 4096, 1), 0);
	drv_map_page(&f->context, va + 4096, 0);
	drv_map_changed(&f->context, va + 4096, 4096);
	assert_int_equal(drv_program_run(&p, DRV_STORE, va, 2), 0);
	assert_int_equal(drv_program_run(&p, DRV_STORE, va + 8192, 3), 0);
	drv_program_run(&p, DRV_STORE, va + 4096, 4);
	assert_int_equal(ends_with(f, &b, SIMPLER_HW_FAULT_PAGE).address, va + 4096);
	assert_int_equal(data[0], 2);
	assert_int_equal(data[512], 1);
	assert_int_equal(data[1024], 3);
}

static void entries_that_lead_nowhere_map_nothing(void **state)
{
	static const uint64_t entries[] = {
		SIMPLER_HW_PTE_VALID,					/* the register page */
		SIMPLER_HW_PTE_VALID | 0x000ffffffffff000ull,		/* beyond BAR2 */
		SIMPLER_HW_PTE_VALID | SIMPLER_HW_PTE_HOST | DRV_RAM_BYTES,
		SIMPLER_HW_PTE_VALID | SIMPLER_HW_PTE_HOST | 0x000ffffffffff000ull,
		SIMPLER_HW_PTE_VALID | SIMPLER_HW_PTE_BLOCK | (4ull << 20),
		SIMPLER_HW_PTE_VALID | (4ull << 20) | 1ull << 63,	/* unknown bit */
		SIMPLER_HW_PTE_WRITE | (4ull << 20),			/* not valid */
	};
	struct fixture *f = *state;
	struct bystander b;

	bystander_open(&b, &f->chip);
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		uint64_t va = f->context.next_va;

		drv_map_page(&f->context, va, entries[i]);
		drv_map_changed(&f->context, va, 4096);
		assert_int_equal(drv_run(&f->stream, fill(va, 1)), -14);	/* EFAULT */
		assert_int_equal(ends_with(f, &b, SIMPLER_HW_FAULT_PAGE).address, va);
		assert_int_equal(drv_context_destroy(&f->context), 0);
		drv_context_create(&f->context, &f->chip, 0);
		assert_int_equal(drv_stream_create(&f->stream, &f->context, 0), 0);
	}
}

static void tables_that_contain_themselves_end_the_context(void **state)
{
	struct fixture *f = *state;
	uint64_t *root = drv_at(&f->chip, f->context.root);
	struct bystander b;

	bystander_open(&b, &f->chip);
	for (int i = 0; i < 512; i++)
		root[i] = f->context.root | SIMPLER_HW_PTE_VALID | SIMPLER_HW_PTE_WRITE;
	drv_map_changed(&f->context, 0, 1ull << SIMPLER_HW_VA_BITS);
	ends_with(f, &b, SIMPLER_HW_FAULT_PAGE);
}

/* ---- rings ---- */

static void a_producer_beyond_the_ring_ends_the_context(void **state)
{
	struct fixture *f = *state;
	struct bystander b;

	bystander_open(&b, &f->chip);
	f->stream.ring->producer = 65;
	drv_ring(&f->stream);
	ends_with(f, &b, SIMPLER_HW_FAULT_BAD_COMMAND);
	assert_int_equal(f->stream.ring->error, -22);
}

static void unknown_commands_end_the_context(void **state)
{
	struct fixture *f = *state;
	struct bystander b;

	bystander_open(&b, &f->chip);
	assert_int_equal(drv_run(&f->stream, (struct simpler_hw_cmd){ .opcode = 200 }), -22);
	ends_with(f, &b, SIMPLER_HW_FAULT_BAD_COMMAND);
}

static void only_the_first_fault_of_a_context_is_told(void **state)
{
	struct fixture *f = *state;
	struct bystander b;

	bystander_open(&b, &f->chip);
	for (int i = 0; i < 10; i++)
		drv_push(&f->stream, fill(0x1000, 1));
	drv_ring(&f->stream);
	drv_wait(&f->stream);
	ends_with(f, &b, SIMPLER_HW_FAULT_PAGE);
	assert_int_equal(drv_completed(&f->stream), 1);
	assert_int_equal(f->chip.regs->fault_producer, 1);
}

static void scribbled_device_words_do_not_lead_the_device_astray(void **state)
{
	struct fixture *f = *state;
	uint64_t *data;
	uint64_t va = drv_buffer(&f->context, 4096, &data);

	f->stream.ring->consumer = 0xdeadbeef;
	f->stream.ring->completed = ~0ull;
	drv_push(&f->stream, fill(va, 3));
	drv_ring(&f->stream);
	while (f->stream.ring->completed != 1)
		drv_map_changed(&f->context, va, 4096);
	assert_int_equal(data[0], 3);
	assert_int_equal(f->stream.ring->consumer, 1);
}

/* ---- the admin ring ---- */

static void bad_ring_registers_are_refused(void **state)
{
	struct fixture *f = *state;
	struct simpler_hw_regs *r = f->chip.regs;
	const uint64_t rings[] = { 0, 64, r->memory_base + 8, f->chip.bar_bytes, ~63ull,
				   f->chip.bar_bytes - 64 };
	const uint32_t sizes[] = { 0, 1, 3, 131072, ~0u };

	for (size_t i = 0; i < 11; i++) {
		drv_reset(&f->chip);
		r->admin_ring = i < 6 ? rings[i] : drv_alloc(&f->chip, 8192);
		r->admin_entries = i < 6 ? 16 : sizes[i - 6];
		r->fault_ring = drv_alloc(&f->chip, 4096);
		r->fault_entries = 8;
		r->control = SIMPLER_HW_CONTROL_ENABLE;
		drv_doorbell(&f->chip, 0);
		while (!__atomic_load_n(&r->status, __ATOMIC_ACQUIRE))
			assert_true(drv_interrupted(&f->chip, 0, true));
		assert_int_equal(r->status, SIMPLER_HW_STATUS_REFUSED);
	}
	drv_reset(&f->chip);
	assert_int_equal(drv_enable(&f->chip), SIMPLER_HW_STATUS_ENABLED);
}

/* What the cases refer to. */
struct places {
	uint64_t base, top, ring, root;
};

enum { BAD = -22, MISSING = -2, TAKEN = -17 };

static void expect(struct fixture *f, int error, struct simpler_hw_admin cmd)
{
	int rc = drv_admin(&f->chip, cmd);

	if (rc != error)
		fail_msg("command %u, context %u, words 0x%llx 0x%llx 0x%llx: %d instead of %d",
			 cmd.opcode, cmd.context, (unsigned long long)cmd.words[0],
			 (unsigned long long)cmd.words[1], (unsigned long long)cmd.words[2], rc,
			 error);
}

static struct places places_of(struct fixture *f)
{
	uint64_t ring = drv_alloc(&f->chip, 8192);

	return (struct places){ f->chip.regs->memory_base, f->chip.bar_bytes, ring,
				f->context.root };
}

/* The chip still does what is right. */
static void still_works(struct fixture *f)
{
	assert_int_equal(drv_run(&f->stream, (struct simpler_hw_cmd){ 0 }), 0);
	assert_int_equal(f->chip.regs->fault_producer, 0);
}

#define CMD(name, ...) \
	((struct simpler_hw_admin){ .opcode = SIMPLER_HW_ADMIN_##name, ##__VA_ARGS__ })

static void malformed_admin_commands_are_refused(void **state)
{
	struct fixture *f = *state;

	for (uint32_t opcode = 0; opcode < 256; opcode++)
		if (opcode < 64 || opcode > SIMPLER_HW_ADMIN_RESUME)
			expect(f, BAD, (struct simpler_hw_admin){ .opcode = (uint8_t)opcode });
	expect(f, BAD, CMD(SUSPEND, .flags = 1));
	expect(f, BAD, CMD(SUSPEND, .reserved = 1));
	expect(f, BAD, CMD(SUSPEND, .context = 1));
	for (int word = 0; word < 7; word++) {
		struct simpler_hw_admin cmd = CMD(RESUME);

		cmd.words[word] = 1;
		expect(f, BAD, cmd);
	}
	still_works(f);
}

static void bad_context_commands_are_refused(void **state)
{
	struct fixture *f = *state;
	struct places p = places_of(f);

	expect(f, TAKEN, CMD(CONTEXT_CREATE, .context_create.page_table = p.root));
	expect(f, BAD, CMD(CONTEXT_CREATE, .context = 1));
	expect(f, BAD, CMD(CONTEXT_CREATE, .context = 1, .context_create.page_table = p.base + 8));
	expect(f, BAD, CMD(CONTEXT_CREATE, .context = 1, .context_create.page_table = p.top));
	expect(f, BAD, CMD(CONTEXT_CREATE, .context = 64, .context_create.page_table = p.root));
	expect(f, BAD, CMD(CONTEXT_CREATE, .context = ~0u, .context_create.page_table = p.root));
	expect(f, MISSING, CMD(CONTEXT_DESTROY, .context = 1));
	expect(f, MISSING, CMD(CONTEXT_DESTROY, .context = ~0u));
	expect(f, MISSING, CMD(CONTEXT_STOP, .context = 64));
	expect(f, MISSING, CMD(MAP_CHANGED, .context = 2));
	expect(f, BAD, CMD(MAP_CHANGED, .map = { .addr = 1, .bytes = 4096 }));
	expect(f, BAD, CMD(MAP_CHANGED, .map = { .addr = ~4095ull, .bytes = 8192 }));
	expect(f, BAD, CMD(CLEAR, .clear = { .bytes = 8 }));
	expect(f, BAD, CMD(CLEAR, .clear = { .addr = p.base + 1, .bytes = 8 }));
	expect(f, BAD, CMD(CLEAR, .clear = { .addr = p.base, .bytes = ~7ull }));
	expect(f, BAD, CMD(CLEAR, .clear = { .addr = p.top, .bytes = 8 }));
	still_works(f);
}

#define STREAM(...) CMD(STREAM_CREATE, .stream = { __VA_ARGS__ })

static void bad_stream_commands_are_refused(void **state)
{
	struct fixture *f = *state;
	struct places p = places_of(f);

	expect(f, TAKEN, STREAM(.stream = 0, .entries = 16, .ring = p.ring));
	expect(f, BAD, STREAM(.stream = 1024, .entries = 16, .ring = p.ring));
	expect(f, BAD, STREAM(.stream = 1, .entries = 2, .ring = p.ring));
	expect(f, BAD, STREAM(.stream = 1, .entries = 24, .ring = p.ring));
	expect(f, BAD, STREAM(.stream = 1, .entries = 1u << 31, .ring = p.ring));
	expect(f, BAD, STREAM(.stream = 1, .entries = 16, .ring = p.ring + 8));
	expect(f, BAD, STREAM(.stream = 1, .entries = 16, .ring = 0));
	expect(f, BAD, STREAM(.stream = 1, .entries = 16, .ring = p.top - 64));
	expect(f, BAD, STREAM(.stream = 1, .entries = 16, .ring = ~63ull));
	expect(f, BAD, STREAM(.stream = 1, .entries = 16, .ring = p.ring, .priority = 3));
	expect(f, BAD, STREAM(.stream = 1, .entries = 16, .ring = p.ring, .reserved = 1));
	expect(f, MISSING, CMD(STREAM_CREATE, .context = 3, .stream = {
		.stream = 1, .entries = 16, .ring = p.ring }));
	expect(f, MISSING, CMD(STREAM_DESTROY, .stream.stream = 1));
	expect(f, MISSING, CMD(STREAM_DESTROY, .stream.stream = ~0u));
	expect(f, BAD, CMD(STREAM_DESTROY, .stream.entries = 1));
	still_works(f);
}

static void an_admin_producer_beyond_the_ring_needs_a_reset(void **state)
{
	struct fixture *f = *state;

	f->chip.admin->producer += DRV_ADMIN_ENTRIES + 1;
	drv_doorbell(&f->chip, 0);
	assert_int_equal(drv_fault(&f->chip).code, SIMPLER_HW_FAULT_BAD_COMMAND);
	while (f->chip.regs->health != SIMPLER_HW_HEALTH_DEAD)
		assert_true(drv_interrupted(&f->chip, 0, true));
	drv_reset(&f->chip);
	assert_int_equal(f->chip.regs->health, SIMPLER_HW_HEALTH_OK);
	assert_int_equal(drv_enable(&f->chip), SIMPLER_HW_STATUS_ENABLED);
}

static void a_full_fault_ring_drops_records_and_counts_them(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < DRV_FAULT_ENTRIES + 2; i++) {
		drv_run(&f->stream, fill(0x1000, 1));
		drv_await_counter(&f->host, 0, "faults", i + 1);
		assert_int_equal(drv_context_destroy(&f->context), 0);
		drv_context_create(&f->context, &f->chip, 0);
		assert_int_equal(drv_stream_create(&f->stream, &f->context, 0), 0);
	}
	assert_int_equal(f->chip.regs->fault_producer, DRV_FAULT_ENTRIES);
	assert_int_equal(f->chip.regs->fault_dropped, 2);
}

static void reset_in_the_middle_of_everything(void **state)
{
	struct fixture *f = *state;
	struct drv_program p;
	struct bystander b;

	for (int round = 0; round < 5; round++) {
		bystander_open(&b, &f->chip);
		drv_program_load(&p, &f->stream);
		drv_program_begin(&p, DRV_ENDLESS, 0, 0);
		for (int i = 0; i < 8; i++)
			drv_admin_push(&f->chip, (struct simpler_hw_admin){
				.opcode = SIMPLER_HW_ADMIN_MAP_CHANGED,
				.map = { .addr = SIMPLER_HW_VA_MIN, .bytes = 1ull << 38 } });
		drv_reset(&f->chip);
		assert_int_equal(drv_counter(&f->host, 0, "executors"), 0);
		assert_int_equal(drv_enable(&f->chip), SIMPLER_HW_STATUS_ENABLED);
		drv_context_create(&f->context, &f->chip, 0);
		assert_int_equal(drv_stream_create(&f->stream, &f->context, 0), 0);
	}
}

/* ---- anything ---- */

#define SCRIBBLES	400
#define SCRIBBLE_ROUNDS	6

static uint32_t pick(uint64_t *random, uint32_t below)
{
	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*random >> 33) % below;
}

/* Now and then something that could make sense. */
static uint64_t word(uint64_t *random, struct drv_chip *chip)
{
	uint64_t high = (uint64_t)pick(random, 1u << 31) << 33;

	switch (pick(random, 6)) {
	case 0: return 0;
	case 1: return pick(random, 80);
	case 2: return chip->regs->memory_base + pick(random, 64) * 4096ull + pick(random, 16);
	case 3: return SIMPLER_HW_VA_MIN + (1ull << 30) + pick(random, 64) * 4096ull;
	case 4: return ~0ull << pick(random, 64);
	default: return high | pick(random, 1u << 31);
	}
}

static void scribble(uint64_t *random, struct drv_chip *chip)
{
	uint64_t used = (chip->next - VNPU_FIRST) / 8;
	bool registers = !pick(random, 8);
	uint64_t *at = registers ? (uint64_t *)chip->bar + pick(random, 32) :
				   (uint64_t *)(chip->bar + VNPU_FIRST) +
				   pick(random, (uint32_t)used);

	/* relaxed: hostile, not ordered with anything */
	__atomic_store_n(at, word(random, chip), __ATOMIC_RELAXED);
	drv_doorbell(chip, pick(random, 2) ? 0 : pick(random, DRV_VECTORS));
}

static void whatever_is_written_a_reset_brings_the_chip_back(void **state)
{
	struct fixture *f = *state;
	uint64_t random = 1;

	for (int round = 0; round < SCRIBBLE_ROUNDS; round++) {
		struct drv_program p;

		drv_program_load(&p, &f->stream);
		drv_program_begin(&p, DRV_ADD, 0, 1);
		for (int i = 0; i < SCRIBBLES; i++)
			scribble(&random, &f->chip);
		/* the reset is seen by a change of what may be scribbled on */
		f->chip.regs->generation = ~0u;
		drv_reset(&f->chip);
		assert_int_equal(f->chip.regs->magic, SIMPLER_HW_MAGIC);
		assert_int_equal(drv_counter(&f->host, 0, "executors"), 0);
		assert_int_equal(drv_enable(&f->chip), SIMPLER_HW_STATUS_ENABLED);
		drv_context_create(&f->context, &f->chip, 0);
		assert_int_equal(drv_stream_create(&f->stream, &f->context, 0), 0);
	}
	still_works(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		host_test(a_stray_load_is_a_page_fault),
		host_test(the_pages_of_another_context_are_not_there),
		host_test(a_read_only_page_is_not_written),
		host_test(an_abort_is_a_kernel_fault),
		host_test(an_executor_that_exits_ends_its_context_only),
		host_test(a_kernel_cannot_leave_its_executor),
		host_test(stop_ends_an_endless_kernel),
		host_test(an_unmapped_page_is_gone_after_map_changed),
		host_test(entries_that_lead_nowhere_map_nothing),
		host_test(tables_that_contain_themselves_end_the_context),
		host_test(a_producer_beyond_the_ring_ends_the_context),
		host_test(unknown_commands_end_the_context),
		host_test(only_the_first_fault_of_a_context_is_told),
		host_test(scribbled_device_words_do_not_lead_the_device_astray),
		host_test(bad_ring_registers_are_refused),
		host_test(malformed_admin_commands_are_refused),
		host_test(bad_context_commands_are_refused),
		host_test(bad_stream_commands_are_refused),
		host_test(an_admin_producer_beyond_the_ring_needs_a_reset),
		host_test(a_full_fault_ring_drops_records_and_counts_them),
		host_test(reset_in_the_middle_of_everything),
		host_test(whatever_is_written_a_reset_brings_the_chip_back),
	};

	return host_run("simpler-vnpu, hostile guest", tests);
}
