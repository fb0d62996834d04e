/* SPDX-License-Identifier: MIT */
/* Buffer, its shared memory, its identity, and the location of a chip (worker-api §5, §8). */
#include "binding.h"

PyTypeObject *buffer_type, *location_type;
static PyTypeObject *shm_type, *identity_type;

/* Host memory has the layout of its Buffer. */
static struct simpler_buffer *buffer_of(PyObject *self)
{
	return ((struct buffer_object *)self)->buffer;
}

static PyObject *object_new(PyTypeObject *type, struct simpler_buffer *b, PyObject *worker)
{
	allocfunc alloc = PyType_GetSlot(type, Py_tp_alloc);
	struct buffer_object *self = (struct buffer_object *)alloc(type, 0);

	if (!self) {
		simpler_buffer_put(b);
		return NULL;
	}
	self->buffer = b;
	self->worker = Py_XNewRef(worker);
	return (PyObject *)self;
}

static int buffer_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(((struct buffer_object *)self)->worker);
	return 0;
}

static int buffer_clear(PyObject *self)
{
	Py_CLEAR(((struct buffer_object *)self)->worker);
	return 0;
}

static void buffer_dealloc(PyObject *self)
{
	PyObject_GC_UnTrack(self);
	simpler_buffer_put(buffer_of(self));
	buffer_clear(self);
	object_free(self);
}

/* ---- identity ---- */

static PyStructSequence_Field identity_fields[] = {
	{ "owner_instance_id", "8 random bytes, new for every init of a Worker" },
	{ "buffer_id", "number of the buffer at its owner" },
	{ "generation", "from 1" },
	{ NULL, NULL }
};

static PyStructSequence_Desc identity_desc = {
	.name = "simpler.buffer.CanonicalIdentity",
	.doc = "What a buffer is known by everywhere; equality and hash use all three fields.",
	.fields = identity_fields,
	.n_in_sequence = 3,
};

static PyObject *identity_new(const struct simpler_identity *id)
{
	PyObject *seq = PyStructSequence_New(identity_type);
	PyObject *owner = PyBytes_FromStringAndSize((const char *)id->owner, sizeof(id->owner));
	PyObject *number = PyLong_FromUnsignedLongLong(id->buffer_id);
	PyObject *generation = PyLong_FromUnsignedLong(id->generation);

	if (!seq || !owner || !number || !generation) {
		Py_XDECREF(seq);
		Py_XDECREF(owner);
		Py_XDECREF(number);
		Py_XDECREF(generation);
		return NULL;
	}
	PyStructSequence_SetItem(seq, 0, owner);
	PyStructSequence_SetItem(seq, 1, number);
	PyStructSequence_SetItem(seq, 2, generation);
	return seq;
}

/* ---- shared memory ---- */

static int shm_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
	struct simpler_buffer *b = buffer_of(self);
	bool readonly = simpler_buffer_access(b) == SIMPLER_ACCESS_READ;
	void *data;
	int rc = simpler_buffer_pin(b, &data);

	view->obj = NULL;
	if (rc) {
		raise_error(rc, NULL);
		return -1;
	}
	rc = PyBuffer_FillInfo(view, self, data, (Py_ssize_t)simpler_buffer_nbytes(b), readonly,
			       flags);
	if (rc)
		simpler_buffer_unpin(b);
	return rc;
}

static void shm_releasebuffer(PyObject *self, Py_buffer *view)
{
	(void)view;
	simpler_buffer_unpin(buffer_of(self));
}

static PyObject *shm_get_buf(PyObject *self, void *unused)
{
	(void)unused;
	return PyMemoryView_FromObject(self);
}

static PyObject *shm_get_name(PyObject *self, void *unused)
{
	(void)unused;
	return PyUnicode_FromString(simpler_buffer_shm_name(buffer_of(self)));
}

static PyObject *shm_get_size(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong(simpler_buffer_nbytes(buffer_of(self)));
}

static PyGetSetDef shm_getset[] = {
	{ "buf", shm_get_buf, NULL, "A memoryview of the bytes; keeps them mapped while it lives.",
	  NULL },
	{ "name", shm_get_name, NULL, "Name of the shared memory object.", NULL },
	{ "size", shm_get_size, NULL, "Size in bytes.", NULL },
	{ NULL, NULL, NULL, NULL, NULL }
};

static PyType_Slot shm_slots[] = {
	{ Py_tp_doc, "Host memory of a Buffer." },
	{ Py_tp_dealloc, buffer_dealloc },
	{ Py_tp_traverse, buffer_traverse },
	{ Py_tp_clear, buffer_clear },
	{ Py_tp_getset, shm_getset },
	{ Py_bf_getbuffer, shm_getbuffer },
	{ Py_bf_releasebuffer, shm_releasebuffer },
	{ 0, NULL }
};

