// SPDX-License-Identifier: MIT
/* simpler-smi events: what the driver multicasts, as it happens. */
#include <errno.h>
#include <string.h>

#include <linux/genetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "simpler_netlink.h"
#include "smi.h"

enum kind { NUMBER, SIGNED, TEXT, HEX };

/* How attributes are shown. */
static const struct {
	const char *name;
	enum kind kind;
} attributes[SIMPLER_NL_ATTR_MAX + 1] = {
	[SIMPLER_NL_ATTR_DEVICE_ID] = { "accel", NUMBER },
	[SIMPLER_NL_ATTR_DEVICE_NAME] = { "address", TEXT },
	[SIMPLER_NL_ATTR_ARCH] = { "arch", NUMBER },
	[SIMPLER_NL_ATTR_HEALTH] = { "health", NUMBER },
	[SIMPLER_NL_ATTR_WEDGED] = { "wedged", NUMBER },
	[SIMPLER_NL_ATTR_GENERATION] = { "generation", NUMBER },
	[SIMPLER_NL_ATTR_RESETS] = { "resets", NUMBER },
	[SIMPLER_NL_ATTR_MEMORY_TOTAL] = { "memory_total_bytes", NUMBER },
	[SIMPLER_NL_ATTR_MEMORY_USED] = { "memory_used_bytes", NUMBER },
	[SIMPLER_NL_ATTR_TEMPERATURE] = { "temperature_millicelsius", NUMBER },
	[SIMPLER_NL_ATTR_POWER] = { "power_milliwatts", NUMBER },
	[SIMPLER_NL_ATTR_ECC_CORRECTED] = { "ecc_corrected", NUMBER },
	[SIMPLER_NL_ATTR_ECC_UNCORRECTED] = { "ecc_uncorrected", NUMBER },
	[SIMPLER_NL_ATTR_CONTEXT_ID] = { "context", NUMBER },
	[SIMPLER_NL_ATTR_CONTEXT_STATE] = { "context_state", NUMBER },
	[SIMPLER_NL_ATTR_PID] = { "pid", NUMBER },
	[SIMPLER_NL_ATTR_STREAMS] = { "streams", NUMBER },
	[SIMPLER_NL_ATTR_PINNED] = { "pinned_bytes", NUMBER },
	[SIMPLER_NL_ATTR_FAULT_CODE] = { "fault", NUMBER },
	[SIMPLER_NL_ATTR_FAULT_ADDRESS] = { "fault_address", HEX },
	[SIMPLER_NL_ATTR_RESULT] = { "result", SIGNED },
	[SIMPLER_NL_ATTR_REASON] = { "reason", TEXT },
	[SIMPLER_NL_ATTR_PRESSURE] = { "pressure", NUMBER },
};

static const char *const events[SIMPLER_NL_CMD_MAX + 1] = {
	[SIMPLER_NL_CMD_HEALTH_EVENT] = "health",
	[SIMPLER_NL_CMD_BAN_EVENT] = "ban",
	[SIMPLER_NL_CMD_RESET_EVENT] = "reset",
	[SIMPLER_NL_CMD_MEMORY_EVENT] = "memory",
	[SIMPLER_NL_CMD_ADD_EVENT] = "add",
	[SIMPLER_NL_CMD_REMOVE_EVENT] = "remove",
};

static const char *const groups[] = {
	SIMPLER_NL_GROUP_HEALTH, SIMPLER_NL_GROUP_RESET,
	SIMPLER_NL_GROUP_MEMORY, SIMPLER_NL_GROUP_HOTPLUG,
};

/* ---- one event ---- */

/* The kernel's numbers have 1, 4 or 8 bytes; another size is not a number. */
static bool number_of(struct nlattr *attribute, uint64_t *value)
{
	switch (nla_len(attribute)) {
	case 1:
		*value = nla_get_u8(attribute);
		return true;
	case 4:
		*value = nla_get_u32(attribute);
		return true;
	case 8:
		*value = nla_get_u64(attribute);
		return true;
	default:
		return false;
	}
}

static void print_text(FILE *out, struct nlattr *attribute, bool json)
{
	char text[256];

	nla_strlcpy(text, attribute, sizeof(text));
	if (json)
		smi_json_string(out, text);
	else
		fprintf(out, "\"%s\"", text);
}

static void print_number(FILE *out, enum kind kind, uint64_t value, bool json)
{
	if (kind == SIGNED)
		fprintf(out, "%d", (int)(int32_t)value);
	else if (kind == HEX && !json)
		fprintf(out, "0x%llx", (unsigned long long)value);
	else
		fprintf(out, "%llu", (unsigned long long)value);
}

