/* SPDX-License-Identifier: MIT */
/* CoreCallable, ChipCallable, CallableHandle (worker-api §4). */
#include "binding.h"

/* One more than is legal, so that the library sees, and names, what is too long. */
#define SIGNATURE_READ (SIMPLER_CHIP_MAX_TENSORS + SIMPLER_CHIP_MAX_SCALARS + 1)
#define CHILDREN_READ (SIMPLER_CHIP_MAX_CHILDREN + 1)

PyTypeObject *chip_type, *handle_type;
static PyTypeObject *core_type;

struct core_object {
	PyObject_HEAD
	struct simpler_core_callable *callable;
};

static struct simpler_core_callable *core_of(PyObject *self)
{
	return ((struct core_object *)self)->callable;
}

static struct simpler_chip_callable *chip_of(PyObject *self)
{
	return ((struct chip_object *)self)->callable;
}

/* ---- parts of a callable ---- */

static int parse_signature(PyObject *object, int32_t signature[SIGNATURE_READ], size_t *count)
{
	PyObject *tuple = object ? PySequence_Tuple(object) : PyTuple_New(0);
	Py_ssize_t i, n;
	int rc = 0;

	if (!tuple)
		return -1;
	n = PyTuple_Size(tuple);
	for (i = 0; i < n && i < SIGNATURE_READ && !rc; i++)
		rc = enum_value(ENUM_ARG_DIRECTION, PyTuple_GetItem(tuple, i), &signature[i]);
	Py_DECREF(tuple);
	*count = n > SIGNATURE_READ ? SIGNATURE_READ : (size_t)n;
	return rc;
}

static PyObject *raise_no_entry(PyObject *index, size_t count)
{
	return PyErr_Format(PyExc_IndexError, "index %S, there are %zu", index, count);
}

static int parse_entry(PyObject *object, size_t *i)
{
	int64_t value;

	if (parse_i64(object, "index", &value))
		return -1;
	*i = value < 0 ? SIZE_MAX : (size_t)value;
	return 0;
}

static PyObject *bytes_of(const void *data, size_t size)
{
	return PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
}

/* ---- kernels ---- */

/* Takes over the reference. */
static PyObject *core_new(struct simpler_core_callable *callable)
{
	allocfunc alloc = PyType_GetSlot(core_type, Py_tp_alloc);
	struct core_object *self = (struct core_object *)alloc(core_type, 0);

	if (self)
		self->callable = callable;
	else
		simpler_core_callable_put(callable);
	return (PyObject *)self;
}

static void core_dealloc(PyObject *self)
{
	simpler_core_callable_put(core_of(self));
	object_free(self);
}

static PyObject *core_build(PyObject *unused, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "signature", "binary", NULL };
	struct simpler_core_callable *callable;
	int32_t signature[SIGNATURE_READ];
	PyObject *directions, *binary;
	struct simpler_error e;
	struct host_bytes h;
	size_t count;
	int rc;

	(void)unused;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:build", names, &directions, &binary) ||
	    parse_signature(directions, signature, &count) || host_bytes_get(binary, &h))
		return NULL;
	rc = simpler_core_callable_build(signature, count, h.data, h.bytes, &callable, &e);
	host_bytes_put(&h);
	return rc ? raise_error(rc, &e) : core_new(callable);
}

static PyObject *core_from_bytes(PyObject *unused, PyObject *raw)
{
	struct simpler_core_callable *callable;
	struct simpler_error e;
	struct host_bytes h;
	int rc;

	(void)unused;
	if (host_bytes_get(raw, &h))
		return NULL;
	rc = simpler_core_callable_from_bytes(h.data, h.bytes, &callable, &e);
	host_bytes_put(&h);
	return rc ? raise_error(rc, &e) : core_new(callable);
}

static PyObject *core_to_bytes(PyObject *self, PyObject *unused)
{
	size_t size;
	const void *data = simpler_core_callable_bytes(core_of(self), &size);

	(void)unused;
	return bytes_of(data, size);
}

