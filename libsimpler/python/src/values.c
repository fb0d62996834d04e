/* SPDX-License-Identifier: MIT */
/* Conversion of plain values. */
#include "binding.h"

int parse_i64(PyObject *object, const char *what, int64_t *value)
{
	PyObject *number = PyNumber_Index(object);
	int overflow;

	if (!number) {
		PyErr_Format(PyExc_TypeError, "%s must be an integer, not %R", what, object);
		return -1;
	}
	*value = PyLong_AsLongLongAndOverflow(number, &overflow);
	if (overflow)
		*value = overflow < 0 ? INT64_MIN : INT64_MAX;
	Py_DECREF(number);
	return 0;
}

int parse_u64(PyObject *object, const char *what, uint64_t *value)
{
	PyObject *number = PyNumber_Index(object);

	if (!number) {
		PyErr_Format(PyExc_TypeError, "%s must be an integer, not %R", what, object);
		return -1;
	}
	*value = PyLong_AsUnsignedLongLong(number);
	Py_DECREF(number);
	if (*value != UINT64_MAX || !PyErr_Occurred())
		return 0;
	PyErr_Format(PyExc_ValueError, "%s %S is negative or needs more than 64 bits", what,
		     object);
	return -1;
}

int parse_token(PyObject *object, const char *what, uint64_t *value)
{
	if (!PyBool_Check(object))
		return parse_u64(object, what, value);
	PyErr_Format(PyExc_TypeError, "%s must be an integer, not a bool", what);
	return -1;
}

/* ---- scalar arguments ---- */

static uint64_t float_word(double value)
{
	float f = (float)value;
	uint32_t word;

	memcpy(&word, &f, sizeof(word));
	return word;
}

static uint64_t double_word(double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

static int parse_integer(PyObject *object, uint64_t *word)
{
	PyObject *number = PyNumber_Index(object);

	if (!number)
		return -1;
	*word = PyLong_AsUnsignedLongLongMask(number);
	Py_DECREF(number);
	return PyErr_Occurred() ? -1 : 0;
}

/* Objects with a value of their own: ctypes numbers. A c_double keeps its 64 bits. */
static int parse_wrapped(PyObject *object, PyObject *value, uint64_t *word)
{
	PyObject *size_of;
	double number;

	if (!PyFloat_Check(value))
		return parse_integer(value, word);
	number = PyFloat_AsDouble(value);
	size_of = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "_type_");
	if (!size_of)
		return -1;
	*word = PyUnicode_CompareWithASCIIString(size_of, "d") ? float_word(number) :
								 double_word(number);
	Py_DECREF(size_of);
	return 0;
}

/* numpy.float32 and others that know how to become a float. */
static int parse_number(PyObject *object, uint64_t *word)
{
	double number = PyFloat_AsDouble(object);

	if (number == -1.0 && PyErr_Occurred()) {
		PyErr_Format(PyExc_TypeError,
			     "a scalar must be an int, a float or a ctypes number, not %R", object);
		return -1;
	}
	*word = float_word(number);
	return 0;
}

int parse_scalar(PyObject *object, uint64_t *word)
{
	PyObject *value;
	int rc;

	if (PyFloat_Check(object)) {
		*word = float_word(PyFloat_AsDouble(object));
		return 0;
	}
	if (PyIndex_Check(object))
		return parse_integer(object, word);
	value = PyObject_GetAttrString(object, "value");
	if (!value) {
		PyErr_Clear();
		return parse_number(object, word);
	}
	rc = parse_wrapped(object, value, word);
	Py_DECREF(value);
	return rc;
}

/* ---- results ---- */

PyObject *u64_tuple(const uint32_t *values, uint32_t count)
{
	PyObject *tuple = PyTuple_New(count);
	uint32_t i;

	for (i = 0; tuple && i < count; i++) {
		PyObject *n = PyLong_FromUnsignedLong(values[i]);

		if (!n || PyTuple_SetItem(tuple, i, n))
			Py_CLEAR(tuple);
	}
	return tuple;
}

/* ---- arguments of fast calls ---- */

