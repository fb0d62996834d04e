/* SPDX-License-Identifier: MIT */
/* TaskArgs and TaskHandle (worker-api §9). */
#include "binding.h"

PyTypeObject *args_type;
static PyTypeObject *task_handle_type;

/* ---- the shared list ---- */

static struct args_box *box_new(struct simpler_task_args *args)
{
	struct args_box *box = PyMem_Malloc(sizeof(*box));
	int rc = 0;

	if (!box) {
		simpler_task_args_destroy(args);
		PyErr_NoMemory();
		return NULL;
	}
	box->refs = 1;
	box->args = args;
	if (!args)
		rc = simpler_task_args_create(&box->args);
	if (!rc)
		return box;
	PyMem_Free(box);
	raise_error(rc, NULL);
	return NULL;
}

struct args_box *args_box_get(struct args_object *a)
{
	a->box->refs++;
	return a->box;
}

void args_box_put(struct args_box *box)
{
	if (!box || --box->refs)
		return;
	simpler_task_args_destroy(box->args);
	PyMem_Free(box);
}

static int copy_tensor(struct simpler_task_args *to, const struct simpler_task_args *from, size_t i)
{
	struct simpler_tensor t;
	int rc = simpler_task_args_tensor(from, i, &t);

	if (!rc)
		rc = simpler_task_args_add_tensor(to, &t, SIMPLER_TAG_NO_DEP,
						  simpler_task_args_transfer(from, i), NULL);
	/* a tag may exceed the grant until submit: it is set, not added */
	return rc ? rc : simpler_task_args_set_tag(to, i, simpler_task_args_tag(from, i));
}

static int copy_entries(struct simpler_task_args *to, const struct simpler_task_args *from)
{
	size_t tensors = simpler_task_args_tensor_count(from);
	size_t scalars = simpler_task_args_scalar_count(from), i;
	uint64_t word;
	int rc = 0;

	for (i = 0; i < tensors && !rc; i++)
		rc = copy_tensor(to, from, i);
	for (i = 0; i < scalars && !rc; i++) {
		rc = simpler_task_args_scalar(from, i, &word);
		if (!rc)
			rc = simpler_task_args_add_scalar(to, word);
	}
	return rc;
}

static struct simpler_task_args *args_read(PyObject *self)
{
	return ((struct args_object *)self)->box->args;
}

/* The list for a change; NULL with an exception. */
static struct simpler_task_args *args_change(PyObject *self)
{
	struct args_object *a = (struct args_object *)self;
	struct args_box *copy;
	int rc;

	if (a->box->refs == 1)
		return a->box->args;
	copy = box_new(NULL);
	if (!copy)
		return NULL;
	rc = copy_entries(copy->args, a->box->args);
	if (rc) {
		args_box_put(copy);
		raise_error(rc, NULL);
		return NULL;
	}
	args_box_put(a->box);
	a->box = copy;
	return copy->args;
}

/* ---- building ---- */

static PyObject *args_wrap(PyTypeObject *type, struct simpler_task_args *args)
{
	allocfunc alloc = PyType_GetSlot(type, Py_tp_alloc);
	struct args_box *box = box_new(args);
	PyObject *self = box ? alloc(type, 0) : NULL;

	if (self)
		((struct args_object *)self)->box = box;
	else
		args_box_put(box);
	return self;
}

static PyObject *args_tp_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { NULL };

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, ":TaskArgs", names))
		return NULL;
	return args_wrap(type, NULL);
}

static void args_dealloc(PyObject *self)
{
	args_box_put(((struct args_object *)self)->box);
	object_free(self);
}

static PyObject *args_add_tensor(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
				 PyObject *kwnames)
{
	static const char *const names[] = { "tensor", "tag", "transfer", NULL };
	static const struct fast_names n = { "add_tensor", names, 2, 1 };
	int tag = SIMPLER_TAG_INPUT, transfer = SIMPLER_TRANSFER_DEFAULT, rc;
	struct simpler_task_args *list;
	struct simpler_error e;
	PyObject *v[3];

	if (fast_parse(&n, args, nargs, kwnames, v))
		return NULL;
	if (!PyObject_TypeCheck(v[0], tensor_type))
		return PyErr_Format(PyExc_TypeError, "add_tensor() takes a Tensor, not %R",
				    (PyObject *)Py_TYPE(v[0]));
	if (v[1] && enum_value(ENUM_TENSOR_ARG_TYPE, v[1], &tag))
		return NULL;
	if (v[2] && v[2] != Py_None && enum_value(ENUM_TENSOR_TRANSFER, v[2], &transfer))
		return NULL;
	if (v[2] && v[2] != Py_None && transfer < 0)
		return PyErr_Format(PyExc_ValueError, "unknown transfer request %d", transfer);
	list = args_change(self);
	if (!list)
		return NULL;
	rc = simpler_task_args_add_tensor(list, &((struct tensor_object *)v[0])->tensor, tag,
					  transfer, &e);
	if (rc)
		return raise_error(rc, &e);
	Py_RETURN_NONE;
}

