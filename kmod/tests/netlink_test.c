// SPDX-License-Identifier: GPL-2.0-only
/* The netlink family, spoken to through a socket like that of a program. */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/genetlink.h>
#include <linux/net.h>
#include <linux/netlink.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "fixture.h"
#include "simpler_drv.h"
#include "simpler_netlink.h"

#define BUFFER	8192

struct client {
	struct fixture *f;
	struct socket *sock;
	u16 family;
	u32 groups[8];
	u32 group_count;
	char *buffer;
	u32 received;			/* bytes in @buffer */
	u32 position;
};

/* ---- socket ---- */

static void connect(struct kunit *test, struct client *c)
{
	struct file *file;

	c->f = test->priv;
	c->buffer = kunit_kzalloc(test, BUFFER, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c->buffer);
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC,
					       &c->sock), 0);
	/* who may do what is decided by who opened the file */
	file = sock_alloc_file(c->sock, O_CLOEXEC, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
}

static void disconnect(struct client *c)
{
	__fput_sync(c->sock->file);
}

struct request {
	struct nlmsghdr message;
	struct genlmsghdr header;
	char attributes[64];
};

static struct request request(u16 family, u8 command, u16 flags)
{
	return (struct request) {
		.message = {
			.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN), .nlmsg_type = family,
			.nlmsg_flags = NLM_F_REQUEST | flags,
		},
		.header = { .cmd = command, .version = SIMPLER_NL_VERSION },
	};
}

static void add(struct request *r, u16 type, const void *data, u16 bytes)
{
	struct nlattr *attribute = (void *)r + NLMSG_ALIGN(r->message.nlmsg_len);

	*attribute = (struct nlattr) { .nla_len = nla_attr_size(bytes), .nla_type = type };
	memcpy(nla_data(attribute), data, bytes);
	r->message.nlmsg_len = NLMSG_ALIGN(r->message.nlmsg_len) + nla_total_size(bytes);
}

static void send(struct client *c, struct request *r)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	struct msghdr message = { .msg_name = &to, .msg_namelen = sizeof(to) };
	struct kvec part = { r, r->message.nlmsg_len };

	KUNIT_ASSERT_EQ(c->f->test, kernel_sendmsg(c->sock, &message, &part, 1, part.iov_len),
			(int)part.iov_len);
}

/* The next message that has arrived; NULL: none. */
static struct nlmsghdr *next(struct client *c)
{
	struct msghdr message = { 0 };
	struct kvec part = { c->buffer, BUFFER };
	struct nlmsghdr *header;
	int ret;

	if (c->position >= c->received) {
		ret = kernel_recvmsg(c->sock, &message, &part, 1, BUFFER, MSG_DONTWAIT);
		c->position = 0;
		c->received = max(ret, 0);
	}
	header = (struct nlmsghdr *)(c->buffer + c->position);
	if (!nlmsg_ok(header, c->received - c->position))
		return NULL;
	c->position += NLMSG_ALIGN(header->nlmsg_len);
	return header;
}

static struct nlattr *find(struct nlmsghdr *message, u16 type)
{
	return nlmsg_find_attr(message, GENL_HDRLEN, type);
}

static u64 value(struct nlmsghdr *message, u16 type)
{
	struct nlattr *attribute = find(message, type);

	if (!attribute)
		return ~0ull;
	switch (nla_len(attribute)) {
	case 1: return nla_get_u8(attribute);
	case 2: return nla_get_u16(attribute);
	case 4: return nla_get_u32(attribute);
	default: return nla_get_u64(attribute);
	}
}

/* ---- calls ---- */

static void resolve(struct client *c)
{
	struct request r = request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	struct nlmsghdr *reply;
	struct nlattr *group, *id;
	int left;

	r.header.version = 1;
	add(&r, CTRL_ATTR_FAMILY_NAME, SIMPLER_NL_FAMILY, sizeof(SIMPLER_NL_FAMILY));
	send(c, &r);
	reply = next(c);
	KUNIT_ASSERT_NOT_NULL(c->f->test, reply);
	KUNIT_ASSERT_EQ(c->f->test, reply->nlmsg_type, GENL_ID_CTRL);
	c->family = value(reply, CTRL_ATTR_FAMILY_ID);
	nla_for_each_nested(group, find(reply, CTRL_ATTR_MCAST_GROUPS), left) {
		id = nla_find_nested(group, CTRL_ATTR_MCAST_GRP_ID);
		KUNIT_ASSERT_NOT_NULL(c->f->test, id);
		KUNIT_ASSERT_LT(c->f->test, c->group_count, (u32)ARRAY_SIZE(c->groups));
		c->groups[c->group_count++] = nla_get_u32(id);
	}
}

