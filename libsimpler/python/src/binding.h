/* SPDX-License-Identifier: MIT */
/*
 * The extension module simpler._task_interface: Python types over the public C
 * API.  A type converts arguments, calls one function of libsimpler, and turns a
 * failure into the exception class that simpler_error_class() names.
 */
#ifndef SIMPLER_PYTHON_BINDING_H
#define SIMPLER_PYTHON_BINDING_H

#include <Python.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "simpler/simpler.h"

#define PY_METHOD(f) ((PyCFunction)(void (*)(void))(f))

/* ---- enums.c ---- */

enum enum_id {
	ENUM_ARG_DIRECTION,
	ENUM_TENSOR_ARG_TYPE,
	ENUM_TENSOR_TRANSFER,
	ENUM_DATA_TYPE,
	ENUM_ADDRESS_SPACE,
	ENUM_ACCESS_MODE,
	ENUM_BACKEND_KIND,
	ENUM_CALLABLE_KIND,
	ENUM_CALLABLE_NAMESPACE,
	ENUM_COUNT
};

int enums_add(PyObject *module);
/* The member for @value, else a plain int; a new reference. */
PyObject *enum_member(enum enum_id id, long value);
/* A member of the enum, or an int in its place; TypeError for anything else. */
int enum_value(enum enum_id id, PyObject *object, int *value);

/* ---- errors.c ---- */

int errors_add(PyObject *module);
/* Raises the exception for @code; @e may be NULL or hold another code. Returns NULL. */
PyObject *raise_error(int code, const struct simpler_error *e);
PyObject *error_details(const struct simpler_error *e);

/* ---- values.c ---- */

/* A non-negative 64-bit number; ValueError with @what when it does not fit. */
int parse_u64(PyObject *object, const char *what, uint64_t *value);
/* As parse_u64(), but bool is a TypeError. */
int parse_token(PyObject *object, const char *what, uint64_t *value);
/* A number for bounds checks of the library: what does not fit saturates. */
int parse_i64(PyObject *object, const char *what, int64_t *value);
/* Word of a scalar argument (worker-api §9.1). */
int parse_scalar(PyObject *object, uint64_t *word);
PyObject *u64_tuple(const uint32_t *values, uint32_t count);
/*
 * Arguments of a METH_FASTCALL | METH_KEYWORDS method into @values (borrowed,
 * NULL where absent): @positional of them may be given by position.
 */
struct fast_names {
	const char *function;
	const char *const *names;	/* NULL-terminated */
	Py_ssize_t positional;
	Py_ssize_t required;
};
int fast_parse(const struct fast_names *n, PyObject *const *args, Py_ssize_t nargs,
	       PyObject *kwnames, PyObject **values);

/* Bytes of any object with the buffer protocol, or of a torch tensor in host memory. */
struct host_bytes {
	void *data;
	uint64_t bytes;
	bool readonly;
	Py_buffer view;		/* view.obj NULL: none held */
};
int host_bytes_get(PyObject *object, struct host_bytes *h);
void host_bytes_put(struct host_bytes *h);

/* ---- buffer.c ---- */

/* Keeps its Worker: one that nobody closed is not closed below a view of its memory. */
struct buffer_object {
	PyObject_HEAD
	struct simpler_buffer *buffer;
	PyObject *worker;	/* NULL: no Worker made it */
};

struct location_object {
	PyObject_HEAD
	struct simpler_location *location;
};

extern PyTypeObject *buffer_type, *location_type;
int buffer_add(PyObject *module);
/* Both take over the C reference, on failure too. */
PyObject *buffer_new(struct simpler_buffer *b, PyObject *worker);
PyObject *location_new(struct simpler_location *l);

/* ---- tensor.c ---- */

struct tensor_object {
	PyObject_HEAD
	struct simpler_tensor tensor;
};