static PyObject *core_sig(PyObject *self, PyObject *index)
{
	int direction;
	size_t i;

	if (parse_entry(index, &i))
		return NULL;
	direction = simpler_core_callable_sig(core_of(self), i);
	if (direction < 0)
		return raise_no_entry(index, simpler_core_callable_sig_count(core_of(self)));
	return enum_member(ENUM_ARG_DIRECTION, direction);
}

static PyObject *core_get_sig_count(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromSize_t(simpler_core_callable_sig_count(core_of(self)));
}

static PyObject *core_get_binary_size(PyObject *self, void *unused)
{
	size_t size;

	(void)unused;
	simpler_core_callable_binary(core_of(self), &size);
	return PyLong_FromSize_t(size);
}

static PyMethodDef core_methods[] = {
	{ "build", PY_METHOD(core_build), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
	  "build(signature, binary)\n--\n\nA kernel: directions of its operands, object." },
	{ "from_bytes", core_from_bytes, METH_O | METH_STATIC,
	  "from_bytes(raw)\n--\n\nInverse of to_bytes()." },
	{ "to_bytes", core_to_bytes, METH_NOARGS, "to_bytes($self)\n--\n\nThe serialized form." },
	{ "sig", core_sig, METH_O, "sig($self, i)\n--\n\nDirection of operand i." },
	{ NULL, NULL, 0, NULL }
};

static PyGetSetDef core_getset[] = {
	{ "sig_count", core_get_sig_count, NULL, "Entries of the signature.", NULL },
	{ "binary_size", core_get_binary_size, NULL, "Bytes of the kernel object.", NULL },
	{ NULL, NULL, NULL, NULL, NULL }
};

static PyType_Slot core_slots[] = {
	{ Py_tp_doc, "A kernel; made by CoreCallable.build()." },
	{ Py_tp_dealloc, core_dealloc },
	{ Py_tp_methods, core_methods },
	{ Py_tp_getset, core_getset },
	{ 0, NULL }
};

static PyType_Spec core_spec = {
	.name = "simpler.task_interface.CoreCallable",
	.basicsize = sizeof(struct core_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = core_slots,
};

/* ---- orchestrations ---- */

static PyObject *chip_new(struct simpler_chip_callable *callable)
{
	allocfunc alloc = PyType_GetSlot(chip_type, Py_tp_alloc);
	struct chip_object *self = (struct chip_object *)alloc(chip_type, 0);

	if (self)
		self->callable = callable;
	else
		simpler_chip_callable_put(callable);
	return (PyObject *)self;
}

static void chip_dealloc(PyObject *self)
{
	simpler_chip_callable_put(chip_of(self));
	object_free(self);
}

static int parse_child(PyObject *pair, struct simpler_chip_child *child)
{
	PyObject *core;
	int64_t func_id;

	if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
		PyErr_Format(PyExc_TypeError, "a child is a tuple (func_id, CoreCallable), not %R",
			     pair);
		return -1;
	}
	core = PyTuple_GetItem(pair, 1);
	if (!PyObject_TypeCheck(core, core_type)) {
		PyErr_Format(PyExc_TypeError, "a child is a CoreCallable, not %R",
			     (PyObject *)Py_TYPE(core));
		return -1;
	}
	if (parse_i64(PyTuple_GetItem(pair, 0), "func_id", &func_id))
		return -1;
	if (func_id < INT32_MIN || func_id > INT32_MAX) {
		PyErr_Format(PyExc_ValueError, "func_id %S needs more than 32 bits",
			     PyTuple_GetItem(pair, 0));
		return -1;
	}
	*child = (struct simpler_chip_child){ (int32_t)func_id, core_of(core) };
	return 0;
}