static void listen_to_all(struct client *c)
{
	u32 i;

	for (i = 0; i < c->group_count; i++)
		KUNIT_ASSERT_EQ(c->f->test, c->sock->ops->setsockopt(c->sock, SOL_NETLINK,
				NETLINK_ADD_MEMBERSHIP, KERNEL_SOCKPTR(&c->groups[i]),
				sizeof(c->groups[i])), 0);
}

/* The errno of a do request. */
static int ask(struct client *c, struct request *r)
{
	struct nlmsghdr *reply;

	r->message.nlmsg_flags |= NLM_F_ACK;
	send(c, r);
	reply = next(c);
	KUNIT_ASSERT_NOT_NULL(c->f->test, reply);
	KUNIT_ASSERT_EQ(c->f->test, reply->nlmsg_type, NLMSG_ERROR);
	return ((struct nlmsgerr *)nlmsg_data(reply))->error;
}

/* Call @visit for each message of a dump; their number, or the errno of the dump. */
static int dump(struct client *c, u8 command, void (*visit)(struct client *c, struct nlmsghdr *m))
{
	struct request r = request(c->family, command, NLM_F_DUMP);
	struct nlmsghdr *m;
	int count = 0;

	send(c, &r);
	while ((m = next(c)) && m->nlmsg_type != NLMSG_DONE) {
		if (m->nlmsg_type == NLMSG_ERROR)
			return ((struct nlmsgerr *)nlmsg_data(m))->error;
		count++;
		if (visit)
			visit(c, m);
	}
	KUNIT_EXPECT_NOT_NULL(c->f->test, m);
	return count;
}

/* ---- dumps ---- */

static void start(struct kunit *test, struct client *c)
{
	connect(test, c);
	resolve(c);
	KUNIT_EXPECT_EQ(test, c->group_count, 4u);
}

static void check_device(struct client *c, struct nlmsghdr *m)
{
	struct kunit *test = c->f->test;

	KUNIT_ASSERT_NOT_NULL(test, find(m, SIMPLER_NL_ATTR_DEVICE_NAME));
	KUNIT_EXPECT_STREQ(test, (char *)nla_data(find(m, SIMPLER_NL_ATTR_DEVICE_NAME)), "fake");
	KUNIT_EXPECT_EQ(test, value(m, SIMPLER_NL_ATTR_DEVICE_ID), (u64)c->f->drm->accel->index);
	KUNIT_EXPECT_EQ(test, value(m, SIMPLER_NL_ATTR_ARCH), (u64)SIMPLER_HW_ARCH_A2A3);
	KUNIT_EXPECT_EQ(test, value(m, SIMPLER_NL_ATTR_HEALTH), (u64)SIMPLER_HW_HEALTH_OK);
	KUNIT_EXPECT_EQ(test, value(m, SIMPLER_NL_ATTR_WEDGED), 0ull);
	KUNIT_EXPECT_EQ(test, value(m, SIMPLER_NL_ATTR_TEMPERATURE), 45000ull);
	KUNIT_EXPECT_EQ(test, value(m, SIMPLER_NL_ATTR_MEMORY_TOTAL),
			(u64)FAKE_BYTES - FAKE_MEMORY_BASE);
}

static void devices_are_dumped_with_their_state(struct kunit *test)
{
	struct client c = { 0 };

	start(test, &c);
	KUNIT_EXPECT_EQ(test, dump(&c, SIMPLER_NL_CMD_DEVICE_GET, check_device), 1);
	disconnect(&c);
}

static void check_context(struct client *c, struct nlmsghdr *m)
{
	KUNIT_EXPECT_EQ(c->f->test, value(m, SIMPLER_NL_ATTR_CONTEXT_STATE),
			(u64)DRM_SIMPLER_CONTEXT_READY);
	KUNIT_EXPECT_EQ(c->f->test, value(m, SIMPLER_NL_ATTR_STREAMS), 2ull);
	KUNIT_EXPECT_NE(c->f->test, value(m, SIMPLER_NL_ATTR_PID), ~0ull);
}