static PyObject *args_add_scalar(PyObject *self, PyObject *value)
{
	struct simpler_task_args *list;
	uint64_t word;
	int rc;

	if (parse_scalar(value, &word))
		return NULL;
	list = args_change(self);
	if (!list)
		return NULL;
	rc = simpler_task_args_add_scalar(list, word);
	if (rc)
		return raise_error(rc, NULL);
	Py_RETURN_NONE;
}

static PyObject *args_clear(PyObject *self, PyObject *unused)
{
	struct simpler_task_args *list = args_change(self);

	(void)unused;
	if (!list)
		return NULL;
	simpler_task_args_clear(list);
	Py_RETURN_NONE;
}

/* Handles come from an orchestration of level 3, in which the edges have their meaning. */
static PyObject *args_add_dep(PyObject *self, PyObject *args)
{
	Py_ssize_t i, n = PyTuple_Size(args);

	(void)self;
	for (i = 0; i < n; i++)
		if (!PyObject_TypeCheck(PyTuple_GetItem(args, i), task_handle_type))
			return PyErr_Format(PyExc_TypeError, "a dependence is a TaskHandle, not %R",
					    PyTuple_GetItem(args, i));
	Py_RETURN_NONE;
}

/* ---- reading ---- */

/* An index as the library takes it; what is negative or too large is out of range there. */
static int parse_index(PyObject *object, size_t *i)
{
	int64_t value;

	if (parse_i64(object, "index", &value))
		return -1;
	*i = value < 0 ? SIZE_MAX : (size_t)value;
	return 0;
}

static PyObject *raise_no_tensor(PyObject *self, PyObject *index)
{
	return PyErr_Format(PyExc_IndexError, "tensor %S, there are %zu", index,
			    simpler_task_args_tensor_count(args_read(self)));
}

static PyObject *raise_no_scalar(PyObject *self, PyObject *index)
{
	return PyErr_Format(PyExc_IndexError, "scalar %S, there are %zu", index,
			    simpler_task_args_scalar_count(args_read(self)));
}

static PyObject *args_tensor(PyObject *self, PyObject *index)
{
	struct simpler_tensor t;
	size_t i;

	if (parse_index(index, &i))
		return NULL;
	if (simpler_task_args_tensor(args_read(self), i, &t))
		return raise_no_tensor(self, index);
	return tensor_new(&t);
}

static PyObject *args_scalar(PyObject *self, PyObject *index)
{
	uint64_t word;
	size_t i;

	if (parse_index(index, &i))
		return NULL;
	if (simpler_task_args_scalar(args_read(self), i, &word))
		return raise_no_scalar(self, index);
	return PyLong_FromUnsignedLongLong(word);
}

static PyObject *args_tag(PyObject *self, PyObject *index)
{
	size_t i;
	int tag;

	if (parse_index(index, &i))
		return NULL;
	tag = simpler_task_args_tag(args_read(self), i);
	if (tag < 0)
		return raise_no_tensor(self, index);
	return enum_member(ENUM_TENSOR_ARG_TYPE, tag);
}

static PyObject *args_transfer(PyObject *self, PyObject *index)
{
	int transfer;
	size_t i;

	if (parse_index(index, &i))
		return NULL;
	transfer = simpler_task_args_transfer(args_read(self), i);
	if (transfer < 0)
		return raise_no_tensor(self, index);
	return enum_member(ENUM_TENSOR_TRANSFER, transfer);
}

static PyObject *args_set_tag(PyObject *self, PyObject *args)
{
	struct simpler_task_args *list;
	PyObject *index, *value;
	size_t i;
	int tag, rc;

	if (!PyArg_ParseTuple(args, "OO:set_tag", &index, &value) || parse_index(index, &i) ||
	    enum_value(ENUM_TENSOR_ARG_TYPE, value, &tag))
		return NULL;
	list = args_change(self);
	if (!list)
		return NULL;
	rc = simpler_task_args_set_tag(list, i, tag);
	if (rc == SIMPLER_ERR_INDEX)
		return raise_no_tensor(self, index);
	if (rc)
		return raise_error(rc, NULL);
	Py_RETURN_NONE;
}

static PyObject *args_tensor_count(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromSize_t(simpler_task_args_tensor_count(args_read(self)));
}

static PyObject *args_scalar_count(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromSize_t(simpler_task_args_scalar_count(args_read(self)));
}

static Py_ssize_t args_length(PyObject *self)
{
	return (Py_ssize_t)(simpler_task_args_tensor_count(args_read(self)) +
			    simpler_task_args_scalar_count(args_read(self)));
}

