/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic netlink family "simpler": state of all chips, and what happens to them.
 * simpler_netlink.yaml says the same for code generators.
 *
 * The family exists in the initial network namespace only.  Numbers are appended,
 * never reused; receivers ignore attributes they do not know.  Context dumps and
 * clearing need CAP_NET_ADMIN.
 */
#ifndef _UAPI_SIMPLER_NETLINK_H_
#define _UAPI_SIMPLER_NETLINK_H_

#define SIMPLER_NL_FAMILY		"simpler"
#define SIMPLER_NL_VERSION		1

#define SIMPLER_NL_GROUP_HEALTH		"health"	/* health, ECC, thermal, bans */
#define SIMPLER_NL_GROUP_RESET		"reset"
#define SIMPLER_NL_GROUP_MEMORY		"memory"	/* device memory gets short, or not any more */
#define SIMPLER_NL_GROUP_HOTPLUG	"hotplug"	/* devices come and go */

enum simpler_nl_command {
	SIMPLER_NL_CMD_UNSPEC,
	SIMPLER_NL_CMD_DEVICE_GET,	/* dump: one message per device */
	SIMPLER_NL_CMD_CONTEXT_GET,	/* dump: one message per context on a device */
	SIMPLER_NL_CMD_COUNTER_GET,	/* dump: one message per counter and device */
	SIMPLER_NL_CMD_COUNTER_CLEAR,	/* do: DEVICE_ID, COUNTER_ID */
	SIMPLER_NL_CMD_HEALTH_EVENT,	/* DEVICE_*, HEALTH, TEMPERATURE, ECC_* */
	SIMPLER_NL_CMD_BAN_EVENT,	/* DEVICE_*, CONTEXT_ID, PID, FAULT_*; group health */
	SIMPLER_NL_CMD_RESET_EVENT,	/* DEVICE_*, GENERATION, RESETS, RESULT, REASON */
	SIMPLER_NL_CMD_MEMORY_EVENT,	/* DEVICE_*, MEMORY_*, PRESSURE */
	SIMPLER_NL_CMD_ADD_EVENT,	/* DEVICE_* */
	SIMPLER_NL_CMD_REMOVE_EVENT,	/* DEVICE_* */
	__SIMPLER_NL_CMD_END,
};
#define SIMPLER_NL_CMD_MAX	(__SIMPLER_NL_CMD_END - 1)

enum simpler_nl_attribute {
	SIMPLER_NL_ATTR_UNSPEC,
	SIMPLER_NL_ATTR_PAD,
	SIMPLER_NL_ATTR_DEVICE_ID,	/* u32: N of /dev/accel/accelN */
	SIMPLER_NL_ATTR_DEVICE_NAME,	/* string: address on the bus */
	SIMPLER_NL_ATTR_ARCH,		/* u32: SIMPLER_HW_ARCH_* */
	SIMPLER_NL_ATTR_HEALTH,		/* u32: SIMPLER_HW_HEALTH_* */
	SIMPLER_NL_ATTR_WEDGED,		/* u8: 0 or 1 */
	SIMPLER_NL_ATTR_GENERATION,	/* u32 */
	SIMPLER_NL_ATTR_RESETS,		/* u32 */
	SIMPLER_NL_ATTR_MEMORY_TOTAL,	/* u64: bytes */
	SIMPLER_NL_ATTR_MEMORY_USED,	/* u64: bytes */
	SIMPLER_NL_ATTR_TEMPERATURE,	/* u32: millidegrees Celsius */
	SIMPLER_NL_ATTR_POWER,		/* u32: milliwatts */
	SIMPLER_NL_ATTR_ECC_CORRECTED,	/* u64 */
	SIMPLER_NL_ATTR_ECC_UNCORRECTED,	/* u64 */
	SIMPLER_NL_ATTR_CONTEXT_ID,	/* u32 */
	SIMPLER_NL_ATTR_CONTEXT_STATE,	/* u32: DRM_SIMPLER_CONTEXT_* */
	SIMPLER_NL_ATTR_PID,		/* u32: process that opened the file */
	SIMPLER_NL_ATTR_STREAMS,	/* u32 */
	SIMPLER_NL_ATTR_PINNED,		/* u64: bytes of host memory */
	SIMPLER_NL_ATTR_FAULT_CODE,	/* u32: SIMPLER_HW_FAULT_* */
	SIMPLER_NL_ATTR_FAULT_ADDRESS,	/* u64 */
	SIMPLER_NL_ATTR_COUNTER_ID,	/* u32 */
	SIMPLER_NL_ATTR_COUNTER_NAME,	/* string */
	SIMPLER_NL_ATTR_COUNTER_VALUE,	/* u64 */
	SIMPLER_NL_ATTR_RESULT,		/* s32: 0 or a negative errno */
	SIMPLER_NL_ATTR_REASON,		/* string */
	SIMPLER_NL_ATTR_PRESSURE,	/* u8: 1 memory is short */
	__SIMPLER_NL_ATTR_END,
};
#define SIMPLER_NL_ATTR_MAX	(__SIMPLER_NL_ATTR_END - 1)

#endif /* _UAPI_SIMPLER_NETLINK_H_ */
