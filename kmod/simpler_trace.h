/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints. drm_sched's own (gpu_scheduler group) show the queueing of jobs. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM simpler

#if !defined(SIMPLER_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SIMPLER_TRACE_H

#include <linux/tracepoint.h>

#include "simpler_drv.h"

TRACE_EVENT(simpler_admin,
	TP_PROTO(struct simpler_device *sdev, u8 opcode, u32 context, int result),
	TP_ARGS(sdev, opcode, context, result),
	TP_STRUCT__entry(
		__string(device, sdev->name)
		__field(u8, opcode)
		__field(u32, context)
		__field(int, result)),
	TP_fast_assign(
		__assign_str(device);
		__entry->opcode = opcode;
		__entry->context = context;
		__entry->result = result;),
	TP_printk("%s opcode %u context %u: %d", __get_str(device), __entry->opcode,
		  __entry->context, __entry->result)
);

DECLARE_EVENT_CLASS(simpler_range,
	TP_PROTO(struct simpler_device *sdev, u32 context, u64 addr, u64 bytes),
	TP_ARGS(sdev, context, addr, bytes),
	TP_STRUCT__entry(
		__string(device, sdev->name)
		__field(u32, context)
		__field(u64, addr)
		__field(u64, bytes)),
	TP_fast_assign(
		__assign_str(device);
		__entry->context = context;
		__entry->addr = addr;
		__entry->bytes = bytes;),
	TP_printk("%s context %d: %#llx + %#llx", __get_str(device), (int)__entry->context,
		  __entry->addr, __entry->bytes)
);

DEFINE_EVENT(simpler_range, simpler_map,
	TP_PROTO(struct simpler_device *sdev, u32 context, u64 addr, u64 bytes),
	TP_ARGS(sdev, context, addr, bytes));

DEFINE_EVENT(simpler_range, simpler_unmap,
	TP_PROTO(struct simpler_device *sdev, u32 context, u64 addr, u64 bytes),
	TP_ARGS(sdev, context, addr, bytes));

TRACE_EVENT(simpler_stream,
	TP_PROTO(struct simpler_device *sdev, u32 context, u32 stream, u32 entries, bool user),
	TP_ARGS(sdev, context, stream, entries, user),
	TP_STRUCT__entry(
		__string(device, sdev->name)
		__field(u32, context)
		__field(u32, stream)
		__field(u32, entries)
		__field(bool, user)),
	TP_fast_assign(
		__assign_str(device);
		__entry->context = context;
		__entry->stream = stream;
		__entry->entries = entries;
		__entry->user = user;),
	TP_printk("%s context %u stream %u entries %u %s", __get_str(device), __entry->context,
		  __entry->stream, __entry->entries, __entry->user ? "user" : "kernel")
);

DECLARE_EVENT_CLASS(simpler_job,
	TP_PROTO(struct simpler_device *sdev, u32 stream, u64 seqno, u32 count),
	TP_ARGS(sdev, stream, seqno, count),
	TP_STRUCT__entry(
		__string(device, sdev->name)
		__field(u32, stream)
		__field(u64, seqno)
		__field(u32, count)),
	TP_fast_assign(
		__assign_str(device);
		__entry->stream = stream;
		__entry->seqno = seqno;
		__entry->count = count;),
	TP_printk("%s stream %u seqno %llu commands %u", __get_str(device), __entry->stream,
		  __entry->seqno, __entry->count)
);

DEFINE_EVENT(simpler_job, simpler_submit,
	TP_PROTO(struct simpler_device *sdev, u32 stream, u64 seqno, u32 count),
	TP_ARGS(sdev, stream, seqno, count));

TRACE_EVENT(simpler_run,
	TP_PROTO(struct simpler_device *sdev, u32 stream, u64 seqno, u32 count, int result),
	TP_ARGS(sdev, stream, seqno, count, result),
	TP_STRUCT__entry(
		__string(device, sdev->name)
		__field(u32, stream)
		__field(u64, seqno)
		__field(u32, count)
		__field(int, result)),
	TP_fast_assign(
		__assign_str(device);
		__entry->stream = stream;
		__entry->seqno = seqno;
		__entry->count = count;
		__entry->result = result;),
	TP_printk("%s stream %u seqno %llu commands %u: %d", __get_str(device), __entry->stream,
		  __entry->seqno, __entry->count, __entry->result)
);

TRACE_EVENT(simpler_complete,
	TP_PROTO(struct simpler_device *sdev, u32 stream, u64 seqno, int error),
	TP_ARGS(sdev, stream, seqno, error),
	TP_STRUCT__entry(
		__string(device, sdev->name)
		__field(u32, stream)
		__field(u64, seqno)
		__field(int, error)),
	TP_fast_assign(
		__assign_str(device);
		__entry->stream = stream;
		__entry->seqno = seqno;
		__entry->error = error;),
	TP_printk("%s stream %u seqno %llu: %d", __get_str(device), __entry->stream,
		  __entry->seqno, __entry->error)
);

TRACE_EVENT(simpler_fault,
	TP_PROTO(struct simpler_device *sdev, u32 context, const struct drm_simpler_fault *fault),
	TP_ARGS(sdev, context, fault),
	TP_STRUCT__entry(
		__string(device, sdev->name)
		__field(u32, context)
		__field(u32, code)
		__field(u32, stream)
		__field(u64, seqno)
		__field(u64, address)),
	TP_fast_assign(
		__assign_str(device);
		__entry->context = context;
		__entry->code = fault->code;
		__entry->stream = fault->stream;
		__entry->seqno = fault->seqno;
		__entry->address = fault->address;),
	TP_printk("%s context %u code %u stream %u seqno %llu address %#llx", __get_str(device),
		  __entry->context, __entry->code, __entry->stream, __entry->seqno,
		  __entry->address)
);

TRACE_EVENT(simpler_ban,
	TP_PROTO(struct simpler_device *sdev, u32 context, u32 code, u64 address),
	TP_ARGS(sdev, context, code, address),
	TP_STRUCT__entry(
		__string(device, sdev->name)
		__field(u32, context)
		__field(u32, code)
		__field(u64, address)),
	TP_fast_assign(
		__assign_str(device);
		__entry->context = context;
		__entry->code = code;
		__entry->address = address;),
	TP_printk("%s context %u fault %u address %#llx", __get_str(device), __entry->context,
		  __entry->code, __entry->address)
);

TRACE_EVENT(simpler_reset,
	TP_PROTO(struct simpler_device *sdev, u32 resets, int result),
	TP_ARGS(sdev, resets, result),
	TP_STRUCT__entry(
		__string(device, sdev->name)
		__field(u32, resets)
		__field(int, result)),
	TP_fast_assign(
		__assign_str(device);
		__entry->resets = resets;
		__entry->result = result;),
	TP_printk("%s reset %u: %d", __get_str(device), __entry->resets, __entry->result)
);

#endif /* SIMPLER_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE simpler_trace
#include <trace/define_trace.h>
