// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "host_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

#define DEADLINE_MS	20000
#define MAX_PAGES	4096
#define PAGE		SIMPLER_HW_PAGE_BYTES

extern char **environ;

static uint64_t deadline(void)
{
	return clock_mono_ns() + DEADLINE_MS * 1000000ull;
}

/* Between looks at memory that another process writes. */
static void look_again(uint64_t until, const char *what)
{
	if (clock_passed(until))
		fail_msg("%s did not happen within %d ms", what, DEADLINE_MS);
	poll(NULL, 0, 1);
}

/* ---- the program ---- */

static int connect_to(const struct drv_host *h, const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", h->dir, name);
	assert_true(fd >= 0);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		fail_msg("%s: %s", addr.sun_path, strerror(errno));
	return fd;
}

static void make_ram(struct drv_host *h)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/ram", h->dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && !ftruncate(fd, DRV_RAM_BYTES));
	h->ram = mmap(NULL, DRV_RAM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(h->ram, MAP_FAILED);
	close(fd);
}

static void spawn_vnpu(struct drv_host *h, int out)
{
	char program[256], ram[64], control[64], chip[DRV_MAX_CHIPS][96];
	char *argv[16] = { program, "--ram", ram, "--control", control };
	posix_spawn_file_actions_t actions;
	uint32_t n = 5;

	snprintf(program, sizeof(program), "%s/bin/simpler-vnpu", getenv("SIMPLER_BUILD_DIR"));
	snprintf(ram, sizeof(ram), "%s/ram", h->dir);
	snprintf(control, sizeof(control), "%s/control", h->dir);
	for (uint32_t i = 0; i < h->chips; i++) {
		snprintf(chip[i], sizeof(chip[i]), "socket=%s/chip%u,memory=64,vectors=%d,arch=%s",
			 h->dir, i, DRV_VECTORS, i ? "a5" : "a2a3");
		argv[n++] = "--chip";
		argv[n++] = chip[i];
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	assert_int_equal(posix_spawn(&h->pid, program, &actions, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
}

void drv_host_start(struct drv_host *h, uint32_t chips)
{
	char ready[6] = "";
	int ends[2];

	if (!getenv("SIMPLER_BUILD_DIR"))
		fail_msg("SIMPLER_BUILD_DIR is not set: it names the folder with simpler-vnpu");
	*h = (struct drv_host){ .dir = "/tmp/simpler-vnpu-XXXXXX", .chips = chips };
	assert_non_null(mkdtemp(h->dir));
	make_ram(h);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	spawn_vnpu(h, ends[1]);
	close(ends[1]);
	assert_int_equal(read(ends[0], ready, sizeof(ready)), sizeof(ready));
	assert_memory_equal(ready, "ready\n", sizeof(ready));
	close(ends[0]);
	h->control = connect_to(h, "control");
}

static void remove_files(const struct drv_host *h)
{
	static const char *const names[] = { "ram", "control", "chip0", "chip1" };
	char path[64];

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", h->dir, names[i]);
		unlink(path);
	}
	rmdir(h->dir);
}

void drv_host_stop(struct drv_host *h)
{
	int status;

	close(h->control);
	kill(h->pid, SIGTERM);
	assert_int_equal(waitpid(h->pid, &status, 0), h->pid);
	munmap(h->ram, DRV_RAM_BYTES);
	remove_files(h);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

const char *drv_control(struct drv_host *h, const char *format, ...)
{
	static char text[512];
	va_list args;
	size_t n;

	va_start(args, format);
	n = (size_t)vsnprintf(text, sizeof(text) - 1, format, args);
	va_end(args);
	text[n++] = '\n';
	assert_int_equal(write(h->control, text, n), n);
	for (n = 0; !n || text[n - 1] != '\n'; n++) {
		struct pollfd ready = { .fd = h->control, .events = POLLIN };

		assert_true(n < sizeof(text) && poll(&ready, 1, DEADLINE_MS) == 1);
		assert_int_equal(read(h->control, text + n, 1), 1);
	}
	text[n - 1] = '\0';
	return text;
}

uint64_t drv_counter(struct drv_host *h, uint32_t chip, const char *name)
{
	const char *at = strstr(drv_control(h, "%u counters", chip), name);

	assert_non_null(at);
	return strtoull(at + strlen(name) + 1, NULL, 10);
}

void drv_await_counter(struct drv_host *h, uint32_t chip, const char *name, uint64_t value)
{
	uint64_t until = deadline();

	while (drv_counter(h, chip, name) != value)
		look_again(until, name);
}

/* ---- the socket of a chip ---- */

static int64_t receive(int socket, int *fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	int64_t number;
	struct iovec iov = { &number, sizeof(number) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };

	*fd = -1;
	assert_int_equal(recvmsg(socket, &msg, MSG_CMSG_CLOEXEC | MSG_WAITALL), sizeof(number));
	if (CMSG_FIRSTHDR(&msg))
		memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(*fd));
	return number;
}

static void receive_vectors(struct drv_chip *c, int64_t peer, int fds[DRV_VECTORS])
{
	for (int v = 0; v < DRV_VECTORS; v++) {
		assert_int_equal(receive(c->socket, &fds[v]), peer);
		assert_true(fds[v] >= 0);
	}
}

void drv_connect(struct drv_chip *c, struct drv_host *h, uint32_t index)
{
	struct stat st;
	char name[16];
	int fd;

	memset(c, 0, sizeof(*c));
	c->host = h;
	snprintf(name, sizeof(name), "chip%u", index);
	c->socket = connect_to(h, name);
	assert_int_equal(receive(c->socket, &fd), 0);	/* version */
	assert_int_equal(receive(c->socket, &fd), 0);	/* our number */
	assert_int_equal(receive(c->socket, &c->memory_fd), -1);
	receive_vectors(c, 1, c->doorbells);
	receive_vectors(c, 0, c->interrupts);
	assert_int_equal(fstat(c->memory_fd, &st), 0);
	c->bar_bytes = (uint64_t)st.st_size;
	c->bar = mmap(NULL, c->bar_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->memory_fd, 0);
	assert_ptr_not_equal(c->bar, MAP_FAILED);
	c->regs = (struct simpler_hw_regs *)c->bar;
	c->next = c->regs->memory_base;
}

void drv_disconnect(struct drv_chip *c)
{
	for (int v = 0; v < DRV_VECTORS; v++) {
		close(c->doorbells[v]);
		close(c->interrupts[v]);
	}
	munmap(c->bar, c->bar_bytes);
	close(c->memory_fd);
	close(c->socket);
}

void drv_doorbell(struct drv_chip *c, uint32_t vector)
{
	uint64_t one = 1;

	assert_int_equal(write(c->doorbells[vector], &one, sizeof(one)), sizeof(one));
}

bool drv_interrupted(struct drv_chip *c, uint32_t vector, bool wait)
{
	struct pollfd ready = { .fd = c->interrupts[vector], .events = POLLIN };
	uint64_t count;

	return poll(&ready, 1, wait ? DEADLINE_MS : 0) == 1 &&
	       read(c->interrupts[vector], &count, sizeof(count)) == sizeof(count);
}

void *drv_at(struct drv_chip *c, uint64_t addr)
{
	return c->bar + addr;
}

uint64_t drv_alloc(struct drv_chip *c, uint64_t bytes)
{
	uint64_t addr = c->next;

	c->next += (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	assert_true(c->next <= c->regs->memory_base + c->regs->memory_bytes);
	memset(drv_at(c, addr), 0, c->next - addr);
	return addr;
}

uint32_t drv_enable(struct drv_chip *c)
{
	uint64_t until = deadline();

	c->regs->admin_ring = drv_alloc(c, sizeof(*c->admin) +
					   DRV_ADMIN_ENTRIES * SIMPLER_HW_CMD_BYTES);
	c->regs->admin_entries = DRV_ADMIN_ENTRIES;
	c->regs->fault_ring = drv_alloc(c, DRV_FAULT_ENTRIES * sizeof(struct simpler_hw_fault));
	c->regs->fault_entries = DRV_FAULT_ENTRIES;
	c->regs->fault_consumer = c->fault_consumer = 0;
	c->admin = drv_at(c, c->regs->admin_ring);
	c->admin_seqno = 0;
	c->regs->control = SIMPLER_HW_CONTROL_ENABLE;
	drv_doorbell(c, 0);
	while (!__atomic_load_n(&c->regs->status, __ATOMIC_ACQUIRE))
		look_again(until, "enabling");
	return c->regs->status;
}

void drv_reset(struct drv_chip *c)
{
	uint32_t before = c->regs->generation;
	uint64_t until = deadline();

	c->regs->reset_control = SIMPLER_HW_RESET_DEVICE;
	drv_doorbell(c, 0);
	while (__atomic_load_n(&c->regs->generation, __ATOMIC_ACQUIRE) == before ||
	       __atomic_load_n(&c->regs->reset_status, __ATOMIC_ACQUIRE))
		look_again(until, "a reset");
	c->next = c->regs->memory_base;
}

/* ---- admin ring; step numbers as in simpler_hw.h ---- */

void drv_admin_push(struct drv_chip *c, struct simpler_hw_admin cmd)
{
	struct simpler_hw_admin *slots = (struct simpler_hw_admin *)(c->admin + 1);

	slots[c->admin_seqno++ % DRV_ADMIN_ENTRIES] = cmd;
	/* release (step 3): pairs with the device's acquire (step 4) */
	__atomic_store_n(&c->admin->producer, (uint32_t)c->admin_seqno, __ATOMIC_RELEASE);
	drv_doorbell(c, 0);
}

int drv_admin_wait(struct drv_chip *c)
{
	uint64_t until = deadline();
	int rc;

	/* acquire (step 10): pairs with the device's release (step 8) */
	while (__atomic_load_n(&c->admin->completed, __ATOMIC_ACQUIRE) < c->admin_seqno)
		look_again(until, "an admin command");
	rc = c->admin->error;
	c->admin->error = 0;
	c->admin->error_seqno = 0;
	return rc;
}

int drv_admin(struct drv_chip *c, struct simpler_hw_admin cmd)
{
	drv_admin_push(c, cmd);
	return drv_admin_wait(c);
}

struct simpler_hw_fault drv_fault(struct drv_chip *c)
{
	const struct simpler_hw_fault *ring = drv_at(c, c->regs->fault_ring);
	struct simpler_hw_fault f;
	uint64_t until = deadline();

	/* acquire: pairs with the device's release of fault_producer */
	while (__atomic_load_n(&c->regs->fault_producer, __ATOMIC_ACQUIRE) == c->fault_consumer)
		look_again(until, "a fault record");
	f = ring[c->fault_consumer++ % DRV_FAULT_ENTRIES];
	/* release: pairs with the device's acquire of fault_consumer */
	__atomic_store_n(&c->regs->fault_consumer, c->fault_consumer, __ATOMIC_RELEASE);
	return f;
}

/* ---- contexts ---- */

void drv_context_create(struct drv_context *x, struct drv_chip *c, uint32_t number)
{
	int rc;

	*x = (struct drv_context){ .chip = c, .number = number, .root = drv_alloc(c, PAGE),
				   .next_va = SIMPLER_HW_VA_MIN + (1ull << 30) };
	rc = drv_admin(c, (struct simpler_hw_admin){
		.opcode = SIMPLER_HW_ADMIN_CONTEXT_CREATE, .context = number,
		.context_create.page_table = x->root });
	assert_int_equal(rc, 0);
}

int drv_context_destroy(struct drv_context *x)
{
	return drv_admin(x->chip, (struct simpler_hw_admin){
		.opcode = SIMPLER_HW_ADMIN_CONTEXT_DESTROY, .context = x->number });
}

void drv_map_page(struct drv_context *x, uint64_t va, uint64_t pte)
{
	uint64_t table = x->root;
	uint64_t *entry;

	for (int level = 2; level; level--) {
		entry = (uint64_t *)drv_at(x->chip, table) + (va >> (12 + 9 * level)) % 512;
		if (!*entry)
			*entry = drv_alloc(x->chip, PAGE) | SIMPLER_HW_PTE_VALID;
		table = *entry & SIMPLER_HW_PTE_ADDR;
	}
	((uint64_t *)drv_at(x->chip, table))[(va >> 12) % 512] = pte;
}

void drv_map_changed(struct drv_context *x, uint64_t va, uint64_t bytes)
{
	int rc = drv_admin(x->chip, (struct simpler_hw_admin){
		.opcode = SIMPLER_HW_ADMIN_MAP_CHANGED, .context = x->number,
		.map = { .addr = va, .bytes = bytes } });

	assert_int_equal(rc, 0);
}

static uint64_t map_range(struct drv_context *x, uint64_t addr, uint64_t bytes, uint64_t bits)
{
	uint64_t rounded = (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	uint64_t va = x->next_va;

	for (uint64_t at = 0; at < rounded; at += PAGE)
		drv_map_page(x, va + at, (addr + at) | bits | SIMPLER_HW_PTE_VALID);
	x->next_va += rounded + PAGE;	/* a hole behind each */
	drv_map_changed(x, va, rounded);
	return va;
}

uint64_t drv_buffer(struct drv_context *x, uint64_t bytes, void *data)
{
	uint64_t addr = drv_alloc(x->chip, bytes);

	*(void **)data = drv_at(x->chip, addr);
	return map_range(x, addr, bytes, SIMPLER_HW_PTE_WRITE);
}

uint64_t drv_host_buffer(struct drv_context *x, uint64_t offset, uint64_t bytes, bool write)
{
	return map_range(x, offset, bytes,
			 SIMPLER_HW_PTE_HOST | (write ? SIMPLER_HW_PTE_WRITE : 0));
}

/* ---- streams ---- */

int drv_stream_create(struct drv_stream *s, struct drv_context *x, uint32_t number)
{
	return drv_stream_create_at(s, x, number, 1);
}

int drv_stream_create_at(struct drv_stream *s, struct drv_context *x, uint32_t number,
			 uint32_t priority)
{
	uint64_t ring;

	*s = (struct drv_stream){ .context = x, .number = number, .entries = 64 };
	ring = drv_alloc(x->chip, sizeof(*s->ring) + s->entries * SIMPLER_HW_CMD_BYTES);
	s->ring = drv_at(x->chip, ring);
	return drv_admin(x->chip, (struct simpler_hw_admin){
		.opcode = SIMPLER_HW_ADMIN_STREAM_CREATE, .context = x->number,
		.stream = { .stream = number, .entries = s->entries, .ring = ring,
			    .priority = priority } });
}

int drv_stream_destroy(struct drv_stream *s)
{
	return drv_admin(s->context->chip, (struct simpler_hw_admin){
		.opcode = SIMPLER_HW_ADMIN_STREAM_DESTROY, .context = s->context->number,
		.stream.stream = s->number });
}

void drv_push(struct drv_stream *s, struct simpler_hw_cmd cmd)
{
	((struct simpler_hw_cmd *)(s->ring + 1))[s->seqno++ % s->entries] = cmd;
	/* release (step 3): pairs with the device's acquire (step 4) */
	__atomic_store_n(&s->ring->producer, (uint32_t)s->seqno, __ATOMIC_RELEASE);
}

void drv_ring(struct drv_stream *s)
{
	drv_doorbell(s->context->chip, 1 + s->number % (DRV_VECTORS - 1));
}

uint64_t drv_completed(const struct drv_stream *s)
{
	/* acquire (step 10): pairs with the device's release (step 8) */
	return __atomic_load_n(&s->ring->completed, __ATOMIC_ACQUIRE);
}

int drv_wait(struct drv_stream *s)
{
	uint64_t until = deadline();

	while (drv_completed(s) < s->seqno) {
		/* acquire: pairs with the device's release of state */
		if (__atomic_load_n(&s->ring->state, __ATOMIC_ACQUIRE) == SIMPLER_HW_STREAM_BANNED)
			return drv_completed(s) < s->seqno ? -1 : 0;
		look_again(until, "a command");
	}
	return 0;
}

int drv_run(struct drv_stream *s, struct simpler_hw_cmd cmd)
{
	drv_push(s, cmd);
	drv_ring(s);
	return drv_wait(s) ? -1 : s->ring->error;
}

/* ---- the probe program ---- */

static void *read_object(const char *folder, size_t *bytes)
{
	char path[256];
	struct stat st;
	void *data;
	int fd;

	snprintf(path, sizeof(path), "%s/tests/vm/device/%s/probe-a2a3sim.so",
		 getenv("SIMPLER_BUILD_DIR"), folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		fail_msg("%s: %s", path, strerror(errno));
	*bytes = (size_t)st.st_size;
	data = malloc(*bytes);
	assert_int_equal(read(fd, data, *bytes), st.st_size);
	close(fd);
	return data;
}

static void fill_callable(struct simpler_hw_chip_callable *c, const void *orch, size_t orch_bytes,
			  const void *kernel, size_t kernel_bytes)
{
	uint32_t offset = (uint32_t)(orch_bytes + 63) & ~63u;
	struct simpler_hw_core_callable *k = (void *)((char *)(c + 1) + offset);

	c->binary_size = (uint32_t)orch_bytes;
	strcpy(c->func_name, "aicpu_orchestration_entry");
	c->func_name_len = (uint32_t)strlen(c->func_name);
	strcpy(c->config_name, "aicpu_orchestration_config");
	c->config_name_len = (uint32_t)strlen(c->config_name);
	c->child_count = 1;
	c->child_offsets[0] = offset;
	memcpy(c + 1, orch, orch_bytes);
	k->binary_size = (uint32_t)kernel_bytes;
	memcpy(k + 1, kernel, kernel_bytes);
}

static void upload(struct drv_program *p)
{
	size_t orch_bytes, kernel_bytes, bytes;
	void *orch = read_object("orchestration", &orch_bytes);
	void *kernel = read_object("kernels", &kernel_bytes);
	struct simpler_hw_chip_callable *c;
	uint64_t va;
	int rc;

	bytes = sizeof(*c) + ((orch_bytes + 63) & ~63ul) +
		sizeof(struct simpler_hw_core_callable) + ((kernel_bytes + 63) & ~63ul);
	va = drv_buffer(p->stream->context, bytes, &c);
	fill_callable(c, orch, orch_bytes, kernel, kernel_bytes);
	free(orch);
	free(kernel);
	p->launch->status.bytes = sizeof(p->launch->status);
	rc = drv_run(p->stream, (struct simpler_hw_cmd){
		.opcode = SIMPLER_HW_OP_UPLOAD, .upload = { .addr = va, .bytes = bytes, .slot = 3,
		.status = p->launch_va + offsetof(struct drv_launch, status) } });
	if (rc || p->launch->status.code)
		fail_msg("upload: %d: %s", rc, p->launch->status.text);
}

void drv_program_load(struct drv_program *p, struct drv_stream *s)
{
	struct simpler_hw_launch *l;
	void *data;

	p->stream = s;
	p->x = drv_buffer(s->context, 64 * sizeof(uint64_t), &data);
	p->data = data;
	p->launch_va = drv_buffer(s->context, sizeof(*p->launch), &p->launch);
	upload(p);
	l = &p->launch->launch;
	l->bytes = sizeof(*l);
	l->tensor_count = 1;
	l->scalar_count = 3;
	l->tensors = p->launch_va + offsetof(struct drv_launch, tensor);
	l->scalars = p->launch_va + offsetof(struct drv_launch, scalars);
	l->status = p->launch_va + offsetof(struct drv_launch, status);
	p->launch->tensor = (struct simpler_hw_tensor){
		.addr = p->x, .bytes = 64 * sizeof(uint64_t), .owner = ~0ull, .ndims = 1,
		.dtype = 8, .is_contiguous = 1, .address_space = 1, .shapes = { 64 },
		.extent = 64, .strides = { 1 },
	};
}

void drv_program_begin(struct drv_program *p, enum drv_probe mode, uint64_t address, uint64_t value)
{
	p->launch->scalars[0] = mode;
	p->launch->scalars[1] = address;
	p->launch->scalars[2] = value;
	memset(&p->launch->status, 0xee, sizeof(p->launch->status));
	drv_push(p->stream, (struct simpler_hw_cmd){
		.opcode = SIMPLER_HW_OP_LAUNCH, .launch = { .desc = p->launch_va,
		.desc_bytes = sizeof(struct simpler_hw_launch), .slot = 3 } });
	drv_ring(p->stream);
}

int drv_program_run(struct drv_program *p, enum drv_probe mode, uint64_t address, uint64_t value)
{
	drv_program_begin(p, mode, address, value);
	return drv_wait(p->stream) ? -1 : p->launch->status.code;
}