/* The tuple keeps the kernels alive. */
static int parse_children(PyObject *object, PyObject **tuple, struct simpler_chip_child **children,
			  size_t *count)
{
	size_t i, n;

	*tuple = object ? PySequence_Tuple(object) : PyTuple_New(0);
	if (!*tuple)
		return -1;
	n = (size_t)PyTuple_Size(*tuple);
	*count = n > CHILDREN_READ ? CHILDREN_READ : n;
	*children = PyMem_Malloc((*count + 1) * sizeof(**children));
	if (!*children) {
		PyErr_NoMemory();
		return -1;
	}
	for (i = 0; i < *count; i++)
		if (parse_child(PyTuple_GetItem(*tuple, (Py_ssize_t)i), &(*children)[i]))
			return -1;
	return 0;
}

static PyObject *chip_from_spec(const struct simpler_chip_spec *spec)
{
	struct simpler_chip_callable *callable;
	struct simpler_error e;
	int rc = simpler_chip_callable_build(spec, &callable, &e);

	return rc ? raise_error(rc, &e) : chip_new(callable);
}

static PyObject *chip_build(PyObject *unused, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "signature", "func_name", "binary", "children", "config_name",
				 NULL };
	PyObject *directions, *binary, *list = NULL, *tuple = NULL, *self = NULL;
	struct simpler_chip_child *children = NULL;
	int32_t signature[SIGNATURE_READ];
	struct simpler_chip_spec spec = { .signature = signature };
	struct host_bytes h;

	(void)unused;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OsO|Os:build", names, &directions,
					 &spec.func_name, &binary, &list, &spec.config_name) ||
	    parse_signature(directions, signature, &spec.sig_count) || host_bytes_get(binary, &h))
		return NULL;
	spec.binary = h.data;
	spec.binary_bytes = h.bytes;
	if (!parse_children(list, &tuple, &children, &spec.child_count)) {
		spec.children = children;
		self = chip_from_spec(&spec);
	}
	PyMem_Free(children);
	Py_XDECREF(tuple);
	host_bytes_put(&h);
	return self;
}

static PyObject *chip_from_bytes(PyObject *unused, PyObject *raw)
{
	struct simpler_chip_callable *callable;
	struct simpler_error e;
	struct host_bytes h;
	int rc;

	(void)unused;
	if (host_bytes_get(raw, &h))
		return NULL;
	rc = simpler_chip_callable_from_bytes(h.data, h.bytes, &callable, &e);
	host_bytes_put(&h);
	return rc ? raise_error(rc, &e) : chip_new(callable);
}

static PyObject *chip_to_bytes(PyObject *self, PyObject *unused)
{
	size_t size;
	const void *data = simpler_chip_callable_bytes(chip_of(self), &size);

	(void)unused;
	return bytes_of(data, size);
}

static PyObject *chip_buffer_ptr(PyObject *self, PyObject *unused)
{
	size_t size;

	(void)unused;
	return PyLong_FromUnsignedLongLong(
		(uintptr_t)simpler_chip_callable_bytes(chip_of(self), &size));
}

static PyObject *chip_buffer_size(PyObject *self, PyObject *unused)
{
	size_t size;

	(void)unused;
	simpler_chip_callable_bytes(chip_of(self), &size);
	return PyLong_FromSize_t(size);
}

static PyObject *chip_sig(PyObject *self, PyObject *index)
{
	int direction;
	size_t i;

	if (parse_entry(index, &i))
		return NULL;
	direction = simpler_chip_callable_sig(chip_of(self), i);
	if (direction < 0)
		return raise_no_entry(index, simpler_chip_callable_sig_count(chip_of(self)));
	return enum_member(ENUM_ARG_DIRECTION, direction);
}

static PyObject *raise_no_child(PyObject *self, PyObject *index)
{
	return raise_no_entry(index, simpler_chip_callable_child_count(chip_of(self)));
}