static PyType_Spec shm_spec = {
	.name = "simpler.buffer.HostMemory",
	.basicsize = sizeof(struct buffer_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = shm_slots,
};

/* ---- buffers ---- */

PyObject *buffer_new(struct simpler_buffer *b, PyObject *worker)
{
	return object_new(buffer_type, b, worker);
}

static PyObject *buffer_close(PyObject *self, PyObject *unused)
{
	struct simpler_error e;
	int rc;

	(void)unused;
	Py_BEGIN_ALLOW_THREADS
	rc = simpler_buffer_close(buffer_of(self), &e);
	Py_END_ALLOW_THREADS
	if (rc)
		return raise_error(rc, &e);
	Py_RETURN_NONE;
}

static PyObject *buffer_to_descriptor(PyObject *self, PyObject *unused)
{
	struct simpler_buffer_desc desc;
	struct simpler_error e;
	int rc = simpler_buffer_descriptor(buffer_of(self), &desc, &e);

	(void)unused;
	if (rc)
		return raise_error(rc, &e);
	return PyBytes_FromStringAndSize((const char *)&desc, sizeof(desc));
}

static PyObject *buffer_from_descriptor(PyObject *unused, PyObject *bytes)
{
	struct simpler_buffer_desc desc;
	struct simpler_buffer *b;
	struct simpler_error e;
	struct host_bytes h;
	int rc;

	(void)unused;
	if (host_bytes_get(bytes, &h))
		return NULL;
	if (h.bytes == sizeof(desc))
		memcpy(&desc, h.data, sizeof(desc));
	host_bytes_put(&h);
	if (h.bytes != sizeof(desc))
		return PyErr_Format(PyExc_ValueError,
				    "invalid BufferDescriptor: %llu bytes instead of %zu",
				    (unsigned long long)h.bytes, sizeof(desc));
	rc = simpler_buffer_from_descriptor(&desc, &b, &e);
	return rc ? raise_error(rc, &e) : buffer_new(b, NULL);
}

static PyObject *wrap_storage(uint64_t address, uint64_t nbytes, PyObject *location, int access)
{
	struct simpler_buffer *b;
	struct simpler_error e;
	int rc = simpler_buffer_wrap(address, nbytes,
				     ((struct location_object *)location)->location,
				     (enum simpler_access)access, &b, &e);

	return rc ? raise_error(rc, &e) : buffer_new(b, NULL);
}

static PyObject *buffer_wrap(PyObject *unused, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "address", "nbytes", "location", "access", NULL };
	PyObject *address, *nbytes, *location, *grant = NULL;
	int access = SIMPLER_ACCESS_READWRITE;
	uint64_t addr, size;

	(void)unused;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|O:wrap", names, &address, &nbytes,
					 &location, &grant))
		return NULL;
	if (!PyObject_TypeCheck(location, location_type))
		return PyErr_Format(PyExc_TypeError,
				    "location must be a Worker's device_location, not %R",
				    location);
	if (parse_token(address, "address", &addr) || parse_token(nbytes, "nbytes", &size) ||
	    (grant && enum_value(ENUM_ACCESS_MODE, grant, &access)))
		return NULL;
	return wrap_storage(addr, size, location, access);
}

static PyMethodDef buffer_methods[] = {
	{ "tensor", PY_METHOD(tensor_describe), METH_VARARGS | METH_KEYWORDS,
	  "tensor($self, shapes, dtype, strides=None, byte_offset=0)\n--\n\n"
	  "The same as Tensor(self, ...)." },
	{ "close", buffer_close, METH_NOARGS,
	  "close($self)\n--\n\nEnd the use of shared memory or of wrapped storage." },
	{ "to_descriptor", buffer_to_descriptor, METH_NOARGS,
	  "to_descriptor($self)\n--\n\nThe 88 bytes that name this buffer in messages." },
	{ "from_descriptor", buffer_from_descriptor, METH_O | METH_STATIC,
	  "from_descriptor(data)\n--\n\nA handle for a descriptor that was received." },
	{ "wrap", PY_METHOD(buffer_wrap), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
	  "wrap(address, nbytes, location, access=AccessMode.READWRITE)\n--\n\n"
	  "Register device storage that the caller owns." },
	{ NULL, NULL, 0, NULL }
};

static PyObject *buffer_get_identity(PyObject *self, void *unused)
{
	struct simpler_identity id = simpler_buffer_identity(buffer_of(self));

	(void)unused;
	return identity_new(&id);
}

static PyObject *buffer_get_space(PyObject *self, void *unused)
{
	(void)unused;
	return enum_member(ENUM_ADDRESS_SPACE, simpler_buffer_space(buffer_of(self)));
}

static PyObject *buffer_get_access(PyObject *self, void *unused)
{
	(void)unused;
	return enum_member(ENUM_ACCESS_MODE, simpler_buffer_access(buffer_of(self)));
}

