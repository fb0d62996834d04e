/* SPDX-License-Identifier: MIT */
/* ChipTensor: a view with its address (worker-api §6); never an argument of Worker.run(). */
#include "binding.h"

struct chip_tensor {
	uint64_t address;
	uint64_t bytes;			/* of the backing memory */
	uint64_t start_offset;		/* in elements */
	uint32_t shapes[SIMPLER_MAX_DIMS];
	uint32_t strides[SIMPLER_MAX_DIMS];
	uint32_t ndims;
	uint8_t dtype;
	uint8_t address_space;
	uint8_t transfer;
	uint8_t padding;
};
_Static_assert(sizeof(struct chip_tensor) == 72, "ChipTensor layout");

struct chip_tensor_object {
	PyObject_HEAD
	struct chip_tensor tensor;
};

static PyTypeObject *chip_tensor_type;

static struct chip_tensor *tensor_of(PyObject *self)
{
	return &((struct chip_tensor_object *)self)->tensor;
}

/* Host memory of unknown size at @address, for the library's checks of views. */
static PyObject *memory_at(uint64_t address)
{
	struct simpler_buffer_desc desc = {
		.magic = SIMPLER_DESC_MAGIC,
		.address_space = SIMPLER_SPACE_HOST,
		.access = SIMPLER_ACCESS_READWRITE,
		.backend = SIMPLER_BACKEND_FORK_SHM,
		.identity = { .generation = 1 },
		.nbytes = UINT64_MAX,
		.body_len = sizeof(address),
	};
	struct simpler_buffer *b;
	struct simpler_error e;
	int rc;

	memcpy(desc.body, &address, sizeof(address));
	rc = simpler_buffer_from_descriptor(&desc, &b, &e);
	return rc ? raise_error(rc, &e) : buffer_new(b, NULL);
}

static PyObject *resolve(uint64_t address, const struct simpler_tensor *t)
{
	allocfunc alloc = PyType_GetSlot(chip_tensor_type, Py_tp_alloc);
	PyObject *self = alloc(chip_tensor_type, 0);

	if (!self)
		return NULL;
	*tensor_of(self) = (struct chip_tensor){
		.address = address,
		.bytes = simpler_tensor_extent(t) * simpler_dtype_size(t->dtype),
		.ndims = t->ndims,
		.dtype = t->dtype,
		.address_space = t->buffer.address_space,
		.transfer = SIMPLER_TRANSFER_H2D,
	};
	memcpy(tensor_of(self)->shapes, t->shapes, sizeof(t->shapes));
	memcpy(tensor_of(self)->strides, t->strides, sizeof(t->strides));
	return self;
}

static PyObject *chip_tensor_make(PyObject *unused, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "data", "shapes", "dtype", NULL };
	PyObject *data, *shapes, *dtype, *memory, *view, *self = NULL;
	uint64_t address;

	(void)unused;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:make", names, &data, &shapes, &dtype) ||
	    parse_token(data, "data", &address))
		return NULL;
	memory = memory_at(address);
	if (!memory)
		return NULL;
	view = PyObject_CallMethod(memory, "tensor", "OO", shapes, dtype);
	if (view)
		self = resolve(address, &((struct tensor_object *)view)->tensor);
	Py_XDECREF(view);
	Py_DECREF(memory);
	return self;
}

static PyObject *chip_tensor_to_bytes(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyBytes_FromStringAndSize((const char *)tensor_of(self), sizeof(struct chip_tensor));
}

static PyMethodDef chip_tensor_methods[] = {
	{ "make", PY_METHOD(chip_tensor_make), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
	  "make(data, shapes, dtype)\n--\n\nA contiguous view of host memory at an address." },
	{ "to_bytes", chip_tensor_to_bytes, METH_NOARGS,
	  "to_bytes($self)\n--\n\nThe 72 bytes of its layout." },
	{ NULL, NULL, 0, NULL }
};

static PyObject *chip_tensor_get_data(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong(tensor_of(self)->address);
}

static PyObject *chip_tensor_get_nbytes(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong(tensor_of(self)->bytes);
}

static PyObject *chip_tensor_get_shapes(PyObject *self, void *unused)
{
	(void)unused;
	return u64_tuple(tensor_of(self)->shapes, tensor_of(self)->ndims);
}

static PyObject *chip_tensor_get_strides(PyObject *self, void *unused)
{
	(void)unused;
	return u64_tuple(tensor_of(self)->strides, tensor_of(self)->ndims);
}

static PyObject *chip_tensor_get_dtype(PyObject *self, void *unused)
{
	(void)unused;
	return enum_member(ENUM_DATA_TYPE, tensor_of(self)->dtype);
}

static PyGetSetDef chip_tensor_getset[] = {
	{ "data", chip_tensor_get_data, NULL, "Address of the first byte.", NULL },
	{ "nbytes", chip_tensor_get_nbytes, NULL, "Size in bytes.", NULL },
	{ "shapes", chip_tensor_get_shapes, NULL, "Sizes of the dimensions.", NULL },
	{ "strides", chip_tensor_get_strides, NULL, "Strides in elements.", NULL },
	{ "dtype", chip_tensor_get_dtype, NULL, "Element type.", NULL },
	{ NULL, NULL, NULL, NULL, NULL }
};

static PyType_Slot chip_tensor_slots[] = {
	{ Py_tp_doc, "A view with its address, for interfaces below Worker; made by "
		     "ChipTensor.make()." },
	{ Py_tp_dealloc, object_free },
	{ Py_tp_methods, chip_tensor_methods },
	{ Py_tp_getset, chip_tensor_getset },
	{ 0, NULL }
};

static PyType_Spec chip_tensor_spec = {
	.name = "simpler.task_interface.ChipTensor",
	.basicsize = sizeof(struct chip_tensor_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = chip_tensor_slots,
};

int chip_tensor_add(PyObject *module)
{
	chip_tensor_type = type_add(module, &chip_tensor_spec);
	return chip_tensor_type ? 0 : -1;
}
