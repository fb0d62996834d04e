/* SPDX-License-Identifier: MIT */
/* From codes to exceptions; class by simpler_error_class(), never by text. */
#include "binding.h"

static PyObject *context_refused, *init_cancelled;

static PyObject *class_of(int code)
{
	switch (simpler_error_class(code)) {
	case SIMPLER_CLASS_VALUE:
		return PyExc_ValueError;
	case SIMPLER_CLASS_TYPE:
		return PyExc_TypeError;
	case SIMPLER_CLASS_KEY:
		return PyExc_KeyError;
	case SIMPLER_CLASS_INDEX:
		return PyExc_IndexError;
	case SIMPLER_CLASS_TIMEOUT:
		return PyExc_TimeoutError;
	case SIMPLER_CLASS_BUFFER:
		return PyExc_BufferError;
	case SIMPLER_CLASS_FILE_NOT_FOUND:
		return PyExc_FileNotFoundError;
	case SIMPLER_CLASS_CONTEXT_REFUSED:
		return context_refused;
	case SIMPLER_CLASS_MEMORY:
		return PyExc_MemoryError;
	case SIMPLER_CLASS_OS:
		return PyExc_OSError;
	case SIMPLER_CLASS_INIT_CANCELLED:
		return init_cancelled;
	case SIMPLER_CLASS_NONE:
	case SIMPLER_CLASS_RUNTIME:
	case SIMPLER_CLASS_INTERRUPTED:
		break;
	}
	return PyExc_RuntimeError;
}

static PyObject *optional(int32_t value)
{
	return value < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(value);
}

PyObject *error_details(const struct simpler_error *e)
{
	PyObject *task = e->task == SIMPLER_NO_TASK ? Py_NewRef(Py_None) :
						      PyLong_FromUnsignedLongLong(e->task);

	return Py_BuildValue("{sisssssssNsNsNsNsKsKsIsisisi}", "code", e->code, "name",
			     simpler_error_name(e->code), "text", e->text, "hint", e->hint,
			     "chip", optional(e->chip), "core", optional(e->core), "func_id",
			     optional(e->func_id), "task", task, "address",
			     (unsigned long long)e->address, "pc", (unsigned long long)e->pc,
			     "phase", e->phase, "orch_code", e->orch_code, "sched_code",
			     e->sched_code, "sub_class", e->sub_class);
}

static PyObject *make_exception(int code, const char *text, const char *hint)
{
	PyObject *message = hint[0] ? PyUnicode_FromFormat("%s; %s", text, hint) :
				      PyUnicode_FromString(text);
	PyObject *exception = NULL;

	if (message)
		exception = PyObject_CallFunctionObjArgs(class_of(code), message, NULL);
	Py_XDECREF(message);
	return exception;
}

/* The record becomes the attribute "details" of the exception. */
static int attach_details(PyObject *exception, const struct simpler_error *e)
{
	PyObject *details = error_details(e);
	int rc = details ? PyObject_SetAttrString(exception, "details", details) : -1;

	Py_XDECREF(details);
	return rc;
}

PyObject *raise_error(int code, const struct simpler_error *e)
{
	bool recorded = e && e->code == code;
	struct simpler_error bare = { .code = code, .chip = -1, .core = -1, .func_id = -1,
				      .task = SIMPLER_NO_TASK };
	PyObject *exception =
		make_exception(code, recorded ? e->text : simpler_error_description(code),
			       recorded ? e->hint : "");

	if (!exception)
		return NULL;
	if (!attach_details(exception, recorded ? e : &bare))
		PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
	Py_DECREF(exception);
	return NULL;
}

static PyObject *add_class(PyObject *module, const char *name, const char *doc)
{
	PyObject *class = PyErr_NewExceptionWithDoc(name, doc, PyExc_RuntimeError, NULL);

	if (class && PyModule_AddObjectRef(module, strrchr(name, '.') + 1, class))
		Py_CLEAR(class);
	return class;
}

int errors_add(PyObject *module)
{
	context_refused = add_class(module, "simpler.task_interface.ExecutionContextRefused",
				    "The calling thread's current context is not the Worker's. "
				    "Nothing changed; restore the context and call again.");
	init_cancelled = add_class(module, "simpler.task_interface.InitCancelled",
				   "Another thread closed the Worker while it was starting.");
	return context_refused && init_cancelled ? 0 : -1;
}
