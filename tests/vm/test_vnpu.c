// SPDX-License-Identifier: MIT
/* simpler-vnpu does what simpler_hw.h says, for a driver that keeps to it. */
#include "host_fixture.h"

#define FILL(at, n, word) ((struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_FILL, \
	.fill = { .dst = (at), .bytes = (n), .pattern = (word), .width = 8 } })
#define COPY(to, from, n) ((struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_COPY, \
	.copy = { .dst = (to), .src = (from), .bytes = (n) } })

static void register_page_describes_the_chip(void **state)
{
	struct fixture *f = *state;
	const struct simpler_hw_regs *r = f->chip.regs;

	assert_int_equal(r->magic, SIMPLER_HW_MAGIC);
	assert_int_equal(r->version_major, SIMPLER_HW_VERSION_MAJOR);
	assert_int_equal(r->arch, SIMPLER_HW_ARCH_A2A3);
	assert_int_equal(r->memory_base + r->memory_bytes, f->chip.bar_bytes);
	assert_int_equal(r->memory_base % SIMPLER_HW_PAGE_BYTES, 0);
	assert_true(r->features & SIMPLER_HW_FEATURE_MMU);
	assert_int_equal(r->doorbell_vectors, DRV_VECTORS);
	assert_int_equal(r->irq_vectors, DRV_VECTORS);
	assert_int_equal(r->health, SIMPLER_HW_HEALTH_OK);
}

static void heartbeat_rises(void **state)
{
	struct fixture *f = *state;
	uint64_t before = f->chip.regs->heartbeat;

	/* an admin command every time, so that the loop ends if the device hangs */
	while (__atomic_load_n(&f->chip.regs->heartbeat, __ATOMIC_RELAXED) == before)
		assert_int_equal(drv_admin(&f->chip, (struct simpler_hw_admin){
			.opcode = SIMPLER_HW_ADMIN_RESUME }), 0);
}

static void two_chips_have_architectures_of_their_own(void **state)
{
	struct drv_host host;
	struct drv_chip a, b;

	(void)state;
	drv_host_start(&host, 2);
	drv_connect(&a, &host, 0);
	drv_connect(&b, &host, 1);
	assert_int_equal(a.regs->arch, SIMPLER_HW_ARCH_A2A3);
	assert_int_equal(b.regs->arch, SIMPLER_HW_ARCH_A5);
	assert_int_equal(drv_enable(&b), SIMPLER_HW_STATUS_ENABLED);
	assert_int_equal(a.regs->status, 0);
	drv_disconnect(&a);
	drv_disconnect(&b);
	drv_host_stop(&host);
}

static void fill_and_copy_within_device_memory(void **state)
{
	struct fixture *f = *state;
	uint64_t *a, *b;
	uint64_t va = drv_buffer(&f->context, 65536, &a);
	uint64_t vb = drv_buffer(&f->context, 65536, &b);

	assert_int_equal(drv_run(&f->stream, FILL(va, 65536, 0x1122334455667788)), 0);
	assert_int_equal(drv_run(&f->stream, COPY(vb, va, 65536)), 0);
	for (int i = 0; i < 65536 / 8; i++)
		assert_int_equal(b[i], 0x1122334455667788);
}

static void copies_reach_guest_memory_by_dma(void **state)
{
	struct fixture *f = *state;
	uint64_t *device;
	uint64_t va = drv_buffer(&f->context, 8192, &device);
	/* two pages that are not neighbours in guest RAM are neighbours for the device */
	uint64_t host = f->context.next_va;
	uint64_t bits = SIMPLER_HW_PTE_VALID | SIMPLER_HW_PTE_WRITE | SIMPLER_HW_PTE_HOST;

	drv_map_page(&f->context, host, 0x300000 | bits);
	drv_map_page(&f->context, host + 4096, 0x100000 | bits);
	drv_map_changed(&f->context, host, 8192);
	memset(f->host.ram + 0x300000, 0x5a, 4096);
	memset(f->host.ram + 0x100000, 0xa5, 4096);
	assert_int_equal(drv_run(&f->stream, COPY(va, host, 8192)), 0);
	assert_int_equal(device[0], 0x5a5a5a5a5a5a5a5a);
	assert_int_equal(device[512], 0xa5a5a5a5a5a5a5a5);
	assert_int_equal(drv_run(&f->stream, FILL(va, 8192, 7)), 0);
	assert_int_equal(drv_run(&f->stream, COPY(host, va, 8192)), 0);
	assert_int_equal(f->host.ram[0x300000], 7);
	assert_int_equal(f->host.ram[0x100ff8], 7);
}

