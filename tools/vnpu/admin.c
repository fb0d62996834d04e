// SPDX-License-Identifier: MIT
/* The admin ring: a table of checked commands, executed in order. */
#include <errno.h>
#include <stddef.h>

#include "chip.h"

/* A command that executors have to finish; admin_answered() ends it. */
#define LATER 1

/* ---- contexts ---- */

static struct vnpu_context *find_context(struct vnpu_chip *chip, uint32_t number)
{
	struct vnpu_context *c = number < VNPU_MAX_CONTEXTS ? &chip->contexts[number] : NULL;

	return c && c->state != VNPU_CONTEXT_FREE ? c : NULL;
}

static int context_create(struct vnpu_chip *chip, const struct simpler_hw_admin *cmd)
{
	uint64_t root = cmd->context_create.page_table;
	int rc;

	if (cmd->context >= VNPU_MAX_CONTEXTS || !pagetable_is_page(&chip->memory, root))
		return -EINVAL;
	if (find_context(chip, cmd->context))
		return -EEXIST;
	rc = context_start(chip, cmd->context, root);
	if (rc)
		return -ENOMEM;
	chip->admin.pending = 1;
	return LATER;
}

static int context_destroy(struct vnpu_chip *chip, const struct simpler_hw_admin *cmd)
{
	struct vnpu_context *c = find_context(chip, cmd->context);

	if (!c)
		return -ENOENT;
	c->destroy = true;
	if (context_end(c, true)) {
		chip->admin.pending = 1;
		return LATER;
	}
	context_free(c);
	return 0;
}

static int context_stop(struct vnpu_chip *chip, const struct simpler_hw_admin *cmd)
{
	struct vnpu_context *c = find_context(chip, cmd->context);

	if (!c)
		return -ENOENT;
	if (!context_end(c, true))
		return 0;
	chip->admin.pending = 1;
	return LATER;
}

static int map_changed(struct vnpu_chip *chip, const struct simpler_hw_admin *cmd)
{
	struct vnpu_context *c = find_context(chip, cmd->context);

	if (!c)
		return -ENOENT;
	if ((cmd->map.addr | cmd->map.bytes) % SIMPLER_HW_PAGE_BYTES ||
	    cmd->map.addr + cmd->map.bytes < cmd->map.addr)
		return -EINVAL;
	if (!context_ask_map(c, cmd->map.addr, cmd->map.bytes))
		return 0;
	chip->admin.pending = 1;
	return LATER;
}

/* ---- streams ---- */

static int check_stream(struct vnpu_chip *chip, const struct simpler_hw_admin *cmd)
{
	uint32_t entries = cmd->stream.entries;
	uint64_t bytes = sizeof(struct simpler_hw_ring) + (uint64_t)entries * SIMPLER_HW_CMD_BYTES;

	if (cmd->stream.stream >= VNPU_MAX_STREAMS || cmd->stream.reserved ||
	    cmd->stream.priority > 2 || entries < SIMPLER_HW_RING_MIN_ENTRIES ||
	    entries > SIMPLER_HW_RING_MAX_ENTRIES || entries & (entries - 1) ||
	    cmd->stream.ring % 64 || !chip_has_memory(chip, cmd->stream.ring, bytes))
		return -EINVAL;
	return 0;
}

static int stream_create(struct vnpu_chip *chip, const struct simpler_hw_admin *cmd)
{
	struct vnpu_context *c = find_context(chip, cmd->context);
	struct vnpu_request request = {
		.op = VNPU_OP_STREAM_CREATE,
		.stream = cmd->stream.stream,
		.entries = cmd->stream.entries,
		.ring = cmd->stream.ring,
		.priority = cmd->stream.priority,
	};
	struct vnpu_stream *s;
	int rc = check_stream(chip, cmd);

	if (rc || !c)
		return rc ? rc : -ENOENT;
	s = &chip->streams[request.stream];
	if (s->context)
		return -EEXIST;
	*s = (struct vnpu_stream){ c, request.ring, request.entries };
	if (!context_ask(c, &request)) {
		context_ban_stream(s, chip);
		return 0;
	}
	chip->admin.pending = 1;
	return LATER;
}

