// SPDX-License-Identifier: MIT
/* Contexts, seen from the device process: an executor each, and what it says. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "chip.h"

#define HIGH_FD 64	/* above the executor's numbers */

static void told_ready(struct watch *w);
static void exited_ready(struct watch *w);

/* ---- streams ---- */

void context_ban_stream(const struct vnpu_stream *s, struct vnpu_chip *chip)
{
	struct simpler_hw_ring *ring = (struct simpler_hw_ring *)(chip->bar + s->ring);

	/* release: pairs with the acquire of whoever finds out why nothing completes any more */
	__atomic_store_n(&ring->state, SIMPLER_HW_STREAM_BANNED, __ATOMIC_RELEASE);
}

static void ban_streams(struct vnpu_context *c)
{
	for (uint32_t i = 0; i < VNPU_MAX_STREAMS; i++)
		if (c->chip->streams[i].context == c)
			context_ban_stream(&c->chip->streams[i], c->chip);
}

void context_free(struct vnpu_context *c)
{
	for (uint32_t i = 0; i < VNPU_MAX_STREAMS; i++)
		if (c->chip->streams[i].context == c)
			c->chip->streams[i] = (struct vnpu_stream){ 0 };
	c->state = VNPU_CONTEXT_FREE;
	c->destroy = false;
}

/* ---- the executor ---- */

static int wait_for(pid_t pid, int flags)
{
	int status;
	pid_t got;

	do {
		got = waitpid(pid, &status, flags);
	} while (got < 0 && errno == EINTR);
	return got == pid ? status : -1;
}

/* In the child of fork(): the descriptors get their numbers, all others go. */
static void become_executor(const int fds[VNPU_FD_COUNT])
{
	int high[VNPU_FD_COUNT];

	for (int i = VNPU_FD_LINK; i < VNPU_FD_COUNT; i++)
		high[i] = fcntl(fds[i], F_DUPFD, HIGH_FD);
	for (int i = VNPU_FD_LINK; i < VNPU_FD_COUNT; i++)
		if (dup2(high[i], i) != i)
			_exit(126);
	syscall(SYS_close_range, VNPU_FD_COUNT, ~0u, 0);
	execl("/proc/self/exe", "simpler-vnpu", "--executor", (char *)NULL);
	_exit(127);
}

/* What the executor and this process have in common; all in @fds is the executor's end. */
struct outfit {
	int fds[VNPU_FD_COUNT];
	int told, handover;		/* our ends */
	struct vnpu_link *link;
};

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void outfit_drop(struct outfit *o, bool ours)
{
	close_fd(o->fds[VNPU_FD_LINK]);
	close_fd(o->fds[VNPU_FD_LISTENER]);
	if (!ours)
		return;
	close_fd(o->fds[VNPU_FD_WAKE]);
	close_fd(o->fds[VNPU_FD_TELL]);
	close_fd(o->handover);
	if (o->link)
		munmap(o->link, sizeof(*o->link));
}