extern PyTypeObject *tensor_type;
int tensor_add(PyObject *module);
PyObject *tensor_new(const struct simpler_tensor *t);
/* Tensor(buffer, *, shapes, dtype, strides, byte_offset), with the buffer as first argument. */
PyObject *tensor_describe(PyObject *buffer, PyObject *args, PyObject *kwargs);

/* ---- chip_tensor.c ---- */

int chip_tensor_add(PyObject *module);

/* ---- args.c ---- */

/*
 * Arguments that a call reads without the GIL are shared by reference: a change
 * meanwhile is made to a copy.
 */
struct args_box {
	struct simpler_task_args *args;
	Py_ssize_t refs;	/* under the GIL */
};

struct args_object {
	PyObject_HEAD
	struct args_box *box;
};

extern PyTypeObject *args_type;
int args_add(PyObject *module);
struct args_box *args_box_get(struct args_object *a);
/* Accepts NULL. */
void args_box_put(struct args_box *box);

/* ---- config.c ---- */

struct config_object {
	PyObject_HEAD
	struct simpler_call_config config;
};

extern PyTypeObject *config_type;
int config_add(PyObject *module);

/* ---- callable.c ---- */

struct chip_object {
	PyObject_HEAD
	struct simpler_chip_callable *callable;
};

struct handle_object {
	PyObject_HEAD
	struct simpler_callable_handle handle;
	bool brief;	/* its last run was over soon: the caller may execute the next one */
};

extern PyTypeObject *chip_type, *handle_type;
int callable_add(PyObject *module);
PyObject *handle_new(const struct simpler_callable_handle *h);

/* ---- wait.c ---- */

int wait_add(PyObject *module);
/* Counts the forks that led to this process. */
unsigned int process_count(void);
int64_t wait_now_ns(void);

/*
 * A call that may block, between wait_begin() and wait_end(): without the GIL,
 * and on the main thread with an eye on signals.
 */
struct waiting {
	struct simpler_wait wait;
	unsigned long thread;
	bool helps;		/* may be inside a kernel: no Python code meanwhile */
	int64_t checked_ns;
	PyThreadState *released;
};

/* Longer than anything lasts, but a deadline: the chip's own threads execute what is waited for. */
#define WAIT_LONG_NS (INT64_MAX / 2)

bool wait_on_main_thread(void);
/* @timeout_ns as in struct simpler_wait; @helps: the call may execute the run itself. */
void wait_begin(struct waiting *w, int64_t timeout_ns, bool helps);
void wait_end(struct waiting *w);
/* None or seconds; ValueError when negative, infinite or not a number. */
int wait_parse_timeout(PyObject *object, int64_t *timeout_ns);
/* The exception of an interrupted wait; NULL. */
PyObject *wait_raise_interrupted(const struct simpler_error *e);

/* ---- worker.c ---- */

struct worker_object {
	PyObject_HEAD
	struct simpler_worker *worker;
	PyObject *config;	/* keywords of the constructor */
	bool configured;	/* they have been handed to the library */
	unsigned int process;	/* wait.c's count of forks when it was made */
};

extern PyTypeObject *worker_type;
int worker_add(PyObject *module);
/* Refuses a Worker that a parent process made. */
int worker_usable(struct worker_object *w);
/* Raises what the Worker recorded for @code; NULL. */
PyObject *worker_raise(struct worker_object *w, int code);

/* ---- memory.c, run.c: methods of Worker ---- */

extern PyMethodDef memory_methods[], run_methods[];
extern PyTypeObject *run_type;
int run_add(PyObject *module);

/* ---- module.c ---- */

/* Makes a heap type and adds it to the module under its short name. */
PyTypeObject *type_add(PyObject *module, PyType_Spec *spec);
/* More methods for a heap type. */
int methods_add(PyTypeObject *type, PyMethodDef *methods);
/* tp_dealloc tail of a heap type. */
void object_free(PyObject *self);

#endif /* SIMPLER_PYTHON_BINDING_H */