static int stream_destroy(struct vnpu_chip *chip, const struct simpler_hw_admin *cmd)
{
	struct vnpu_context *c = find_context(chip, cmd->context);
	struct vnpu_request request = {
		.op = VNPU_OP_STREAM_DESTROY,
		.stream = cmd->stream.stream,
	};

	if (cmd->stream.entries || cmd->stream.ring || cmd->stream.priority || cmd->stream.reserved)
		return -EINVAL;
	if (!c || request.stream >= VNPU_MAX_STREAMS || chip->streams[request.stream].context != c)
		return -ENOENT;
	if (context_ask(c, &request)) {
		chip->admin.pending = 1;
		return LATER;
	}
	chip->streams[request.stream] = (struct vnpu_stream){ 0 };
	return 0;
}

/* ---- the whole chip ---- */

static int clear(struct vnpu_chip *chip, const struct simpler_hw_admin *cmd)
{
	if ((cmd->clear.addr | cmd->clear.bytes) % 8 ||
	    !chip_has_memory(chip, cmd->clear.addr, cmd->clear.bytes))
		return -EINVAL;
	chip_clear(chip, cmd->clear.addr, cmd->clear.bytes);
	return 0;
}

static int ask_all(struct vnpu_chip *chip, uint32_t op)
{
	struct vnpu_request request = { .op = op };

	for (uint32_t i = 0; i < VNPU_MAX_CONTEXTS; i++)
		if (context_ask(&chip->contexts[i], &request))
			chip->admin.pending++;
	return chip->admin.pending ? LATER : 0;
}

static int suspend(struct vnpu_chip *chip, const struct simpler_hw_admin *cmd)
{
	(void)cmd;
	if (chip->suspended)
		return 0;
	chip->suspended = true;
	return ask_all(chip, VNPU_OP_PAUSE);
}

static int resume(struct vnpu_chip *chip, const struct simpler_hw_admin *cmd)
{
	(void)cmd;
	if (!chip->suspended)
		return 0;
	chip->suspended = false;
	return ask_all(chip, VNPU_OP_RESUME);
}

/* ---- the table ---- */

struct admin_command {
	int (*run)(struct vnpu_chip *chip, const struct simpler_hw_admin *cmd);
	uint8_t words;			/* used; the rest must be zero */
	bool context;			/* names one */
};

static const struct admin_command commands[] = {
	[SIMPLER_HW_ADMIN_CONTEXT_CREATE - 64] = { context_create, 1, true },
	[SIMPLER_HW_ADMIN_CONTEXT_DESTROY - 64] = { context_destroy, 0, true },
	[SIMPLER_HW_ADMIN_CONTEXT_STOP - 64] = { context_stop, 0, true },
	[SIMPLER_HW_ADMIN_STREAM_CREATE - 64] = { stream_create, 3, true },
	[SIMPLER_HW_ADMIN_STREAM_DESTROY - 64] = { stream_destroy, 3, true },
	[SIMPLER_HW_ADMIN_MAP_CHANGED - 64] = { map_changed, 2, true },
	[SIMPLER_HW_ADMIN_CLEAR - 64] = { clear, 2, false },
	[SIMPLER_HW_ADMIN_SUSPEND - 64] = { suspend, 0, false },
	[SIMPLER_HW_ADMIN_RESUME - 64] = { resume, 0, false },
};

static int execute(struct vnpu_chip *chip, const struct simpler_hw_admin *cmd)
{
	uint32_t index = cmd->opcode - 64u;
	const struct admin_command *entry;

	if (index >= sizeof(commands) / sizeof(commands[0]))
		return -EINVAL;
	entry = &commands[index];
	if (cmd->flags || cmd->reserved || (!entry->context && cmd->context))
		return -EINVAL;
	for (int i = entry->words; i < 7; i++)
		if (cmd->words[i])
			return -EINVAL;
	return entry->run(chip, cmd);
}

/* ---- the ring; step numbers as in simpler_hw.h ---- */

static struct simpler_hw_ring *ring_of(struct vnpu_chip *chip)
{
	return (struct simpler_hw_ring *)(chip->bar + chip->admin.ring);
}

