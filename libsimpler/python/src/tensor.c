/* SPDX-License-Identifier: MIT */
/* Tensor: a strided window of a buffer, by value (worker-api §6). */
#include "binding.h"

/* One more than is legal, so that the library sees, and names, what is too long. */
#define DIMS_READ (SIMPLER_MAX_DIMS + 1)

PyTypeObject *tensor_type;

static struct simpler_tensor *tensor_of(PyObject *self)
{
	return &((struct tensor_object *)self)->tensor;
}

static PyObject *tensor_alloc(PyTypeObject *type, const struct simpler_tensor *t)
{
	allocfunc alloc = PyType_GetSlot(type, Py_tp_alloc);
	PyObject *self = alloc(type, 0);

	if (self)
		*tensor_of(self) = *t;
	return self;
}

PyObject *tensor_new(const struct simpler_tensor *t)
{
	return tensor_alloc(tensor_type, t);
}

/* Numbers of a sequence; *count may exceed DIMS_READ, the rest is not read. */
static int parse_dims(PyObject *object, const char *what, uint64_t dims[DIMS_READ],
		      Py_ssize_t *count)
{
	PyObject *tuple = PySequence_Tuple(object);
	Py_ssize_t i;
	int rc = 0;

	if (!tuple)
		return -1;
	*count = PyTuple_Size(tuple);
	for (i = 0; i < *count && i < DIMS_READ && !rc; i++)
		rc = parse_u64(PyTuple_GetItem(tuple, i), what, &dims[i]);
	Py_DECREF(tuple);
	return rc;
}

struct description {
	uint64_t shapes[DIMS_READ], strides[DIMS_READ];
	struct simpler_view view;
};

static int describe(struct description *d, PyObject *shapes, PyObject *dtype, PyObject *strides,
		    PyObject *byte_offset)
{
	Py_ssize_t ndims, nstrides;

	if (enum_value(ENUM_DATA_TYPE, dtype, &d->view.dtype) ||
	    parse_dims(shapes, "invalid Tensor: shape", d->shapes, &ndims))
		return -1;
	d->view.ndims = ndims > DIMS_READ ? DIMS_READ : (uint32_t)ndims;
	d->view.shapes = d->shapes;
	d->view.strides = NULL;
	if (strides && strides != Py_None) {
		if (parse_dims(strides, "invalid Tensor: stride", d->strides, &nstrides))
			return -1;
		if (nstrides != ndims) {
			PyErr_Format(PyExc_ValueError,
				     "invalid Tensor: %zd strides for %zd dimensions", nstrides,
				     ndims);
			return -1;
		}
		d->view.strides = d->strides;
	}
	d->view.byte_offset = 0;
	return byte_offset ? parse_u64(byte_offset, "invalid Tensor: byte_offset",
				       &d->view.byte_offset) : 0;
}

static PyObject *tensor_make(PyTypeObject *type, PyObject *buffer, struct description *d)
{
	struct simpler_tensor t;
	struct simpler_error e;
	int rc;

	if (!PyObject_TypeCheck(buffer, buffer_type))
		return PyErr_Format(PyExc_TypeError, "a Tensor is made of a Buffer, not of %R",
				    (PyObject *)Py_TYPE(buffer));
	rc = simpler_tensor_init(&t, ((struct buffer_object *)buffer)->buffer, &d->view, &e);
	return rc ? raise_error(rc, &e) : tensor_alloc(type, &t);
}

static PyObject *tensor_tp_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "buffer", "shapes", "dtype", "strides", "byte_offset", NULL };
	PyObject *buffer, *shapes = NULL, *dtype = NULL, *strides = NULL, *offset = NULL;
	struct description d;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOO:Tensor", names, &buffer, &shapes,
					 &dtype, &strides, &offset))
		return NULL;
	if (!shapes || !dtype)
		return PyErr_Format(PyExc_TypeError, "Tensor() needs the keyword '%s'",
				    shapes ? "dtype" : "shapes");
	if (describe(&d, shapes, dtype, strides, offset))
		return NULL;
	return tensor_make(type, buffer, &d);
}

PyObject *tensor_describe(PyObject *buffer, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "shapes", "dtype", "strides", "byte_offset", NULL };
	PyObject *shapes, *dtype, *strides = NULL, *offset = NULL;
	struct description d;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:tensor", names, &shapes, &dtype,
					 &strides, &offset))
		return NULL;
	if (describe(&d, shapes, dtype, strides, offset))
		return NULL;
	return tensor_make(tensor_type, buffer, &d);
}

/* ---- methods ---- */

static PyObject *tensor_to_bytes(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyBytes_FromStringAndSize((const char *)tensor_of(self),
					 sizeof(struct simpler_tensor));
}

