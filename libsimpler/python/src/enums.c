/* SPDX-License-Identifier: MIT */
/* Enumerations (worker-api §1.2): enum.IntEnum classes made from one table. */
#include "binding.h"

#define MAX_MEMBERS 16

struct enum_entry {
	const char *name;
	long value;
};

struct enum_table {
	const char *name;
	const struct enum_entry *entries;
	PyObject *class;
	PyObject *members[MAX_MEMBERS];	/* by value */
};

static const struct enum_entry directions[] = {
	{ "SCALAR", SIMPLER_DIR_SCALAR }, { "IN", SIMPLER_DIR_IN }, { "OUT", SIMPLER_DIR_OUT },
	{ "INOUT", SIMPLER_DIR_INOUT }, { NULL, 0 }
};
static const struct enum_entry tags[] = {
	{ "INPUT", SIMPLER_TAG_INPUT }, { "OUTPUT", SIMPLER_TAG_OUTPUT },
	{ "INOUT", SIMPLER_TAG_INOUT }, { "OUTPUT_EXISTING", SIMPLER_TAG_OUTPUT_EXISTING },
	{ "NO_DEP", SIMPLER_TAG_NO_DEP }, { NULL, 0 }
};
static const struct enum_entry transfers[] = {
	{ "NONE", SIMPLER_TRANSFER_NONE }, { "H2D", SIMPLER_TRANSFER_H2D },
	{ "D2H", SIMPLER_TRANSFER_D2H }, { NULL, 0 }
};
static const struct enum_entry dtypes[] = {
	{ "FLOAT32", SIMPLER_FLOAT32 }, { "FLOAT16", SIMPLER_FLOAT16 },
	{ "INT32", SIMPLER_INT32 }, { "INT16", SIMPLER_INT16 }, { "INT8", SIMPLER_INT8 },
	{ "UINT8", SIMPLER_UINT8 }, { "BFLOAT16", SIMPLER_BFLOAT16 },
	{ "INT64", SIMPLER_INT64 }, { "UINT64", SIMPLER_UINT64 },
	{ "UINT16", SIMPLER_UINT16 }, { "UINT32", SIMPLER_UINT32 }, { "BOOL", SIMPLER_BOOL },
	{ "FP8E4M3FN", SIMPLER_FP8E4M3FN }, { "FP8E8M0", SIMPLER_FP8E8M0 },
	{ "FP4E2M1", SIMPLER_FP4E2M1 }, { NULL, 0 }
};
static const struct enum_entry spaces[] = {
	{ "HOST", SIMPLER_SPACE_HOST }, { "DEVICE", SIMPLER_SPACE_DEVICE }, { NULL, 0 }
};
static const struct enum_entry accesses[] = {
	{ "READ", SIMPLER_ACCESS_READ }, { "WRITE", SIMPLER_ACCESS_WRITE },
	{ "READWRITE", SIMPLER_ACCESS_READWRITE }, { NULL, 0 }
};
static const struct enum_entry backends[] = {
	{ "FORK_SHM", SIMPLER_BACKEND_FORK_SHM }, { "POSIX_SHM", SIMPLER_BACKEND_POSIX_SHM },
	{ "VMM_WINDOW", SIMPLER_BACKEND_VMM_WINDOW },
	{ "REMOTE_SIDECAR", SIMPLER_BACKEND_REMOTE_SIDECAR },
	{ "DEVICE_MALLOC", SIMPLER_BACKEND_DEVICE_MALLOC },
	{ "FORK_COW", SIMPLER_BACKEND_FORK_COW }, { NULL, 0 }
};
static const struct enum_entry kinds[] = {
	{ "CHIP_CALLABLE", SIMPLER_KIND_CHIP_CALLABLE },
	{ "PYTHON_SERIALIZED", SIMPLER_KIND_PYTHON_SERIALIZED },
	{ "PYTHON_IMPORT", SIMPLER_KIND_PYTHON_IMPORT }, { NULL, 0 }
};
static const struct enum_entry namespaces[] = {
	{ "LOCAL_CHIP", SIMPLER_LOCAL_CHIP }, { "LOCAL_PYTHON", SIMPLER_LOCAL_PYTHON },
	{ "REMOTE_TASK_DISPATCHER", SIMPLER_REMOTE_TASK_DISPATCHER }, { NULL, 0 }
};

