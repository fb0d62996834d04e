// SPDX-License-Identifier: MIT
/*
 * What an executor gives up: capabilities, files (Landlock), and all system
 * calls that neither the model nor the dynamic linker needs (seccomp).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "link.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "no list of system calls for this architecture"
#endif

#define VA_END_HIGH ((uint32_t)((1ull << SIMPLER_HW_VA_BITS) >> 32))

/* ---- files ---- */

/* Bits of the first version of Landlock, 13 of them. */
#define LANDLOCK_ALL_FILES ((1ull << 13) - 1)

static void leave_files(void)
{
	struct landlock_ruleset_attr attr = { .handled_access_fs = LANDLOCK_ALL_FILES };
	int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);

	if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0))
		log_warn("this kernel has no Landlock (%s): kernels of the guest can open files of "
			 "the user that runs the device", strerror(errno));
	if (fd >= 0)
		close(fd);
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

/* ---- system calls ---- */

static const int plain_calls[] = {
	SYS_brk, SYS_clock_gettime, SYS_clock_nanosleep, SYS_close, SYS_exit, SYS_exit_group,
	SYS_faccessat, SYS_faccessat2, SYS_fstat, SYS_futex, SYS_getpid, SYS_getrandom, SYS_gettid,
	SYS_lseek, SYS_madvise, SYS_membarrier, SYS_memfd_create, SYS_munmap, SYS_nanosleep,
	SYS_newfstatat, SYS_openat, SYS_prlimit64, SYS_restart_syscall, SYS_rseq,
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sched_getaffinity,
	SYS_sched_yield, SYS_set_robust_list, SYS_sigaltstack, SYS_sysinfo, SYS_uname,
#ifdef SYS_access
	SYS_access,
#endif
};

/* With a descriptor first, which may not be a memory file. */
static const int file_calls[] = { SYS_pread64, SYS_read, SYS_write };

#define MAX_FILTER 256

struct filter {
	struct sock_filter code[MAX_FILTER];
	unsigned short count;
};

static void emit(struct filter *f, struct sock_filter instruction)
{
	if (f->count < MAX_FILTER)
		f->code[f->count] = instruction;
	f->count++;
}

static void load(struct filter *f, size_t offset)
{
	emit(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void give(struct filter *f, uint32_t verdict)
{
	emit(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

/* Skips @skip instructions when the comparison fails. */
static void test(struct filter *f, unsigned int comparison, uint32_t value, unsigned int skip)
{
	emit(f, (struct sock_filter)BPF_JUMP(BPF_JMP | comparison | BPF_K, value, 0,
					     (unsigned char)skip));
}

#define ARG_LOW(n)	(offsetof(struct seccomp_data, args) + (n) * sizeof(uint64_t))
#define ARG_HIGH(n)	(ARG_LOW(n) + sizeof(uint32_t))
#define REFUSE(code)	(SECCOMP_RET_ERRNO | (code))

static void begin(struct filter *f)
{
	load(f, offsetof(struct seccomp_data, arch));
	test(f, BPF_JEQ, NATIVE_ARCH, 1);
	emit(f, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1));
	give(f, SECCOMP_RET_KILL_PROCESS);
	load(f, offsetof(struct seccomp_data, nr));
}

/* mmap: of memory files it is for the device process to decide (notify.c) */
static void filter_mmap(struct filter *f)
{
	test(f, BPF_JEQ, SYS_mmap, 6);
	load(f, ARG_LOW(4));
	test(f, BPF_JEQ, VNPU_FD_DEVICE, 1);
	give(f, SECCOMP_RET_USER_NOTIF);
	test(f, BPF_JEQ, VNPU_FD_HOST, 1);
	give(f, SECCOMP_RET_USER_NOTIF);
	give(f, SECCOMP_RET_ALLOW);
}

/* mprotect: not where the page tables decide what may be written */
static void filter_mprotect(struct filter *f)
{
	test(f, BPF_JEQ, SYS_mprotect, 4);
	load(f, ARG_HIGH(0));
	test(f, BPF_JGE, VA_END_HIGH, 1);
	give(f, SECCOMP_RET_ALLOW);
	give(f, REFUSE(EPERM));
}

/* Threads, no processes; clone3 hides its flags in memory, and the C library can do without it. */
static void filter_clone(struct filter *f)
{
	test(f, BPF_JEQ, SYS_clone3, 1);
	give(f, REFUSE(ENOSYS));
	test(f, BPF_JEQ, SYS_clone, 4);
	load(f, ARG_LOW(0));
	test(f, BPF_JSET, CLONE_THREAD, 1);
	give(f, SECCOMP_RET_ALLOW);
	give(f, REFUSE(EPERM));
}

static void filter_first_arg(struct filter *f, int call, uint32_t value)
{
	test(f, BPF_JEQ, (uint32_t)call, 4);
	load(f, ARG_LOW(0));
	test(f, BPF_JEQ, value, 1);
	give(f, SECCOMP_RET_ALLOW);
	give(f, REFUSE(EPERM));
}

static void filter_file(struct filter *f, int call)
{
	test(f, BPF_JEQ, (uint32_t)call, 6);
	load(f, ARG_LOW(0));
	test(f, BPF_JEQ, VNPU_FD_DEVICE, 1);
	give(f, REFUSE(EPERM));
	test(f, BPF_JEQ, VNPU_FD_HOST, 1);
	give(f, REFUSE(EPERM));
	give(f, SECCOMP_RET_ALLOW);
}

static int build(struct filter *f)
{
	f->count = 0;
	begin(f);
	filter_mmap(f);
	filter_mprotect(f);
	filter_clone(f);
	filter_first_arg(f, SYS_tgkill, (uint32_t)getpid());
	filter_first_arg(f, SYS_sendmsg, VNPU_FD_LISTENER);
	for (size_t i = 0; i < sizeof(file_calls) / sizeof(file_calls[0]); i++)
		filter_file(f, file_calls[i]);
	for (size_t i = 0; i < sizeof(plain_calls) / sizeof(plain_calls[0]); i++) {
		test(f, BPF_JEQ, (uint32_t)plain_calls[i], 1);
		give(f, SECCOMP_RET_ALLOW);
	}
	give(f, REFUSE(EPERM));
	return f->count <= MAX_FILTER ? 0 : -E2BIG;
}

static int send_listener(int listener)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	char byte = 0;
	struct iovec iov = { &byte, sizeof(byte) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes),
	};

	memcpy(CMSG_DATA(&control.header), &listener, sizeof(listener));
	return sendmsg(VNPU_FD_LISTENER, &msg, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

static int filter_calls(void)
{
	static struct filter f;
	struct sock_fprog program = { .filter = f.code };
	int listener, rc = build(&f);

	if (rc)
		return rc;
	program.len = f.count;
	listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (listener < 0)
		return -errno;
	rc = send_listener(listener);
	close(listener);
	close(VNPU_FD_LISTENER);
	return rc;
}

int sandbox_enter(void)
{
	struct rlimit no_core = { 0, 0 };

	/* not dumpable would make /proc/self/fd, which the dynamic linker needs, root's */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    setrlimit(RLIMIT_CORE, &no_core))
		return -errno;
	if (drop_capabilities())
		return -errno;
	leave_files();
	return filter_calls();
}
