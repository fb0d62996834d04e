/* SPDX-License-Identifier: MIT */
/* Memory operations of a Worker (worker-api §7). */
#include "binding.h"

static struct worker_object *worker_of(PyObject *self)
{
	return (struct worker_object *)self;
}

/* What the library has no number for. */
static void refuse_size(PyObject *object, const char *what)
{
	struct simpler_error e = { .code = SIMPLER_ERR_BUFFER_SIZE, .chip = -1, .core = -1,
				   .func_id = -1, .task = SIMPLER_NO_TASK };
	PyObject *text = PyUnicode_FromFormat("a buffer cannot have %s %S", what, object);
	PyObject *bytes = text ? PyUnicode_AsUTF8String(text) : NULL;

	Py_XDECREF(text);
	if (!bytes)
		return;
	PyOS_snprintf(e.text, sizeof(e.text), "%s", PyBytes_AsString(bytes));
	Py_DECREF(bytes);
	raise_error(e.code, &e);
}

/* A size for the library, which refuses 0. */
static int parse_size(PyObject *object, const char *what, uint64_t *size)
{
	int64_t value;

	if (parse_i64(object, what, &value))
		return -1;
	if (value < 0 || value == INT64_MAX) {
		refuse_size(object, what);
		return -1;
	}
	*size = (uint64_t)value;
	return 0;
}

typedef int allocate_fn(struct simpler_worker *w, uint64_t size, struct simpler_buffer **out);

static PyObject *allocate(PyObject *self, PyObject *object, const char *what, allocate_fn *f)
{
	struct worker_object *w = worker_of(self);
	struct simpler_buffer *b;
	uint64_t size;
	int rc;

	if (parse_size(object, what, &size) || worker_usable(w))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	rc = f(w->worker, size, &b);
	Py_END_ALLOW_THREADS
	return rc ? worker_raise(w, rc) : buffer_new(b, self);
}

static PyObject *worker_malloc(PyObject *self, PyObject *size)
{
	return allocate(self, size, "size", simpler_worker_malloc);
}

static PyObject *worker_create_buffer(PyObject *self, PyObject *nbytes)
{
	return allocate(self, nbytes, "nbytes", simpler_worker_create_buffer);
}

static PyObject *worker_free(PyObject *self, PyObject *handle)
{
	struct worker_object *w = worker_of(self);
	int rc;

	if (!PyObject_TypeCheck(handle, buffer_type))
		return PyErr_Format(PyExc_TypeError, "free() takes a Buffer, not %R", handle);
	if (worker_usable(w))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	rc = simpler_worker_free(w->worker, ((struct buffer_object *)handle)->buffer);
	Py_END_ALLOW_THREADS
	if (rc)
		return worker_raise(w, rc);
	Py_RETURN_NONE;
}

/* ---- copies ---- */

struct copy_call {
	struct worker_object *worker;
	struct simpler_buffer *device;	/* must be one: the library checks */
	PyObject *host;			/* a Buffer, or memory */
	bool to_device;
	struct simpler_copy copy;
};

static int copy_offsets(struct simpler_copy *c, PyObject *dst, PyObject *src, PyObject *nbytes)
{
	*c = (struct simpler_copy){ .dst_offset = 0 };
	if ((dst && parse_i64(dst, "dst_offset", &c->dst_offset)) ||
	    (src && parse_i64(src, "src_offset", &c->src_offset)))
		return -1;
	if (!nbytes || nbytes == Py_None)
		return 0;
	c->flags = SIMPLER_COPY_NBYTES;
	return parse_i64(nbytes, "nbytes", &c->nbytes);
}

static int copy_buffers(const struct copy_call *c)
{
	struct simpler_buffer *host = ((struct buffer_object *)c->host)->buffer;

	return c->to_device ?
		simpler_worker_copy_to(c->worker->worker, c->device, host, &c->copy) :
		simpler_worker_copy_from(c->worker->worker, host, c->device, &c->copy);
}

static int copy_memory(const struct copy_call *c, const struct host_bytes *h)
{
	return c->to_device ?
		simpler_worker_copy_to_raw(c->worker->worker, c->device, h->data, h->bytes,
					   &c->copy) :
		simpler_worker_copy_from_raw(c->worker->worker, h->data, h->bytes, c->device,
					     &c->copy);
}