static struct enum_table tables[ENUM_COUNT] = {
	[ENUM_ARG_DIRECTION] = { .name = "ArgDirection", .entries = directions },
	[ENUM_TENSOR_ARG_TYPE] = { .name = "TensorArgType", .entries = tags },
	[ENUM_TENSOR_TRANSFER] = { .name = "TensorTransfer", .entries = transfers },
	[ENUM_DATA_TYPE] = { .name = "DataType", .entries = dtypes },
	[ENUM_ADDRESS_SPACE] = { .name = "AddressSpace", .entries = spaces },
	[ENUM_ACCESS_MODE] = { .name = "AccessMode", .entries = accesses },
	[ENUM_BACKEND_KIND] = { .name = "BackendKind", .entries = backends },
	[ENUM_CALLABLE_KIND] = { .name = "CallableKind", .entries = kinds },
	[ENUM_CALLABLE_NAMESPACE] = { .name = "CallableNamespace", .entries = namespaces },
};

static PyObject *entry_list(const struct enum_entry *entry)
{
	PyObject *list = PyList_New(0);

	for (; list && entry->name; entry++) {
		PyObject *pair = Py_BuildValue("(sl)", entry->name, entry->value);

		if (!pair || PyList_Append(list, pair))
			Py_CLEAR(list);
		Py_XDECREF(pair);
	}
	return list;
}

static PyObject *make_class(PyObject *int_enum, const struct enum_table *t)
{
	PyObject *list = entry_list(t->entries);
	PyObject *args = list ? Py_BuildValue("(sN)", t->name, list) : NULL;
	PyObject *kwargs = Py_BuildValue("{ssss}", "module", "simpler.task_interface",
					 "qualname", t->name);
	PyObject *class = args && kwargs ? PyObject_Call(int_enum, args, kwargs) : NULL;

	Py_XDECREF(args);
	Py_XDECREF(kwargs);
	return class;
}

static int find_members(struct enum_table *t)
{
	const struct enum_entry *entry;

	for (entry = t->entries; entry->name; entry++) {
		t->members[entry->value] = PyObject_GetAttrString(t->class, entry->name);
		if (!t->members[entry->value])
			return -1;
	}
	return 0;
}

int enums_add(PyObject *module)
{
	PyObject *enum_module = PyImport_ImportModule("enum");
	PyObject *int_enum = enum_module ? PyObject_GetAttrString(enum_module, "IntEnum") : NULL;
	int i, rc = int_enum ? 0 : -1;

	for (i = 0; i < ENUM_COUNT && !rc; i++) {
		tables[i].class = make_class(int_enum, &tables[i]);
		rc = tables[i].class ? find_members(&tables[i]) : -1;
		if (!rc)
			rc = PyModule_AddObjectRef(module, tables[i].name, tables[i].class);
	}
	Py_XDECREF(int_enum);
	Py_XDECREF(enum_module);
	return rc;
}

PyObject *enum_member(enum enum_id id, long value)
{
	if (value >= 0 && value < MAX_MEMBERS && tables[id].members[value])
		return Py_NewRef(tables[id].members[value]);
	return PyLong_FromLong(value);
}

int enum_value(enum enum_id id, PyObject *object, int *value)
{
	long v;

	if (!PyLong_CheckExact(object) && (PyObject *)Py_TYPE(object) != tables[id].class) {
		PyErr_Format(PyExc_TypeError, "%R is not a member of %s", object, tables[id].name);
		return -1;
	}
	v = PyLong_AsLong(object);
	if (v == -1 && PyErr_Occurred()) {
		PyErr_Clear();
		v = INT_MAX;
	}
	*value = v < INT_MIN || v > INT_MAX ? INT_MAX : (int)v;
	return 0;
}