static void blocks_of_two_mebibytes_are_mapped(void **state)
{
	struct fixture *f = *state;
	uint64_t addr = f->chip.regs->memory_base + (8 << 20);
	uint64_t va = SIMPLER_HW_VA_MIN + (5ull << 30);
	uint64_t *level1;

	/* a first page makes the tables, then its level 1 entry becomes a block */
	drv_map_page(&f->context, va, SIMPLER_HW_PTE_VALID | addr);
	level1 = drv_at(&f->chip, ((uint64_t *)drv_at(&f->chip, f->context.root))[va >> 30] &
				  SIMPLER_HW_PTE_ADDR);
	level1[0] = addr | SIMPLER_HW_PTE_VALID | SIMPLER_HW_PTE_WRITE | SIMPLER_HW_PTE_BLOCK;
	drv_map_changed(&f->context, va, 2 << 20);
	assert_int_equal(drv_run(&f->stream, FILL(va, 2 << 20, 9)), 0);
	assert_int_equal(*(uint64_t *)drv_at(&f->chip, addr + (2 << 20) - 8), 9);
	assert_int_equal(*(uint64_t *)drv_at(&f->chip, addr + (2 << 20)), 0);
}

static void a_program_is_uploaded_and_launched(void **state)
{
	struct fixture *f = *state;
	struct drv_program p;

	drv_program_load(&p, &f->stream);
	p.data[0] = 5;
	p.data[63] = 6;
	if (drv_program_run(&p, DRV_ADD, 0, 1000))
		fail_msg("%s", p.launch->status.text);
	assert_int_equal(p.data[0], 1005);
	assert_int_equal(p.data[63], 1006);
	assert_int_equal(p.launch->status.tasks_completed, 1);
}

static void fences_and_waits_order_streams(void **state)
{
	struct fixture *f = *state;
	struct drv_stream other;
	uint64_t *word, *data;
	uint64_t vw = drv_buffer(&f->context, 64, &word);
	uint64_t vd = drv_buffer(&f->context, 64, &data);

	assert_int_equal(drv_stream_create(&other, &f->context, 7), 0);
	drv_push(&other, (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_WAIT,
						  .wait = { .addr = vw, .value = 3 } });
	drv_push(&other, FILL(vd, 8, 1));
	drv_ring(&other);
	assert_int_equal(drv_run(&f->stream, FILL(vd + 8, 8, 2)), 0);
	assert_int_equal(data[0], 0);
	assert_int_equal(drv_run(&f->stream, (struct simpler_hw_cmd){
		.opcode = SIMPLER_HW_OP_FENCE, .fence = { .addr = vw, .value = 3 } }), 0);
	assert_int_equal(drv_wait(&other), 0);
	assert_int_equal(data[0], 1);
	assert_int_equal(drv_stream_destroy(&other), 0);
}

static void interrupt_at_the_awaited_sequence_number(void **state)
{
	struct fixture *f = *state;
	uint64_t *data;
	uint64_t va = drv_buffer(&f->context, 64, &data);

	assert_int_equal(drv_run(&f->stream, FILL(va, 8, 1)), 0);
	assert_false(drv_interrupted(&f->chip, 1, false));
	f->stream.ring->irq_seqno = f->stream.seqno + 2;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	assert_int_equal(drv_run(&f->stream, FILL(va, 8, 2)), 0);
	assert_false(drv_interrupted(&f->chip, 1, false));
	drv_push(&f->stream, FILL(va, 8, 3));
	drv_ring(&f->stream);
	assert_true(drv_interrupted(&f->chip, 1, true));
	assert_int_equal(drv_completed(&f->stream), f->stream.seqno);
}