static void complete(struct vnpu_chip *chip, int rc)
{
	struct simpler_hw_ring *ring = ring_of(chip);
	struct vnpu_admin *a = &chip->admin;

	a->busy = false;
	a->consumer++;
	a->completed++;
	/* relaxed: the driver clears it while no command is queued; step 8 orders the new value */
	if (rc && !__atomic_load_n(&ring->error, __ATOMIC_RELAXED)) {
		__atomic_store_n(&ring->error_seqno, a->completed, __ATOMIC_RELAXED);
		__atomic_store_n(&ring->error, rc, __ATOMIC_RELAXED);
	}
	/* release (step 8): pairs with the driver's acquire (step 10) */
	__atomic_store_n(&ring->completed, a->completed, __ATOMIC_RELEASE);
	/* release (step 9): pairs with the driver's acquire (step 1) */
	__atomic_store_n(&ring->consumer, a->consumer, __ATOMIC_RELEASE);
	chip_interrupt(chip, 0);
}

/* The ring cannot be made sense of: nothing more is read from it until a reset. */
static void give_up(struct vnpu_chip *chip)
{
	struct simpler_hw_fault fault = {
		.code = SIMPLER_HW_FAULT_BAD_COMMAND, .context = ~0u, .stream = ~0u,
		.seqno = chip->admin.completed + 1, .task = ~0ull, .core = ~0u, .func_id = ~0u,
	};

	chip_fault(chip, &fault);
	chip->admin.enabled = false;
	chip_set_health(chip, SIMPLER_HW_HEALTH_DEAD);
	chip->dead = true;
}

static void step(struct vnpu_chip *chip)
{
	const struct simpler_hw_admin *ring = (const void *)(ring_of(chip) + 1);
	struct vnpu_admin *a = &chip->admin;
	int rc;

	/* copied before it is checked: the guest may change it at any time */
	a->command = ring[a->consumer & (a->entries - 1)];
	__asm__ volatile("" ::: "memory");
	a->busy = true;
	a->pending = 0;
	a->result = 0;
	rc = execute(chip, &a->command);
	if (rc != LATER)
		complete(chip, rc);
}

void admin_run(struct vnpu_chip *chip)
{
	struct vnpu_admin *a = &chip->admin;

	while (a->enabled && !a->busy && !chip->dead) {
		/* acquire (step 4): pairs with the driver's release (step 3) */
		uint32_t producer = __atomic_load_n(&ring_of(chip)->producer, __ATOMIC_ACQUIRE);

		if (producer == a->consumer)
			return;
		if (producer - a->consumer > a->entries)
			give_up(chip);
		else
			step(chip);
	}
}

void admin_answered(struct vnpu_chip *chip, int result)
{
	struct vnpu_admin *a = &chip->admin;

	if (!a->busy)
		return;
	if (result)
		a->result = result;
	if (--a->pending)
		return;
	complete(chip, a->result);
	admin_run(chip);
}

int admin_enable(struct vnpu_chip *chip, uint64_t ring, uint32_t entries)
{
	uint64_t bytes = sizeof(struct simpler_hw_ring) + (uint64_t)entries * SIMPLER_HW_CMD_BYTES;
	struct vnpu_admin *a = &chip->admin;

	if (entries < SIMPLER_HW_RING_MIN_ENTRIES || entries > SIMPLER_HW_RING_MAX_ENTRIES ||
	    entries & (entries - 1) || ring % 64 || !chip_has_memory(chip, ring, bytes))
		return -EINVAL;
	*a = (struct vnpu_admin){ .enabled = true, .ring = ring, .entries = entries };
	ring_of(chip)->consumer = 0;
	ring_of(chip)->state = SIMPLER_HW_STREAM_READY;
	ring_of(chip)->completed = 0;
	return 0;
}

void admin_disable(struct vnpu_chip *chip)
{
	chip->admin.enabled = false;
	chip->admin.busy = false;
	for (uint32_t i = 0; i < VNPU_MAX_CONTEXTS; i++)
		chip->contexts[i].waiting = false;
}