static PyObject *tensor_from_bytes(PyObject *unused, PyObject *bytes)
{
	struct simpler_tensor t;
	struct simpler_error e;
	struct host_bytes h;
	int rc;

	(void)unused;
	if (host_bytes_get(bytes, &h))
		return NULL;
	if (h.bytes == sizeof(t))
		memcpy(&t, h.data, sizeof(t));
	host_bytes_put(&h);
	if (h.bytes != sizeof(t))
		return PyErr_Format(PyExc_ValueError, "invalid Tensor: %llu bytes instead of %zu",
				    (unsigned long long)h.bytes, sizeof(t));
	rc = simpler_tensor_check(&t, &e);
	return rc ? raise_error(rc, &e) : tensor_new(&t);
}

static PyObject *tensor_is_contiguous(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyBool_FromLong(simpler_tensor_contiguous(tensor_of(self)));
}

static PyMethodDef tensor_methods[] = {
	{ "to_bytes", tensor_to_bytes, METH_NOARGS,
	  "to_bytes($self)\n--\n\nThe 144 bytes that travel." },
	{ "__bytes__", tensor_to_bytes, METH_NOARGS, NULL },
	{ "from_bytes", tensor_from_bytes, METH_O | METH_STATIC,
	  "from_bytes(data)\n--\n\nInverse of to_bytes(); everything is checked." },
	{ "is_contiguous", tensor_is_contiguous, METH_NOARGS,
	  "is_contiguous($self)\n--\n\nStrides are row-major in every dimension larger than 1." },
	{ NULL, NULL, 0, NULL }
};

static PyObject *tensor_get_shapes(PyObject *self, void *unused)
{
	(void)unused;
	return u64_tuple(tensor_of(self)->shapes, tensor_of(self)->ndims);
}

static PyObject *tensor_get_strides(PyObject *self, void *unused)
{
	(void)unused;
	return u64_tuple(tensor_of(self)->strides, tensor_of(self)->ndims);
}

static PyObject *tensor_get_dtype(PyObject *self, void *unused)
{
	(void)unused;
	return enum_member(ENUM_DATA_TYPE, tensor_of(self)->dtype);
}

static PyObject *tensor_get_ndims(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLong(tensor_of(self)->ndims);
}

static PyObject *tensor_get_byte_offset(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong(tensor_of(self)->byte_offset);
}

static PyObject *tensor_get_numel(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong(simpler_tensor_numel(tensor_of(self)));
}

/* From the first to the last byte touched. */
static PyObject *tensor_get_extent(PyObject *self, void *unused)
{
	const struct simpler_tensor *t = tensor_of(self);

	(void)unused;
	return PyLong_FromUnsignedLongLong(simpler_tensor_extent(t) * simpler_dtype_size(t->dtype));
}

static PyObject *tensor_get_space(PyObject *self, void *unused)
{
	(void)unused;
	return enum_member(ENUM_ADDRESS_SPACE, tensor_of(self)->buffer.address_space);
}

static PyGetSetDef tensor_getset[] = {
	{ "shapes", tensor_get_shapes, NULL, "Sizes of the dimensions.", NULL },
	{ "strides", tensor_get_strides, NULL, "Strides in elements.", NULL },
	{ "dtype", tensor_get_dtype, NULL, "Element type.", NULL },
	{ "ndims", tensor_get_ndims, NULL, "Number of dimensions.", NULL },
	{ "byte_offset", tensor_get_byte_offset, NULL, "Of the first element in the buffer.",
	  NULL },
	{ "numel", tensor_get_numel, NULL, "Number of elements.", NULL },
	{ "extent_bytes", tensor_get_extent, NULL, "From the first to the last byte touched.",
	  NULL },
	{ "address_space", tensor_get_space, NULL, "Of the buffer.", NULL },
	{ NULL, NULL, NULL, NULL, NULL }
};

static PyObject *tensor_repr(PyObject *self)
{
	const struct simpler_tensor *t = tensor_of(self);
	PyObject *shapes = u64_tuple(t->shapes, t->ndims);
	PyObject *text = NULL;

	if (shapes)
		text = PyUnicode_FromFormat("<Tensor %R %s of buffer %llu at byte %llu>", shapes,
					    simpler_dtype_name(t->dtype),
					    (unsigned long long)t->buffer.identity.buffer_id,
					    (unsigned long long)t->byte_offset);
	Py_XDECREF(shapes);
	return text;
}

static PyType_Slot tensor_slots[] = {
	{ Py_tp_doc, "Tensor(buffer, *, shapes, dtype, strides=None, byte_offset=0)\n--\n\n"
		     "A view of a Buffer. Allocates and transfers nothing, and does not keep the "
		     "buffer." },
	{ Py_tp_new, tensor_tp_new },
	{ Py_tp_dealloc, object_free },
	{ Py_tp_repr, tensor_repr },
	{ Py_tp_methods, tensor_methods },
	{ Py_tp_getset, tensor_getset },
	{ 0, NULL }
};

static PyType_Spec tensor_spec = {
	.name = "simpler.task_interface.Tensor",
	.basicsize = sizeof(struct tensor_object),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = tensor_slots,
};

int tensor_add(PyObject *module)
{
	tensor_type = type_add(module, &tensor_spec);
	return tensor_type ? 0 : -1;
}
