/* SPDX-License-Identifier: MIT */
/* Module simpler._task_interface: what it contains, and functions without an object. */
#include "binding.h"

PyTypeObject *type_add(PyObject *module, PyType_Spec *spec)
{
	PyObject *type = PyType_FromSpec(spec);

	if (type && PyModule_AddObjectRef(module, strrchr(spec->name, '.') + 1, type))
		Py_CLEAR(type);
	return (PyTypeObject *)type;
}

int methods_add(PyTypeObject *type, PyMethodDef *methods)
{
	int rc = 0;

	for (; methods->ml_name && !rc; methods++) {
		PyObject *method = PyDescr_NewMethod(type, methods);

		rc = method ? PyObject_SetAttrString((PyObject *)type, methods->ml_name, method) :
			      -1;
		Py_XDECREF(method);
	}
	return rc;
}

void object_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = PyType_GetSlot(type, Py_tp_free);

	release(self);
	Py_DECREF(type);
}

/* ---- functions ---- */

static PyObject *get_element_size(PyObject *module, PyObject *dtype)
{
	int value;

	(void)module;
	if (enum_value(ENUM_DATA_TYPE, dtype, &value))
		return NULL;
	return PyLong_FromSize_t(simpler_dtype_size(value));
}

static PyObject *get_dtype_name(PyObject *module, PyObject *dtype)
{
	int value;

	(void)module;
	if (enum_value(ENUM_DATA_TYPE, dtype, &value))
		return NULL;
	return PyUnicode_FromString(simpler_dtype_name(value));
}

static PyObject *arg_direction_name(PyObject *module, PyObject *direction)
{
	PyObject *member, *name;
	int value;

	(void)module;
	if (enum_value(ENUM_ARG_DIRECTION, direction, &value))
		return NULL;
	member = enum_member(ENUM_ARG_DIRECTION, value);
	if (!member || PyLong_CheckExact(member)) {
		Py_XDECREF(member);
		return PyUnicode_FromString("UNKNOWN");
	}
	name = PyObject_GetAttrString(member, "name");
	Py_DECREF(member);
	return name;
}

static PyObject *log_threshold(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyLong_FromLong(simpler_log_threshold());
}

static PyObject *log_set_threshold(PyObject *module, PyObject *args)
{
	int level, rc;

	(void)module;
	if (!PyArg_ParseTuple(args, "i:log_set_threshold", &level))
		return NULL;
	rc = simpler_log_set_threshold(level);
	if (rc)
		return raise_error(rc, NULL);
	Py_RETURN_NONE;
}

static PyObject *log_write(PyObject *module, PyObject *args)
{
	const char *function, *file, *message;
	int level, line;

	(void)module;
	if (!PyArg_ParseTuple(args, "issis:log_write", &level, &function, &file, &line, &message))
		return NULL;
	simpler_log_write(level, function, file, line, message);
	Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
	{ "get_element_size", get_element_size, METH_O,
	  "get_element_size(dtype)\n--\n\nBytes of one element; 0 for an unknown type." },
	{ "get_dtype_name", get_dtype_name, METH_O,
	  "get_dtype_name(dtype)\n--\n\nName of an element type, or 'UNKNOWN'." },
	{ "arg_direction_name", arg_direction_name, METH_O,
	  "arg_direction_name(direction)\n--\n\nName of a direction, or 'UNKNOWN'." },
	{ "log_threshold", log_threshold, METH_NOARGS,
	  "log_threshold()\n--\n\nLevel below which the library writes no records." },
	{ "log_set_threshold", log_set_threshold, METH_VARARGS,
	  "log_set_threshold(level)\n--\n\nChange it, 0 to 60." },
	{ "log_write", log_write, METH_VARARGS,
	  "log_write(level, function, file, line, message)\n--\n\nWrite one record." },
	{ NULL, NULL, 0, NULL }
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "simpler._task_interface",
	.m_doc = "Python types over libsimpler. Use simpler.worker, simpler.task_interface and "
		 "simpler.buffer.",
	.m_size = -1,
	.m_methods = functions,
};

static int fill(PyObject *module)
{
	static int (*const parts[])(PyObject *module) = {
		enums_add, errors_add, wait_add, buffer_add, tensor_add, chip_tensor_add,
		args_add, config_add, callable_add, run_add, worker_add,
	};
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i](module))
			return -1;
	return PyModule_AddIntConstant(module, "MAX_TENSOR_DIMS", SIMPLER_MAX_DIMS);
}

PyMODINIT_FUNC PyInit__task_interface(void)
{
	PyObject *module = PyModule_Create(&definition);

	if (module && fill(module))
		Py_CLEAR(module);
	return module;
}