static void contexts_are_dumped_once_they_exist(struct kunit *test)
{
	struct client c = { 0 };

	start(test, &c);
	KUNIT_EXPECT_EQ(test, dump(&c, SIMPLER_NL_CMD_CONTEXT_GET, NULL), 0);
	fixture_stream(c.f);
	fixture_stream(c.f);
	KUNIT_EXPECT_EQ(test, dump(&c, SIMPLER_NL_CMD_CONTEXT_GET, check_context), 1);
	disconnect(&c);
}

static void check_counter(struct client *c, struct nlmsghdr *m)
{
	u64 id = value(m, SIMPLER_NL_ATTR_COUNTER_ID);

	KUNIT_ASSERT_LT(c->f->test, id, (u64)SIMPLER_COUNTERS);
	KUNIT_ASSERT_NOT_NULL(c->f->test, find(m, SIMPLER_NL_ATTR_COUNTER_NAME));
	KUNIT_EXPECT_STREQ(c->f->test, (char *)nla_data(find(m, SIMPLER_NL_ATTR_COUNTER_NAME)),
			   simpler_counter_name(id));
	KUNIT_EXPECT_EQ(c->f->test, value(m, SIMPLER_NL_ATTR_COUNTER_VALUE),
			id == SIMPLER_COUNTER_ECC_CORRECTED ? 5ull : 0ull);
}

static void counters_are_dumped_with_their_names(struct kunit *test)
{
	struct client c = { 0 };

	start(test, &c);
	WRITE_ONCE(c.f->fake->regs->ecc_corrected, 5);
	KUNIT_EXPECT_EQ(test, dump(&c, SIMPLER_NL_CMD_COUNTER_GET, check_counter),
			(int)SIMPLER_COUNTERS);
	disconnect(&c);
}

static int clear(struct client *c, u32 device, u32 counter)
{
	struct request r = request(c->family, SIMPLER_NL_CMD_COUNTER_CLEAR, 0);

	add(&r, SIMPLER_NL_ATTR_DEVICE_ID, &device, sizeof(device));
	add(&r, SIMPLER_NL_ATTR_COUNTER_ID, &counter, sizeof(counter));
	return ask(c, &r);
}

static void a_cleared_counter_starts_again(struct kunit *test)
{
	struct client c = { 0 };
	u32 id;

	start(test, &c);
	id = c.f->drm->accel->index;
	WRITE_ONCE(c.f->fake->regs->ecc_corrected, 5);
	KUNIT_EXPECT_EQ(test, clear(&c, id, SIMPLER_COUNTER_ECC_CORRECTED), 0);
	WRITE_ONCE(c.f->fake->regs->ecc_corrected, 7);
	KUNIT_EXPECT_EQ(test, simpler_counter_read(c.f->fake->sdev, SIMPLER_COUNTER_ECC_CORRECTED),
			2ull);
	disconnect(&c);
}

static void bad_clears_are_refused(struct kunit *test)
{
	struct client c = { 0 };
	struct request r;
	u32 id, zero = 0;

	start(test, &c);
	id = c.f->drm->accel->index;
	KUNIT_EXPECT_EQ(test, clear(&c, id, SIMPLER_COUNTERS), -EINVAL);
	KUNIT_EXPECT_EQ(test, clear(&c, id, ~0u), -EINVAL);
	KUNIT_EXPECT_EQ(test, clear(&c, id + 1, 0), -ENODEV);
	r = request(c.family, SIMPLER_NL_CMD_COUNTER_CLEAR, 0);
	KUNIT_EXPECT_EQ(test, ask(&c, &r), -EINVAL);
	add(&r, SIMPLER_NL_ATTR_COUNTER_ID, &zero, sizeof(zero));
	KUNIT_EXPECT_EQ(test, ask(&c, &r), -EINVAL);
	r = request(c.family, SIMPLER_NL_CMD_MAX + 1, 0);
	KUNIT_EXPECT_EQ(test, ask(&c, &r), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, clear(&c, id, 0), 0);
	disconnect(&c);
}

static void other_peoples_contexts_need_the_capability(struct kunit *test)
{
	struct client c = { 0 };
	struct cred *cred = prepare_creds();
	const struct cred *old;
	u32 id;

	KUNIT_ASSERT_NOT_NULL(test, cred);
	start(test, &c);
	id = c.f->drm->accel->index;
	cap_clear(cred->cap_effective);
	old = override_creds(cred);
	KUNIT_EXPECT_EQ(test, dump(&c, SIMPLER_NL_CMD_CONTEXT_GET, NULL), -EPERM);
	KUNIT_EXPECT_EQ(test, clear(&c, id, 0), -EPERM);
	KUNIT_EXPECT_EQ(test, dump(&c, SIMPLER_NL_CMD_DEVICE_GET, NULL), 1);
	revert_creds(old);
	put_cred(cred);
	disconnect(&c);
}