static PyObject *buffer_get_backend(PyObject *self, void *unused)
{
	(void)unused;
	return enum_member(ENUM_BACKEND_KIND, simpler_buffer_backend(buffer_of(self)));
}

static PyObject *buffer_get_nbytes(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong(simpler_buffer_nbytes(buffer_of(self)));
}

static PyObject *buffer_get_base(PyObject *self, void *unused)
{
	struct simpler_buffer *b = buffer_of(self);

	(void)unused;
	if (simpler_buffer_space(b) == SIMPLER_SPACE_DEVICE)
		return PyLong_FromUnsignedLongLong(simpler_buffer_address(b));
	return PyLong_FromUnsignedLongLong((uintptr_t)simpler_buffer_data(b));
}

static PyObject *buffer_get_shm(PyObject *self, void *unused)
{
	(void)unused;
	if (simpler_buffer_space(buffer_of(self)) != SIMPLER_SPACE_HOST)
		Py_RETURN_NONE;
	return object_new(shm_type, simpler_buffer_get(buffer_of(self)),
			  ((struct buffer_object *)self)->worker);
}

static PyObject *buffer_get_closed(PyObject *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(simpler_buffer_closed(buffer_of(self)));
}

static PyObject *buffer_get_unlinked(PyObject *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(simpler_buffer_unlinked(buffer_of(self)));
}

static PyGetSetDef buffer_getset[] = {
	{ "identity", buffer_get_identity, NULL, "What the buffer is known by.", NULL },
	{ "address_space", buffer_get_space, NULL, "AddressSpace.HOST or DEVICE.", NULL },
	{ "access", buffer_get_access, NULL, "What runs may do with it.", NULL },
	{ "backend_kind", buffer_get_backend, NULL, "How the storage is made.", NULL },
	{ "nbytes", buffer_get_nbytes, NULL, "Size in bytes.", NULL },
	{ "base", buffer_get_base, NULL,
	  "Address of the first byte, for diagnostics; never a handle.", NULL },
	{ "shm", buffer_get_shm, NULL, "Host memory (shm.buf), None for DEVICE buffers.", NULL },
	{ "closed", buffer_get_closed, NULL, "No new use is possible.", NULL },
	{ "unlinked", buffer_get_unlinked, NULL, "The name of the shared memory is gone.", NULL },
	{ NULL, NULL, NULL, NULL, NULL }
};

static PyObject *buffer_repr(PyObject *self)
{
	struct simpler_buffer *b = buffer_of(self);

	return PyUnicode_FromFormat("<Buffer %llu of %llu bytes, %s%s>",
				    (unsigned long long)simpler_buffer_identity(b).buffer_id,
				    (unsigned long long)simpler_buffer_nbytes(b),
				    simpler_buffer_space(b) == SIMPLER_SPACE_HOST ? "HOST" :
										    "DEVICE",
				    simpler_buffer_closed(b) ? ", closed" : "");
}

static PyType_Slot buffer_slots[] = {
	{ Py_tp_doc, "Storage that tensors name: device memory, shared host memory, or storage of "
		     "the caller." },
	{ Py_tp_dealloc, buffer_dealloc },
	{ Py_tp_traverse, buffer_traverse },
	{ Py_tp_clear, buffer_clear },
	{ Py_tp_repr, buffer_repr },
	{ Py_tp_methods, buffer_methods },
	{ Py_tp_getset, buffer_getset },
	{ 0, NULL }
};

static PyType_Spec buffer_spec = {
	.name = "simpler.buffer.Buffer",
	.basicsize = sizeof(struct buffer_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = buffer_slots,
};

/* ---- locations ---- */

PyObject *location_new(struct simpler_location *l)
{
	allocfunc alloc = PyType_GetSlot(location_type, Py_tp_alloc);
	struct location_object *self = (struct location_object *)alloc(location_type, 0);

	if (self)
		self->location = l;
	else
		simpler_location_put(l);
	return (PyObject *)self;
}

static void location_dealloc(PyObject *self)
{
	simpler_location_put(((struct location_object *)self)->location);
	object_free(self);
}

static PyType_Slot location_slots[] = {
	{ Py_tp_doc, "Names the chip of one Worker, in this process and incarnation." },
	{ Py_tp_dealloc, location_dealloc },
	{ 0, NULL }
};

static PyType_Spec location_spec = {
	.name = "simpler.buffer.DeviceLocation",
	.basicsize = sizeof(struct location_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = location_slots,
};

int buffer_add(PyObject *module)
{
	buffer_type = type_add(module, &buffer_spec);
	shm_type = type_add(module, &shm_spec);
	location_type = type_add(module, &location_spec);
	identity_type = PyStructSequence_NewType(&identity_desc);
	if (!buffer_type || !shm_type || !location_type || !identity_type)
		return -1;
	return PyModule_AddObjectRef(module, "CanonicalIdentity", (PyObject *)identity_type);
}