static int fast_keyword(const struct fast_names *n, PyObject *name, PyObject *value,
			PyObject **values)
{
	Py_ssize_t i;

	for (i = 0; n->names[i]; i++)
		if (!PyUnicode_CompareWithASCIIString(name, n->names[i]))
			break;
	if (!n->names[i]) {
		PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'",
			     n->function, name);
		return -1;
	}
	if (values[i]) {
		PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'",
			     n->function, name);
		return -1;
	}
	values[i] = value;
	return 0;
}

int fast_parse(const struct fast_names *n, PyObject *const *args, Py_ssize_t nargs,
	       PyObject *kwnames, PyObject **values)
{
	Py_ssize_t i, count = kwnames ? PyTuple_Size(kwnames) : 0;

	if (nargs > n->positional) {
		PyErr_Format(PyExc_TypeError, "%s() takes %zd positional arguments, %zd were given",
			     n->function, n->positional, nargs);
		return -1;
	}
	for (i = 0; n->names[i]; i++)
		values[i] = i < nargs ? args[i] : NULL;
	for (i = 0; i < count; i++)
		if (fast_keyword(n, PyTuple_GetItem(kwnames, i), args[nargs + i], values))
			return -1;
	for (i = 0; i < n->required; i++)
		if (!values[i]) {
			PyErr_Format(PyExc_TypeError, "%s() missing argument '%s'", n->function,
				     n->names[i]);
			return -1;
		}
	return 0;
}

/* ---- host memory ---- */

/* Calls a method without arguments; an integer result, or -1 with an exception. */
static int call_u64(PyObject *object, const char *method, uint64_t *value)
{
	PyObject *result = PyObject_CallMethod(object, method, NULL);
	int rc = result ? parse_u64(result, method, value) : -1;

	Py_XDECREF(result);
	return rc;
}

static int require_true(PyObject *object, PyObject *result, const char *what)
{
	int yes = result ? PyObject_IsTrue(result) : -1;

	Py_XDECREF(result);
	if (yes == 0)
		PyErr_Format(PyExc_ValueError, "%R must be %s", object, what);
	return yes == 1 ? 0 : -1;
}

static PyObject *on_cpu(PyObject *tensor)
{
	PyObject *device = PyObject_GetAttrString(tensor, "device");
	PyObject *type = device ? PyObject_GetAttrString(device, "type") : NULL;
	PyObject *cpu = type ? PyUnicode_FromString("cpu") : NULL;
	PyObject *same = cpu ? PyObject_RichCompare(type, cpu, Py_EQ) : NULL;

	Py_XDECREF(device);
	Py_XDECREF(type);
	Py_XDECREF(cpu);
	return same;
}

/* Tensors of torch do not have the buffer protocol. */
static int torch_bytes(PyObject *tensor, struct host_bytes *h)
{
	uint64_t address, count, size;

	if (require_true(tensor, on_cpu(tensor), "in host memory") ||
	    require_true(tensor, PyObject_CallMethod(tensor, "is_contiguous", NULL), "contiguous"))
		return -1;
	if (call_u64(tensor, "data_ptr", &address) || call_u64(tensor, "numel", &count) ||
	    call_u64(tensor, "element_size", &size))
		return -1;
	h->data = (void *)(uintptr_t)address;
	h->bytes = count * size;
	h->readonly = false;
	return 0;
}

int host_bytes_get(PyObject *object, struct host_bytes *h)
{
	h->view.obj = NULL;
	if (!PyObject_CheckBuffer(object)) {
		if (PyObject_HasAttrString(object, "data_ptr"))
			return torch_bytes(object, h);
		PyErr_Format(PyExc_TypeError,
			     "host memory must be a Buffer, a torch tensor or an object with the "
			     "buffer protocol, not %R", (PyObject *)Py_TYPE(object));
		return -1;
	}
	if (PyObject_GetBuffer(object, &h->view, PyBUF_SIMPLE)) {
		h->view.obj = NULL;
		return -1;
	}
	h->data = h->view.buf;
	h->bytes = (uint64_t)h->view.len;
	h->readonly = h->view.readonly;
	return 0;
}

void host_bytes_put(struct host_bytes *h)
{
	if (h->view.obj)
		PyBuffer_Release(&h->view);
}