static int make_link(struct outfit *o)
{
	int fd = memfd_create("simpler-vnpu-link", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	o->fds[VNPU_FD_LINK] = fd;
	if (fd < 0 || ftruncate(fd, sizeof(*o->link)) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	o->link = mmap(NULL, sizeof(*o->link), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (o->link == MAP_FAILED) {
		o->link = NULL;
		return -errno;
	}
	return 0;
}

static int outfit_make(struct outfit *o, struct vnpu_chip *chip)
{
	int host = chip_host_fd(chip);
	int ends[2];
	int rc;

	memset(o, 0, sizeof(*o));
	for (int i = 0; i < VNPU_FD_COUNT; i++)
		o->fds[i] = -1;
	o->handover = -1;
	rc = make_link(o);
	if (rc)
		return rc;
	o->fds[VNPU_FD_DEVICE] = chip->device_fd;
	o->fds[VNPU_FD_HOST] = host >= 0 ? host : STDIN_FILENO;
	o->fds[VNPU_FD_WAKE] = eventfd(0, EFD_CLOEXEC);
	o->fds[VNPU_FD_TELL] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (o->fds[VNPU_FD_WAKE] < 0 || o->fds[VNPU_FD_TELL] < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	o->handover = ends[0];
	o->fds[VNPU_FD_LISTENER] = ends[1];
	o->link->arch = chip->arch;
	o->link->device_id = chip->index;
	return 0;
}

static int watch_executor(struct vnpu_context *c, struct outfit *o)
{
	int pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	int rc;

	if (pidfd < 0)
		return -errno;
	rc = loop_add(&c->exited, pidfd, exited_ready);
	if (rc) {
		close(pidfd);
		return rc;
	}
	return loop_add(&c->told, o->fds[VNPU_FD_TELL], told_ready);
}

static int launch(struct vnpu_context *c, struct outfit *o)
{
	int rc;

	c->pid = fork();
	if (c->pid < 0)
		return -errno;
	if (!c->pid)
		become_executor(o->fds);
	rc = watch_executor(c, o);
	if (rc) {
		loop_close(&c->exited);
		kill(c->pid, SIGKILL);
		wait_for(c->pid, 0);
	}
	return rc;
}

int context_start(struct vnpu_chip *chip, uint32_t number, uint64_t page_table)
{
	struct vnpu_context *c = &chip->contexts[number];
	struct outfit o;
	int rc = outfit_make(&o, chip);

	if (!rc)
		rc = launch(c, &o);
	outfit_drop(&o, rc != 0);
	if (rc) {
		log_error("chip %u: no executor for context %u: %s", chip->index, number,
			  strerror(-rc));
		return rc;
	}
	c->state = VNPU_CONTEXT_LIVE;
	c->quiet = c->destroy = false;
	c->page_table = page_table;
	c->wake = o.fds[VNPU_FD_WAKE];
	c->handover = o.handover;
	c->link = o.link;
	c->serial = 1;
	c->request = (struct vnpu_request){ .op = VNPU_OP_HELLO };
	c->asked = c->waiting = true;
	c->deadline_ns = clock_mono_ns() + VNPU_REQUEST_NS;
	chip->counters.executors++;
	return 0;
}

/* Everything of an executor that has ended. */
static void cleanup(struct vnpu_context *c)
{
	loop_close(&c->exited);
	loop_close(&c->told);
	loop_close(&c->notify);
	close(c->wake);
	close_fd(c->handover);
	munmap(c->link, sizeof(*c->link));
	c->wake = c->handover = -1;
	c->link = NULL;
	c->pid = 0;
	c->asked = false;
}

bool context_end(struct vnpu_context *c, bool wait)
{
	if (c->state != VNPU_CONTEXT_LIVE && c->state != VNPU_CONTEXT_ENDING)
		return false;
	if (wait)
		c->waiting = true;
	c->quiet = true;
	if (c->state == VNPU_CONTEXT_LIVE)
		kill(c->pid, SIGKILL);
	c->state = VNPU_CONTEXT_ENDING;
	return true;
}

void context_freeze(struct vnpu_context *c, bool frozen)
{
	if (c->state == VNPU_CONTEXT_LIVE)
		kill(c->pid, frozen ? SIGSTOP : SIGCONT);
}

void context_fault(struct vnpu_context *c, uint32_t code, uint64_t address)
{
	struct simpler_hw_fault fault = {
		.code = code, .context = c->number, .stream = ~0u, .task = ~0ull, .core = ~0u,
		.func_id = ~0u, .address = address, .timestamp = clock_mono_ns(),
	};

	if (!c->quiet) {
		ban_streams(c);
		chip_fault(c->chip, &fault);
	}
	context_end(c, false);
}

static void answer_admin(struct vnpu_context *c, int result)
{
	if (!c->waiting)
		return;
	c->waiting = false;
	admin_answered(c->chip, result);
}

static void exited_ready(struct watch *w)
{
	struct vnpu_context *c = list_entry(w, struct vnpu_context, exited);
	bool expected = c->quiet;
	int status = wait_for(c->pid, WNOHANG);

	if (status < 0)
		return;
	if (!expected)
		log_warn("chip %u: the executor of context %u ended: %s %d", c->chip->index,
			 c->number, WIFSIGNALED(status) ? "signal" : "exit status",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	cleanup(c);
	c->state = VNPU_CONTEXT_BANNED;
	ban_streams(c);
	if (!expected)
		context_fault(c, SIMPLER_HW_FAULT_HARDWARE, 0);
	if (c->destroy)
		context_free(c);
	answer_admin(c, 0);
	chip_reset_step(c->chip);
}

/* ---- requests ---- */

void context_wake(struct vnpu_context *c)
{
	uint64_t one = 1;

	if (write(c->wake, &one, sizeof(one)) < 0)
		log_warn("chip %u: context %u: wake: %s", c->chip->index, c->number,
			 strerror(errno));
}

static void send_request(struct vnpu_context *c, const struct vnpu_request *request)
{
	c->request = c->link->request = *request;
	c->asked = true;
	c->deadline_ns = clock_mono_ns() + VNPU_REQUEST_NS;
	/* release: pairs with the executor's acquire of serial; the request is complete */
	atomic_store_explicit(&c->link->serial, ++c->serial, memory_order_release);
	context_wake(c);
}

bool context_ask(struct vnpu_context *c, const struct vnpu_request *request)
{
	if (c->state != VNPU_CONTEXT_LIVE)
		return false;
	if (c->asked) {
		/* the admin ring was restarted in the middle of a command */
		context_fault(c, SIMPLER_HW_FAULT_BAD_COMMAND, 0);
		return false;
	}
	send_request(c, request);
	c->waiting = true;
	return true;
}

bool context_ask_map(struct vnpu_context *c, uint64_t addr, uint64_t bytes)
{
	struct vnpu_chip *chip = c->chip;
	struct vnpu_request request = { .op = VNPU_OP_MAP, .addr = addr, .bytes = bytes };
	int count;

	if (c->state != VNPU_CONTEXT_LIVE)
		return false;
	count = pagetable_walk(&chip->memory, c->page_table, addr, bytes, chip->runs,
			       VNPU_MAX_RUNS);
	if (count < 0) {
		log_warn("chip %u: context %u: page tables of 0x%llx, %llu bytes: %s", chip->index,
			 c->number, (unsigned long long)addr, (unsigned long long)bytes,
			 strerror(-count));
		context_fault(c, SIMPLER_HW_FAULT_PAGE, addr);
		return false;
	}
	request.run_count = (uint32_t)count;
	memcpy(c->link->runs, chip->runs, (size_t)count * sizeof(*chip->runs));
	return context_ask(c, &request);
}

void context_check_deadline(struct vnpu_context *c)
{
	if (c->state != VNPU_CONTEXT_LIVE || !c->asked || !clock_passed(c->deadline_ns))
		return;
	log_warn("chip %u: context %u does not answer request %u; ended", c->chip->index,
		 c->number, c->request.op);
	context_fault(c, SIMPLER_HW_FAULT_WATCHDOG, 0);
}

/* ---- what the executor says ---- */

static void take_interrupts(struct vnpu_context *c)
{
	for (uint32_t w = 0; w < VNPU_MAX_STREAMS / 64; w++) {
		/* acquire: pairs with the release when the executor sets the bit */
		uint64_t bits = atomic_exchange_explicit(&c->link->interrupts[w], 0,
							 memory_order_acquire);

		while (bits) {
			uint32_t s = w * 64 + (uint32_t)__builtin_ctzll(bits);

			bits &= bits - 1;
			if (c->chip->streams[s].context == c)
				chip_stream_interrupt(c->chip, s);
		}
	}
}

static void take_fault(struct vnpu_context *c)
{
	struct simpler_hw_fault f;

	/* acquire: pairs with the executor's release; the record is complete */
	if (c->quiet || !atomic_load_explicit(&c->link->faulted, memory_order_acquire))
		return;
	f = c->link->fault;
	f.context = c->number;
	if (f.stream >= VNPU_MAX_STREAMS || c->chip->streams[f.stream].context != c)
		f.stream = ~0u;
	f.timestamp = clock_mono_ns();
	ban_streams(c);
	chip_fault(c->chip, &f);
	context_end(c, false);
}

static void finish_request(struct vnpu_context *c, int result)
{
	struct vnpu_chip *chip = c->chip;
	uint64_t top = 1ull << SIMPLER_HW_VA_BITS;

	switch (c->request.op) {
	case VNPU_OP_HELLO:
		if (!result)
			result = notify_open(c);
		if (result) {
			/* no context comes of it; the admin ring is told once it is gone */
			c->destroy = true;
			chip->admin.result = -ENOMEM;
			context_end(c, true);
			return;
		}
		/* the rest of the start: what the tables hold already; the admin ring goes on waiting */
		if (!context_ask_map(c, SIMPLER_HW_VA_MIN, top - SIMPLER_HW_VA_MIN))
			break;
		return;
	case VNPU_OP_STREAM_CREATE:
		if (result)
			chip->streams[c->request.stream] = (struct vnpu_stream){ 0 };
		break;
	case VNPU_OP_STREAM_DESTROY:
		if (!result)
			chip->streams[c->request.stream] = (struct vnpu_stream){ 0 };
		break;
	}
	answer_admin(c, result);
}

static void take_answer(struct vnpu_context *c)
{
	int result;

	/* acquire: pairs with the executor's release; the result and its mappings are there */
	if (!c->asked || c->state != VNPU_CONTEXT_LIVE ||
	    atomic_load_explicit(&c->link->answered, memory_order_acquire) != c->serial)
		return;
	c->asked = false;
	result = __atomic_load_n(&c->link->result, __ATOMIC_RELAXED);
	finish_request(c, result < -4095 || result > 0 ? -EINVAL : result);
}

static void told_ready(struct watch *w)
{
	struct vnpu_context *c = list_entry(w, struct vnpu_context, told);
	uint64_t count;

	if (read(w->fd, &count, sizeof(count)) != sizeof(count))
		return;
	take_interrupts(c);
	take_answer(c);
	if (c->link)
		take_fault(c);
}