static void a_fence_may_ask_for_an_interrupt(void **state)
{
	struct fixture *f = *state;
	uint64_t *data;
	uint64_t va = drv_buffer(&f->context, 64, &data);

	drv_push(&f->stream, (struct simpler_hw_cmd){
		.opcode = SIMPLER_HW_OP_FENCE, .flags = SIMPLER_HW_CMD_IRQ,
		.fence = { .addr = va, .value = 1 } });
	drv_ring(&f->stream);
	assert_true(drv_interrupted(&f->chip, 1, true));
	assert_int_equal(data[0], 1);
}

static void streams_of_one_vector_are_all_looked_at(void **state)
{
	struct fixture *f = *state;
	struct drv_context other;
	struct drv_stream s;
	uint64_t *a, *b;
	uint64_t va = drv_buffer(&f->context, 64, &a), vb;

	drv_context_create(&other, &f->chip, 1);
	vb = drv_buffer(&other, 64, &b);
	assert_int_equal(drv_stream_create(&s, &other, DRV_VECTORS - 1), 0);
	drv_push(&f->stream, FILL(va, 8, 1));
	drv_push(&s, FILL(vb, 8, 2));
	drv_ring(&f->stream);
	assert_int_equal(drv_wait(&f->stream), 0);
	assert_int_equal(drv_wait(&s), 0);
	assert_int_equal(a[0], 1);
	assert_int_equal(b[0], 2);
}

static void the_same_address_is_another_page_in_another_context(void **state)
{
	struct fixture *f = *state;
	struct drv_context other;
	struct drv_stream s;
	uint64_t *a, *b;
	uint64_t va = drv_buffer(&f->context, 4096, &a), vb;

	drv_context_create(&other, &f->chip, 1);
	vb = drv_buffer(&other, 4096, &b);
	assert_int_equal(va, vb);
	assert_int_equal(drv_stream_create(&s, &other, 1), 0);
	assert_int_equal(drv_run(&f->stream, FILL(va, 8, 1)), 0);
	assert_int_equal(drv_run(&s, FILL(vb, 8, 2)), 0);
	assert_int_equal(a[0], 1);
	assert_int_equal(b[0], 2);
	assert_int_equal(drv_context_destroy(&other), 0);
}

static void mappings_made_before_the_context_are_seen(void **state)
{
	struct fixture *f = *state;
	struct drv_context other;
	struct drv_stream s;
	uint64_t *a;
	uint64_t va = drv_buffer(&f->context, 4096, &a);

	other = f->context;
	other.number = 5;
	assert_int_equal(drv_admin(&f->chip, (struct simpler_hw_admin){
		.opcode = SIMPLER_HW_ADMIN_CONTEXT_CREATE, .context = 5,
		.context_create.page_table = f->context.root }), 0);
	assert_int_equal(drv_stream_create(&s, &other, 9), 0);
	assert_int_equal(drv_run(&s, FILL(va, 8, 4)), 0);
	assert_int_equal(a[0], 4);
}

static void suspend_holds_commands_until_resume(void **state)
{
	struct fixture *f = *state;
	uint64_t *a;
	uint64_t va = drv_buffer(&f->context, 4096, &a);

	assert_int_equal(drv_admin(&f->chip, (struct simpler_hw_admin){
		.opcode = SIMPLER_HW_ADMIN_SUSPEND }), 0);
	drv_push(&f->stream, FILL(va, 8, 4));
	drv_ring(&f->stream);
	/* an answered request proves that the executor has seen the doorbell before it */
	drv_map_changed(&f->context, va, 4096);
	assert_int_equal(drv_completed(&f->stream), 0);
	assert_int_equal(drv_admin(&f->chip, (struct simpler_hw_admin){
		.opcode = SIMPLER_HW_ADMIN_RESUME }), 0);
	assert_int_equal(drv_wait(&f->stream), 0);
	assert_int_equal(a[0], 4);
}