/* ---- blobs ---- */

static PyObject *args_to_blob(PyObject *self, PyObject *unused)
{
	size_t size = simpler_task_args_blob_size(args_read(self));
	PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
	struct simpler_error e;
	int rc;

	(void)unused;
	if (!bytes)
		return NULL;
	rc = simpler_task_args_encode(args_read(self), PyBytes_AsString(bytes), size, &e);
	if (!rc)
		return bytes;
	Py_DECREF(bytes);
	return raise_error(rc, &e);
}

static PyObject *read_args_from_blob(PyObject *unused, PyObject *blob)
{
	struct simpler_task_args *args;
	struct simpler_error e;
	struct host_bytes h;
	int rc;

	(void)unused;
	if (host_bytes_get(blob, &h))
		return NULL;
	rc = simpler_task_args_decode(h.data, h.bytes, &args, &e);
	host_bytes_put(&h);
	return rc ? raise_error(rc, &e) : args_wrap(args_type, args);
}

static PyObject *scalar_to_uint64(PyObject *unused, PyObject *value)
{
	uint64_t word;

	(void)unused;
	return parse_scalar(value, &word) ? NULL : PyLong_FromUnsignedLongLong(word);
}

static PyMethodDef args_methods[] = {
	{ "add_tensor", PY_METHOD(args_add_tensor), METH_FASTCALL | METH_KEYWORDS,
	  "add_tensor($self, tensor, tag=TensorArgType.INPUT, *, transfer=None)\n--\n\n"
	  "Append a view; all tensors precede all scalars." },
	{ "add_scalar", args_add_scalar, METH_O,
	  "add_scalar($self, value)\n--\n\nAppend a word; floats become 32-bit float bits." },
	{ "add_dep", args_add_dep, METH_VARARGS,
	  "add_dep($self, *handles)\n--\n\nWait for tasks and keep their resources (level >= 3)." },
	{ "add_dep_wait", args_add_dep, METH_VARARGS,
	  "add_dep_wait($self, *handles)\n--\n\nWait for tasks (level >= 3)." },
	{ "tensor", args_tensor, METH_O, "tensor($self, i)\n--\n\nView i." },
	{ "tag", args_tag, METH_O, "tag($self, i)\n--\n\nTag of view i." },
	{ "set_tag", args_set_tag, METH_VARARGS, "set_tag($self, i, tag)\n--\n\nChange a tag." },
	{ "transfer", args_transfer, METH_O,
	  "transfer($self, i)\n--\n\nEffective transfer request of view i." },
	{ "scalar", args_scalar, METH_O, "scalar($self, i)\n--\n\nWord i." },
	{ "tensor_count", args_tensor_count, METH_NOARGS, "tensor_count($self)\n--\n\n" },
	{ "scalar_count", args_scalar_count, METH_NOARGS, "scalar_count($self)\n--\n\n" },
	{ "clear", args_clear, METH_NOARGS, "clear($self)\n--\n\nRemove all entries." },
	{ "to_blob", args_to_blob, METH_NOARGS, "to_blob($self)\n--\n\nThe bytes that travel." },
	{ NULL, NULL, 0, NULL }
};

static PyType_Slot args_slots[] = {
	{ Py_tp_doc, "TaskArgs()\n--\n\nArguments of a run: tensors with tags, then scalars." },
	{ Py_tp_new, args_tp_new },
	{ Py_tp_dealloc, args_dealloc },
	{ Py_tp_methods, args_methods },
	{ Py_mp_length, args_length },
	{ 0, NULL }
};

static PyType_Spec args_spec = {
	.name = "simpler.task_interface.TaskArgs",
	.basicsize = sizeof(struct args_object),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = args_slots,
};

static PyType_Slot task_handle_slots[] = {
	{ Py_tp_doc, "Names a task of an orchestration at level >= 3." },
	{ Py_tp_dealloc, object_free },
	{ 0, NULL }
};

static PyType_Spec task_handle_spec = {
	.name = "simpler.task_interface.TaskHandle",
	.basicsize = sizeof(PyObject),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = task_handle_slots,
};

static PyMethodDef args_functions[] = {
	{ "read_args_from_blob", read_args_from_blob, METH_O,
	  "read_args_from_blob(blob)\n--\n\nTaskArgs from TaskArgs.to_blob()." },
	{ "scalar_to_uint64", scalar_to_uint64, METH_O,
	  "scalar_to_uint64(value)\n--\n\nThe word that add_scalar() appends." },
	{ NULL, NULL, 0, NULL }
};

int args_add(PyObject *module)
{
	args_type = type_add(module, &args_spec);
	task_handle_type = type_add(module, &task_handle_spec);
	if (!args_type || !task_handle_type)
		return -1;
	return PyModule_AddFunctions(module, args_functions);
}