/* ---- events ---- */

/* Wait for an event of one kind, past those of other kinds. */
static struct nlmsghdr *event(struct client *c, u8 command)
{
	struct nlmsghdr *m = NULL;

	fixture_until((m = next(c)) && m->nlmsg_type == c->family &&
		      ((struct genlmsghdr *)nlmsg_data(m))->cmd == command);
	return m;
}

static void health_is_told_as_it_changes(struct kunit *test)
{
	struct client c = { 0 };
	struct nlmsghdr *m;

	start(test, &c);
	listen_to_all(&c);
	fake_device_health(c.f->fake, SIMPLER_HW_HEALTH_DEGRADED);
	m = event(&c, SIMPLER_NL_CMD_HEALTH_EVENT);
	KUNIT_ASSERT_NOT_NULL(test, m);
	KUNIT_EXPECT_EQ(test, value(m, SIMPLER_NL_ATTR_HEALTH), (u64)SIMPLER_HW_HEALTH_DEGRADED);
	disconnect(&c);
}

static void a_ban_is_told_with_the_fault(struct kunit *test)
{
	struct client c = { 0 };
	u64 address = SIMPLER_HW_VA_MIN + (1ull << 33);
	struct simpler_hw_cmd bad = { .opcode = SIMPLER_HW_OP_FENCE, .fence = { address, 1 } };
	struct nlmsghdr *m;

	start(test, &c);
	listen_to_all(&c);
	KUNIT_ASSERT_EQ(test, fixture_submit(c.f, fixture_stream(c.f), &bad, 1, NULL), 0L);
	m = event(&c, SIMPLER_NL_CMD_BAN_EVENT);
	KUNIT_ASSERT_NOT_NULL(test, m);
	KUNIT_EXPECT_EQ(test, value(m, SIMPLER_NL_ATTR_FAULT_CODE), (u64)SIMPLER_HW_FAULT_PAGE);
	KUNIT_EXPECT_EQ(test, value(m, SIMPLER_NL_ATTR_FAULT_ADDRESS), address);
	disconnect(&c);
}

static void a_reset_is_told_with_its_result(struct kunit *test)
{
	struct client c = { 0 };
	struct nlmsghdr *m;

	start(test, &c);
	listen_to_all(&c);
	fake_device_health(c.f->fake, SIMPLER_HW_HEALTH_DEAD);
	m = event(&c, SIMPLER_NL_CMD_RESET_EVENT);
	KUNIT_ASSERT_NOT_NULL(test, m);
	KUNIT_EXPECT_EQ(test, value(m, SIMPLER_NL_ATTR_RESULT), 0ull);
	KUNIT_EXPECT_EQ(test, value(m, SIMPLER_NL_ATTR_RESETS), 1ull);
	KUNIT_EXPECT_NOT_NULL(test, find(m, SIMPLER_NL_ATTR_REASON));
	disconnect(&c);
}

static void removal_is_told(struct kunit *test)
{
	struct client c = { 0 };

	start(test, &c);
	listen_to_all(&c);
	fake_device_unbind(c.f->fake);
	KUNIT_EXPECT_NOT_NULL(test, event(&c, SIMPLER_NL_CMD_REMOVE_EVENT));
	KUNIT_EXPECT_EQ(test, dump(&c, SIMPLER_NL_CMD_DEVICE_GET, NULL), 0);
	disconnect(&c);
}

static struct kunit_case netlink_cases[] = {
	KUNIT_CASE(devices_are_dumped_with_their_state),
	KUNIT_CASE(contexts_are_dumped_once_they_exist),
	KUNIT_CASE(counters_are_dumped_with_their_names),
	KUNIT_CASE(a_cleared_counter_starts_again),
	KUNIT_CASE(bad_clears_are_refused),
	KUNIT_CASE(other_peoples_contexts_need_the_capability),
	KUNIT_CASE(health_is_told_as_it_changes),
	KUNIT_CASE(a_ban_is_told_with_the_fault),
	KUNIT_CASE(a_reset_is_told_with_its_result),
	KUNIT_CASE(removal_is_told),
	{}
};

FIXTURE_SUITE("simpler_netlink", netlink_cases);