/* Fills two streams while nothing runs; each command writes, so the last one is seen. */
static uint64_t last_writer(struct fixture *f, struct drv_stream *one, struct drv_stream *two)
{
	struct drv_stream *streams[] = { one, two };
	uint64_t *a;
	uint64_t va = drv_buffer(&f->context, 4096, &a);

	assert_int_equal(drv_admin(&f->chip, (struct simpler_hw_admin){
		.opcode = SIMPLER_HW_ADMIN_SUSPEND }), 0);
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 5; k++)
			drv_push(streams[i], FILL(va, 8, streams[i]->number));
		drv_ring(streams[i]);
	}
	drv_map_changed(&f->context, va, 4096);
	assert_int_equal(a[0], 0);
	assert_int_equal(drv_admin(&f->chip, (struct simpler_hw_admin){
		.opcode = SIMPLER_HW_ADMIN_RESUME }), 0);
	assert_int_equal(drv_wait(one), 0);
	assert_int_equal(drv_wait(two), 0);
	return a[0];
}

static void streams_of_higher_priority_come_first(void **state)
{
	struct fixture *f = *state;
	struct drv_stream low, normal, high;

	assert_int_equal(drv_stream_create_at(&high, &f->context, 3, 2), 0);
	assert_int_equal(drv_stream_create_at(&low, &f->context, 1, 0), 0);
	assert_int_equal(drv_stream_create_at(&normal, &f->context, 2, 1), 0);
	assert_int_equal(last_writer(f, &low, &high), low.number);
	assert_int_equal(last_writer(f, &high, &low), low.number);
	assert_int_equal(last_writer(f, &normal, &high), normal.number);
	assert_int_equal(last_writer(f, &low, &normal), low.number);
}

/* The command of the lower stream that starts the higher one is followed by the higher one's. */
static void a_stream_of_higher_priority_gets_in_between(void **state)
{
	struct fixture *f = *state;
	struct drv_stream low, high;
	uint64_t *a;
	uint64_t va = drv_buffer(&f->context, 4096, &a);

	assert_int_equal(drv_stream_create_at(&low, &f->context, 1, 0), 0);
	assert_int_equal(drv_stream_create_at(&high, &f->context, 2, 2), 0);
	assert_int_equal(drv_admin(&f->chip, (struct simpler_hw_admin){
		.opcode = SIMPLER_HW_ADMIN_SUSPEND }), 0);
	drv_push(&high, (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_WAIT,
						 .wait = { .addr = va, .value = 1 } });
	drv_push(&high, (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_COPY,
						 .copy = { .dst = va + 16, .src = va + 8,
							   .bytes = 8 } });
	drv_push(&low, FILL(va, 8, 1));
	drv_push(&low, FILL(va + 8, 8, 7));
	drv_ring(&low);
	drv_ring(&high);
	assert_int_equal(drv_admin(&f->chip, (struct simpler_hw_admin){
		.opcode = SIMPLER_HW_ADMIN_RESUME }), 0);
	assert_int_equal(drv_wait(&high), 0);
	assert_int_equal(drv_wait(&low), 0);
	assert_int_equal(a[1], 7);
	assert_int_equal(a[2], 0);
}

static void clear_zeroes_what_it_names(void **state)
{
	struct fixture *f = *state;
	uint64_t addr = drv_alloc(&f->chip, 3 * 4096);
	unsigned char *at = drv_at(&f->chip, addr);

	memset(at, 1, 3 * 4096);
	assert_int_equal(drv_admin(&f->chip, (struct simpler_hw_admin){
		.opcode = SIMPLER_HW_ADMIN_CLEAR, .clear = { .addr = addr + 4096, .bytes = 4096 } }), 0);
	assert_int_equal(at[4095], 1);
	assert_int_equal(at[4096], 0);
	assert_int_equal(at[8191], 0);
	assert_int_equal(at[8192], 1);
	assert_int_equal(drv_admin(&f->chip, (struct simpler_hw_admin){
		.opcode = SIMPLER_HW_ADMIN_CLEAR, .clear = { .addr = addr + 8, .bytes = 16 } }), 0);
	assert_int_equal(at[7], 1);
	assert_int_equal(at[8], 0);
	assert_int_equal(at[24], 1);
}