static void print_attribute(FILE *out, struct nlattr *attribute, bool json)
{
	int type = nla_type(attribute);
	uint64_t value = 0;

	if (type > SIMPLER_NL_ATTR_MAX || !attributes[type].name ||
	    (attributes[type].kind != TEXT && !number_of(attribute, &value)))
		return;	/* of a newer driver */
	fprintf(out, json ? ",\"%s\":" : " %s=", attributes[type].name);
	if (attributes[type].kind == TEXT)
		print_text(out, attribute, json);
	else
		print_number(out, attributes[type].kind, value, json);
}

bool smi_event_print(FILE *out, struct nlmsghdr *message, bool json)
{
	struct genlmsghdr *header = nlmsg_data(message);
	struct nlattr *attribute;
	int left;

	if (!genlmsg_valid_hdr(message, 0) || header->cmd > SIMPLER_NL_CMD_MAX ||
	    !events[header->cmd])
		return false;
	if (json)
		fprintf(out, "{\"schema_version\":%d,\"event\":\"%s\"", SMI_SCHEMA_VERSION,
			events[header->cmd]);
	else
		fputs(events[header->cmd], out);
	nlmsg_for_each_attr(attribute, message, (int)sizeof(*header), left)
		print_attribute(out, attribute, json);
	fputs(json ? "}\n" : "\n", out);
	return true;
}

/* ---- from the kernel ---- */

struct listener {
	const struct smi_options *options;
	unsigned int seen;
	bool done;
	bool lost;
};

static int on_message(struct nl_msg *message, void *arg)
{
	struct listener *listener = arg;

	if (!smi_event_print(stdout, nlmsg_hdr(message), listener->options->json))
		return NL_OK;
	listener->seen++;
	listener->done = listener->options->count && listener->seen >= listener->options->count;
	if (fflush(stdout))
		listener->lost = listener->done = true;
	return listener->done ? NL_STOP : NL_OK;
}

static int explain(const char *what, int error)
{
	fprintf(stderr, "simpler-smi: %s: %s\n", what, nl_geterror(error));
	return error == -NLE_PERM || error == -NLE_NOACCESS ? SMI_DENIED : SMI_FAILED;
}

static int join(struct nl_sock *socket)
{
	size_t i;

	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		int group = genl_ctrl_resolve_grp(socket, SIMPLER_NL_FAMILY, groups[i]);
		int rc = group < 0 ? group : nl_socket_add_membership(socket, group);

		if (rc == -NLE_OBJ_NOTFOUND) {
			fputs("simpler-smi: the kernel has no netlink family " SIMPLER_NL_FAMILY
			      "; is the driver loaded? try: simpler-smi module\n", stderr);
			return SMI_NO_DEVICE;
		}
		if (rc < 0)
			return explain(groups[i], rc);
	}
	return SMI_OK;
}

static int receive(struct nl_sock *socket, struct listener *listener)
{
	nl_socket_disable_seq_check(socket);
	nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, on_message, listener);
	while (!listener->done) {
		int rc = nl_recvmsgs_default(socket);

		if (rc == -NLE_NOMEM)	/* more events than the socket holds */
			fprintf(stderr, "simpler-smi: some events were lost\n");
		else if (rc < 0 && rc != -NLE_INTR)
			return explain("receiving", rc);
	}
	return listener->lost ? SMI_FAILED : SMI_OK;
}

static int from_kernel(const struct smi_options *o)
{
	struct listener listener = { .options = o };
	struct nl_sock *socket = nl_socket_alloc();
	int rc;

	if (!socket)
		return explain("socket", -NLE_NOMEM);
	rc = genl_connect(socket);
	if (rc)
		rc = explain("generic netlink", rc);
	else
		rc = join(socket);
	if (rc == SMI_OK)
		rc = receive(socket, &listener);
	nl_socket_free(socket);
	return rc;
}

/* ---- from a recording ---- */

static int from_file(const struct smi_options *o)
{
	_Alignas(struct nlmsghdr) char bytes[65536];
	FILE *in = fopen(o->replay, "re");
	struct nlmsghdr *message = (struct nlmsghdr *)bytes;
	size_t size;
	int left;

	if (!in) {
		fprintf(stderr, "simpler-smi: %s: %s\n", o->replay, strerror(errno));
		return errno == EACCES ? SMI_DENIED : SMI_FAILED;
	}
	size = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	left = (int)size;
	for (; nlmsg_ok(message, left); message = nlmsg_next(message, &left))
		smi_event_print(stdout, message, o->json);
	if (left > 0) {
		fprintf(stderr, "simpler-smi: %s: %d bytes at the end are no netlink message\n",
			o->replay, left);
		return SMI_FAILED;
	}
	return fflush(stdout) ? SMI_FAILED : SMI_OK;
}

int smi_events(const struct smi_options *o, int argc, char **args)
{
	(void)args;
	if (argc)
		return SMI_USAGE;
	return o->replay ? from_file(o) : from_kernel(o);
}