static int host_memory(const struct copy_call *c, struct host_bytes *h)
{
	if (host_bytes_get(c->host, h))
		return -1;
	if (c->to_device || !h->readonly)
		return 0;
	host_bytes_put(h);
	raise_error(SIMPLER_ERR_HOST_READONLY, NULL);
	return -1;
}

/* Waits for runs that use the buffers; a signal whose handler returns does not end that. */
static int copy_wait(struct copy_call *c, const struct host_bytes *h)
{
	struct waiting w;
	int rc;

	c->copy.wait = &w.wait;
	do {
		wait_begin(&w, WAIT_LONG_NS, false);
		rc = h ? copy_memory(c, h) : copy_buffers(c);
		wait_end(&w);
	} while (simpler_error_class(rc) == SIMPLER_CLASS_INTERRUPTED && !PyErr_Occurred());
	return rc;
}

static PyObject *copy_run(struct copy_call *c)
{
	bool raw = !PyObject_TypeCheck(c->host, buffer_type);
	struct host_bytes h;
	int rc;

	if (raw && host_memory(c, &h))
		return NULL;
	rc = copy_wait(c, raw ? &h : NULL);
	if (raw)
		host_bytes_put(&h);
	if (rc)
		return worker_raise(c->worker, rc);
	Py_RETURN_NONE;
}

static PyObject *copy_parse(PyObject *self, bool to_device, PyObject *const *args,
			    Py_ssize_t nargs, PyObject *kwnames)
{
	static const char *const names[] = { "dst", "src", "dst_offset", "src_offset", "nbytes",
					     NULL };
	const struct fast_names n = { to_device ? "copy_to" : "copy_from", names, 2, 2 };
	struct copy_call c = { .worker = worker_of(self), .to_device = to_device };
	PyObject *v[5], *device;

	if (fast_parse(&n, args, nargs, kwnames, v) || worker_usable(c.worker))
		return NULL;
	device = to_device ? v[0] : v[1];
	c.host = to_device ? v[1] : v[0];
	if (!PyObject_TypeCheck(device, buffer_type))
		return PyErr_Format(PyExc_TypeError, "%s of %s() must be a Buffer, not %R",
				    to_device ? "dst" : "src", n.function,
				    (PyObject *)Py_TYPE(device));
	c.device = ((struct buffer_object *)device)->buffer;
	return copy_offsets(&c.copy, v[2], v[3], v[4]) ? NULL : copy_run(&c);
}

static PyObject *worker_copy_to(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
				PyObject *kwnames)
{
	return copy_parse(self, true, args, nargs, kwnames);
}

static PyObject *worker_copy_from(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
				  PyObject *kwnames)
{
	return copy_parse(self, false, args, nargs, kwnames);
}

static PyObject *worker_committed(PyObject *self, PyObject *args)
{
	int worker_id = 0;

	if (!PyArg_ParseTuple(args, "|i:committed_device_memory", &worker_id))
		return NULL;
	if (worker_id)
		return PyErr_Format(PyExc_IndexError, "worker %d, level 2 has worker 0 only",
				    worker_id);
	return PyLong_FromUnsignedLongLong(
		simpler_worker_committed_memory(worker_of(self)->worker));
}

PyMethodDef memory_methods[] = {
	{ "malloc", worker_malloc, METH_O,
	  "malloc($self, size)\n--\n\nAllocate zeroed device memory." },
	{ "free", worker_free, METH_O, "free($self, handle)\n--\n\nRelease device memory." },
	{ "create_buffer", worker_create_buffer, METH_O,
	  "create_buffer($self, nbytes)\n--\n\nShared host memory that the Worker owns." },
	{ "copy_to", PY_METHOD(worker_copy_to), METH_FASTCALL | METH_KEYWORDS,
	  "copy_to($self, dst, src, *, dst_offset=0, src_offset=0, nbytes=None)\n--\n\n"
	  "Copy host memory to a device Buffer." },
	{ "copy_from", PY_METHOD(worker_copy_from), METH_FASTCALL | METH_KEYWORDS,
	  "copy_from($self, dst, src, *, dst_offset=0, src_offset=0, nbytes=None)\n--\n\n"
	  "Copy a device Buffer to host memory." },
	{ "committed_device_memory", worker_committed, METH_VARARGS,
	  "committed_device_memory($self, worker_id=0)\n--\n\nBytes of device memory in use." },
	{ NULL, NULL, 0, NULL }
};