static PyObject *chip_child(PyObject *self, PyObject *index)
{
	struct simpler_core_callable *core;
	size_t i;
	int rc;

	if (parse_entry(index, &i))
		return NULL;
	rc = simpler_chip_callable_child(chip_of(self), i, &core);
	if (rc == SIMPLER_ERR_INDEX)
		return raise_no_child(self, index);
	return rc ? raise_error(rc, NULL) : core_new(core);
}

static PyObject *chip_child_func_id(PyObject *self, PyObject *index)
{
	int32_t func_id;
	size_t i;

	if (parse_entry(index, &i))
		return NULL;
	if (simpler_chip_callable_child_func_id(chip_of(self), i, &func_id))
		return raise_no_child(self, index);
	return PyLong_FromLong(func_id);
}

static PyObject *chip_child_offset(PyObject *self, PyObject *index)
{
	uint32_t offset;
	size_t i;

	if (parse_entry(index, &i))
		return NULL;
	if (simpler_chip_callable_child_offset(chip_of(self), i, &offset))
		return raise_no_child(self, index);
	return PyLong_FromUnsignedLong(offset);
}

static PyMethodDef chip_methods[] = {
	{ "build", PY_METHOD(chip_build), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
	  "build(signature, func_name, binary, children=(), config_name='')\n--\n\n"
	  "An orchestration with its kernels." },
	{ "from_bytes", chip_from_bytes, METH_O | METH_STATIC,
	  "from_bytes(raw)\n--\n\nInverse of to_bytes(); everything is checked." },
	{ "to_bytes", chip_to_bytes, METH_NOARGS, "to_bytes($self)\n--\n\nThe serialized form." },
	{ "buffer_ptr", chip_buffer_ptr, METH_NOARGS,
	  "buffer_ptr($self)\n--\n\nAddress of the serialized form." },
	{ "buffer_size", chip_buffer_size, METH_NOARGS,
	  "buffer_size($self)\n--\n\nBytes of the serialized form." },
	{ "sig", chip_sig, METH_O, "sig($self, i)\n--\n\nDirection of argument i." },
	{ "child", chip_child, METH_O, "child($self, i)\n--\n\nKernel i." },
	{ "child_func_id", chip_child_func_id, METH_O,
	  "child_func_id($self, i)\n--\n\nThe id that the orchestration submits." },
	{ "child_offset", chip_child_offset, METH_O,
	  "child_offset($self, i)\n--\n\nWhere kernel i lies in the storage." },
	{ NULL, NULL, 0, NULL }
};

static PyObject *chip_get_sig_count(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromSize_t(simpler_chip_callable_sig_count(chip_of(self)));
}

static PyObject *chip_get_scalar_count(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromSize_t(simpler_chip_callable_scalar_count(chip_of(self)));
}

static PyObject *chip_get_binary_size(PyObject *self, void *unused)
{
	size_t size;

	(void)unused;
	simpler_chip_callable_binary(chip_of(self), &size);
	return PyLong_FromSize_t(size);
}

static PyObject *chip_get_child_count(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromSize_t(simpler_chip_callable_child_count(chip_of(self)));
}

static PyObject *chip_get_func_name(PyObject *self, void *unused)
{
	(void)unused;
	return PyUnicode_FromString(simpler_chip_callable_func_name(chip_of(self)));
}

static PyObject *chip_get_config_name(PyObject *self, void *unused)
{
	(void)unused;
	return PyUnicode_FromString(simpler_chip_callable_config_name(chip_of(self)));
}

static PyGetSetDef chip_getset[] = {
	{ "sig_count", chip_get_sig_count, NULL, "Entries of the signature.", NULL },
	{ "scalar_count", chip_get_scalar_count, NULL, "SCALAR entries of the signature.", NULL },
	{ "binary_size", chip_get_binary_size, NULL, "Bytes of the orchestration object.", NULL },
	{ "child_count", chip_get_child_count, NULL, "Number of kernels.", NULL },
	{ "func_name", chip_get_func_name, NULL, "Exported orchestration symbol.", NULL },
	{ "config_name", chip_get_config_name, NULL, "Exported configuration symbol, or ''.",
	  NULL },
	{ NULL, NULL, NULL, NULL, NULL }
};

