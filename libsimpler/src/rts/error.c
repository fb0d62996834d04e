/* SPDX-License-Identifier: MIT */
#include "rts/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/run_code.h"

struct api_code {
	int code;
	enum simpler_error_class class;
	const char *name;
	const char *description;
};

#define CODE(name, class, description) \
	{ SIMPLER_ERR_##name, SIMPLER_CLASS_##class, #name, description }

static const struct api_code api_codes[] = {
	CODE(INTERNAL, RUNTIME, "a defect of the library"),
	CODE(UNSUPPORTED, RUNTIME, "not available on this platform, runtime or level"),
	CODE(NO_MEMORY, MEMORY, "host memory is exhausted"),
	CODE(INVALID_STATE, RUNTIME, "the object is in the wrong state for this call"),
	CODE(INVALID_ARGUMENT, VALUE, "an argument has a value that is not allowed"),
	CODE(TIMEOUT, TIMEOUT, "the time is over; what was waited for goes on"),
	CODE(INTERRUPTED, INTERRUPTED, "the interrupt check ended the wait"),
	CODE(NO_DEVICE, RUNTIME, "there is no such chip"),
	CODE(DEVICE_LOST, RUNTIME, "the chip stopped answering, or its context was destroyed"),
	CODE(CONTEXT_REFUSED, CONTEXT_REFUSED, "another context is current"),
	CODE(DEVICE_MEMORY, RUNTIME, "device memory is exhausted"),
	CODE(SYSTEM, OS, "a system call failed"),
	CODE(TIMEOUT_VALUE, VALUE, "a timeout must not be negative"),
	CODE(INDEX, INDEX, "index out of range"),

	CODE(LEVEL, VALUE, "this level is not supported"),
	CODE(LEVEL_OPERATION, TYPE, "not an operation of this level"),
	CODE(PLATFORM_MISSING, KEY, "no platform was set"),
	CODE(PLATFORM_UNKNOWN, VALUE, "there is no such platform"),
	CODE(RUNTIME_MISSING, KEY, "no runtime was set"),
	CODE(RUNTIME_UNKNOWN, VALUE, "there is no such runtime"),
	CODE(OPTION_CONFLICT, VALUE, "options exclude each other"),
	CODE(OPTION_UNSUPPORTED, RUNTIME, "the option does not exist on this platform"),
	CODE(STARTUP_FAILED, RUNTIME, "an earlier init failed"),
	CODE(INIT_CANCELLED, INIT_CANCELLED, "init was cancelled by close"),
	CODE(REENTRY, RUNTIME, "close was called inside an operation of the same thread"),
	CODE(POISONED, RUNTIME, "chip run lane is poisoned"),
	CODE(LEAKED, RUNTIME, "teardown left resources un-reclaimed"),

	CODE(SIGNATURE, VALUE, "invalid signature"),
	CODE(TENSOR_LIMIT, VALUE, "too many tensors"),
	CODE(SCALAR_LIMIT, VALUE, "too many scalars"),
	CODE(CHILD_LIMIT, VALUE, "too many kernels"),
	CODE(CHILD_DUPLICATE, VALUE, "a func_id is negative or occurs twice"),
	CODE(CALLABLE_SIZE, VALUE, "a binary is empty or too large"),
	CODE(CALLABLE_BYTES, VALUE, "corrupt or truncated callable bytes"),
	CODE(CALLABLE_TYPE, TYPE, "not a callable for this level"),
	CODE(HANDLE_NOT_LIVE, KEY, "not a live callable handle of this Worker"),
	CODE(HANDLE_MUTATED, RUNTIME, "CALLABLE_HANDLE_MUTATED"),
	CODE(HANDLE_NAMESPACE, TYPE, "the handle is of another namespace"),
	CODE(CAPACITY, RUNTIME, "callable capacity exhausted"),
	CODE(DESCRIPTOR_MISMATCH, RUNTIME, "HASHID_DESCRIPTOR_MISMATCH"),
	CODE(HASHID_FORMAT, VALUE, "HASHID_FORMAT_INVALID"),
	CODE(REGISTER_FAILED, RUNTIME, "the chip refused the callable"),

	CODE(BUFFER_SIZE, VALUE, "a buffer cannot have this size"),
	CODE(BUFFER_DESCRIPTOR, VALUE, "invalid BufferDescriptor"),
	CODE(BUFFER_RELEASED, VALUE, "the buffer was released"),
	CODE(BUFFER_NOT_LIVE, VALUE, "not a live allocation of this Worker"),
	CODE(BUFFER_BORROWED, VALUE, "the storage is borrowed from the caller"),
	CODE(BUFFER_IN_USE, RUNTIME, "still referenced by an in-flight run"),
	CODE(BUFFER_UNPROVEN, RUNTIME, "completion of a run that uses the buffer is unproven"),
	CODE(BUFFER_EXPORTED, BUFFER, "views of the memory are alive"),
	CODE(BUFFER_FOREIGN, VALUE, "UNSUPPORTED_ENDPOINT_RELATION"),
	CODE(BUFFER_SPACE, VALUE, "wrong address space"),
	CODE(BUFFER_GRANT, VALUE, "the access is not granted"),
	CODE(BUFFER_BOUNDS, VALUE, "outside the buffer"),
	CODE(SHM_MISSING, FILE_NOT_FOUND, "no such shared memory object"),
	CODE(SHM_SIZE, VALUE, "shared memory object smaller than declared"),
	CODE(WRAP_RANGE, VALUE, "not an address range"),
	CODE(WRAP_OVERLAP, VALUE, "overlaps other storage"),
	CODE(LOCATION_PROCESS, VALUE, "the location is not of this process"),
	CODE(LOCATION_DEAD, VALUE, "not a live device context"),
	CODE(LOCATION_FOREIGN, VALUE, "the location is of another Worker"),
	CODE(HOST_READONLY, TYPE, "the destination is not writable"),

	CODE(TENSOR, VALUE, "invalid Tensor"),
	CODE(ARG_ORDER, RUNTIME, "a tensor after a scalar"),
	CODE(ARG_COUNT, VALUE, "the arguments do not match the signature"),
	CODE(ARG_LIMIT, INDEX, "more arguments than a run can take"),
	CODE(ARG_TAG, VALUE, "unknown tag"),
	CODE(ARG_TRANSFER, VALUE, "transfer request not allowed"),
	CODE(ARG_OVERLAP, VALUE, "overlapping bytes"),
	CODE(BLOB, RUNTIME, "malformed argument blob"),

	CODE(CONFIG, VALUE, "a CallConfig field is out of range"),
	CODE(CONFIG_PREFIX, VALUE, "output_prefix is missing or too long"),
	CODE(CONFIG_RING, VALUE, "a ring size is out of range"),
	CODE(CONFIG_THREADS, RUNTIME, "aicpu_thread_num is out of range"),
};

static const struct api_code *api_code_find(int code)
{
	size_t i;

	for (i = 0; i < sizeof(api_codes) / sizeof(api_codes[0]); i++)
		if (api_codes[i].code == code)
			return &api_codes[i];
	return NULL;
}

static int is_run_code(int code)
{
	return code < 0 && code >= -SIMPLER_RUN_CODE_MAX;
}

enum simpler_error_class simpler_error_class(int code)
{
	const struct api_code *entry = api_code_find(code);

	if (!code)
		return SIMPLER_CLASS_NONE;
	return entry ? entry->class : SIMPLER_CLASS_RUNTIME;
}

const char *simpler_error_name(int code)
{
	const struct api_code *entry = api_code_find(code);

	if (entry)
		return entry->name;
	return !code || is_run_code(code) ? run_code_name(-code) : "UNKNOWN";
}

const char *simpler_error_description(int code)
{
	const struct api_code *entry = api_code_find(code);

	if (entry)
		return entry->description;
	if (code && !is_run_code(code))
		return "not a code of this library";
	return run_code_description(-code);
}

void err_clear(struct simpler_error *e)
{
	e->code = 0;
	e->chip = -1;
	e->core = -1;
	e->func_id = -1;
	e->task = SIMPLER_NO_TASK;
	e->address = 0;
	e->pc = 0;
	e->phase = SIMPLER_PHASE_PREPARE;
	e->orch_code = 0;
	e->sched_code = 0;
	e->sub_class = 0;
	e->name[0] = '\0';
	e->text[0] = '\0';
	e->hint[0] = '\0';
}

int err_set(struct simpler_error *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	err_clear(e);
	e->code = code;
	snprintf(e->name, sizeof(e->name), "%s", simpler_error_name(code));
	if (is_run_code(code))
		snprintf(e->hint, sizeof(e->hint), "%s", run_code_hint(-code));
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return code;
}

bool err_null(struct simpler_error *e, const char *function, const char *argument)
{
	err_set(e, SIMPLER_ERR_INVALID_ARGUMENT, "%s(): %s is NULL", function, argument);
	return true;
}

void err_hint(struct simpler_error *e, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return;
	va_start(ap, fmt);
	vsnprintf(e->hint, sizeof(e->hint), fmt, ap);
	va_end(ap);
}