static void reset_ends_contexts_and_counts_a_generation(void **state)
{
	struct fixture *f = *state;
	uint32_t before = f->chip.regs->generation;

	drv_reset(&f->chip);
	assert_int_equal(f->chip.regs->generation, before + 1);
	assert_int_equal(f->chip.regs->status, 0);
	assert_int_equal(f->chip.regs->control, 0);
	assert_int_equal(drv_counter(&f->host, 0, "executors"), 0);
	assert_int_equal(drv_counter(&f->host, 0, "streams"), 0);
	assert_int_equal(drv_enable(&f->chip), SIMPLER_HW_STATUS_ENABLED);
	drv_context_create(&f->context, &f->chip, 0);
	assert_int_equal(drv_stream_create(&f->stream, &f->context, 0), 0);
	assert_int_equal(drv_run(&f->stream, (struct simpler_hw_cmd){ 0 }), 0);
}

/* What takes interrupts may be gone then: QEMU frees it when a chip is unplugged. */
static void a_stopped_chip_raises_no_interrupts(void **state)
{
	struct fixture *f = *state;

	f->chip.regs->control = 0;
	drv_interrupted(&f->chip, 0, false);
	assert_string_equal(drv_control(&f->host, "0 spurious-irq 0"), "ok");
	assert_string_equal(drv_control(&f->host, "0 thermal 99000"), "ok");
	assert_false(drv_interrupted(&f->chip, 0, false));
	f->chip.regs->control = SIMPLER_HW_CONTROL_ENABLE;
	assert_string_equal(drv_control(&f->host, "0 spurious-irq 0"), "ok");
	assert_true(drv_interrupted(&f->chip, 0, true));
	drv_reset(&f->chip);
	assert_false(drv_interrupted(&f->chip, 0, false));
}

static void a_new_machine_finds_zeroed_memory(void **state)
{
	struct fixture *f = *state;
	uint64_t addr = drv_alloc(&f->chip, 4096);

	memset(drv_at(&f->chip, addr), 0x77, 4096);
	drv_disconnect(&f->chip);
	drv_await_counter(&f->host, 0, "contexts", 0);
	drv_connect(&f->chip, &f->host, 0);
	assert_int_equal(*(unsigned char *)drv_at(&f->chip, addr), 0);
	assert_int_equal(f->chip.regs->magic, SIMPLER_HW_MAGIC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		host_test(register_page_describes_the_chip),
		host_test(heartbeat_rises),
		cmocka_unit_test(two_chips_have_architectures_of_their_own),
		host_test(fill_and_copy_within_device_memory),
		host_test(copies_reach_guest_memory_by_dma),
		host_test(blocks_of_two_mebibytes_are_mapped),
		host_test(a_program_is_uploaded_and_launched),
		host_test(fences_and_waits_order_streams),
		host_test(interrupt_at_the_awaited_sequence_number),
		host_test(a_fence_may_ask_for_an_interrupt),
		host_test(streams_of_one_vector_are_all_looked_at),
		host_test(the_same_address_is_another_page_in_another_context),
		host_test(mappings_made_before_the_context_are_seen),
		host_test(suspend_holds_commands_until_resume),
		host_test(streams_of_higher_priority_come_first),
		host_test(a_stream_of_higher_priority_gets_in_between),
		host_test(clear_zeroes_what_it_names),
		host_test(reset_ends_contexts_and_counts_a_generation),
		host_test(a_stopped_chip_raises_no_interrupts),
		host_test(a_new_machine_finds_zeroed_memory),
	};

	return host_run("simpler-vnpu", tests);
}