static PyType_Slot chip_slots[] = {
	{ Py_tp_doc, "An orchestration with its kernels; made by ChipCallable.build()." },
	{ Py_tp_dealloc, chip_dealloc },
	{ Py_tp_methods, chip_methods },
	{ Py_tp_getset, chip_getset },
	{ 0, NULL }
};

static PyType_Spec chip_spec = {
	.name = "simpler.task_interface.ChipCallable",
	.basicsize = sizeof(struct chip_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = chip_slots,
};

/* ---- handles ---- */

static struct simpler_callable_handle *handle_of(PyObject *self)
{
	return &((struct handle_object *)self)->handle;
}

PyObject *handle_new(const struct simpler_callable_handle *h)
{
	allocfunc alloc = PyType_GetSlot(handle_type, Py_tp_alloc);
	PyObject *self = alloc(handle_type, 0);

	if (self)
		*handle_of(self) = *h;
	return self;
}

static PyObject *handle_get_hashid(PyObject *self, void *unused)
{
	char text[SIMPLER_HASHID_BYTES];

	(void)unused;
	simpler_hashid_format(handle_of(self)->digest, text);
	return PyUnicode_FromString(text);
}

static PyObject *handle_get_digest(PyObject *self, void *unused)
{
	(void)unused;
	return bytes_of(handle_of(self)->digest, SIMPLER_DIGEST_BYTES);
}

static PyObject *handle_get_kind(PyObject *self, void *unused)
{
	(void)unused;
	return enum_member(ENUM_CALLABLE_KIND, handle_of(self)->kind);
}

static PyObject *handle_get_namespace(PyObject *self, void *unused)
{
	(void)unused;
	return enum_member(ENUM_CALLABLE_NAMESPACE, handle_of(self)->target_namespace);
}

static PyGetSetDef handle_getset[] = {
	{ "hashid", handle_get_hashid, NULL, "'sha256:' and the digest in hexadecimal.", NULL },
	{ "digest", handle_get_digest, NULL, "SHA-256 of the callable's descriptor.", NULL },
	{ "kind", handle_get_kind, NULL, "CallableKind.", NULL },
	{ "target_namespace", handle_get_namespace, NULL, "CallableNamespace.", NULL },
	{ NULL, NULL, NULL, NULL, NULL }
};

static PyObject *handle_repr(PyObject *self)
{
	char text[SIMPLER_HASHID_BYTES];

	simpler_hashid_format(handle_of(self)->digest, text);
	return PyUnicode_FromFormat("<CallableHandle %s>", text);
}

static PyObject *handle_tp_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { NULL };
	allocfunc alloc = PyType_GetSlot(type, Py_tp_alloc);

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, ":CallableHandle", names))
		return NULL;
	return alloc(type, 0);
}

static PyType_Slot handle_slots[] = {
	{ Py_tp_doc, "CallableHandle()\n--\n\nNames one registration at one Worker; one made by "
		     "hand is refused everywhere." },
	{ Py_tp_new, handle_tp_new },
	{ Py_tp_dealloc, object_free },
	{ Py_tp_repr, handle_repr },
	{ Py_tp_getset, handle_getset },
	{ 0, NULL }
};

static PyType_Spec handle_spec = {
	.name = "simpler.task_interface.CallableHandle",
	.basicsize = sizeof(struct handle_object),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = handle_slots,
};

int callable_add(PyObject *module)
{
	core_type = type_add(module, &core_spec);
	chip_type = type_add(module, &chip_spec);
	handle_type = type_add(module, &handle_spec);
	return core_type && chip_type && handle_type ? 0 : -1;
}
