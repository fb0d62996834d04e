/* SPDX-License-Identifier: MIT */
/* CallConfig and its runtime_env (worker-api §10). */
#include "binding.h"

PyTypeObject *config_type;
static PyTypeObject *env_type;

static struct simpler_call_config *config_of(PyObject *self)
{
	return &((struct config_object *)self)->config;
}

/* ---- runtime_env: a live reference to a CallConfig ---- */

struct env_object {
	PyObject_HEAD
	PyObject *config;	/* a CallConfig, of its own if made by RuntimeEnv() */
};

static struct simpler_call_config *env_config(PyObject *self)
{
	return config_of(((struct env_object *)self)->config);
}

static PyObject *env_new(PyTypeObject *type, PyObject *config)
{
	allocfunc alloc = PyType_GetSlot(type, Py_tp_alloc);
	struct env_object *env = config ? (struct env_object *)alloc(type, 0) : NULL;

	if (env)
		env->config = Py_NewRef(config);
	return (PyObject *)env;
}

static PyObject *env_tp_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { NULL };
	PyObject *config, *env;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, ":RuntimeEnv", names))
		return NULL;
	config = PyObject_CallNoArgs((PyObject *)config_type);
	env = env_new(type, config);
	Py_XDECREF(config);
	return env;
}

static void env_dealloc(PyObject *self)
{
	Py_XDECREF(((struct env_object *)self)->config);
	object_free(self);
}

struct ring_field {
	const char *name;
	size_t offset;		/* in struct simpler_runtime_env */
};

static uint64_t *ring_of(PyObject *self, void *field)
{
	const struct ring_field *f = field;

	return (uint64_t *)((char *)&env_config(self)->runtime_env + f->offset);
}

static PyObject *env_get_ring(PyObject *self, void *field)
{
	const uint64_t *ring = ring_of(self, field);

	return Py_BuildValue("[KKKK]", (unsigned long long)ring[0], (unsigned long long)ring[1],
			     (unsigned long long)ring[2], (unsigned long long)ring[3]);
}

static int parse_ring(PyObject *value, const char *name, uint64_t ring[SIMPLER_RINGS])
{
	PyObject *tuple;
	Py_ssize_t i, n;
	int rc = 0;

	if (PyIndex_Check(value)) {
		rc = parse_u64(value, name, &ring[0]);
		if (!rc)
			simpler_ring_set_all(ring, ring[0]);
		return rc;
	}
	tuple = PySequence_Tuple(value);
	if (!tuple)
		return -1;
	n = PyTuple_Size(tuple);
	for (i = 0; i < n && n == SIMPLER_RINGS && !rc; i++)
		rc = parse_u64(PyTuple_GetItem(tuple, i), name, &ring[i]);
	Py_DECREF(tuple);
	if (n == SIMPLER_RINGS)
		return rc;
	PyErr_Format(PyExc_ValueError, "%s takes one number or a list of %d, not of %zd", name,
		     SIMPLER_RINGS, n);
	return -1;
}

static int refuse_delete(PyObject *value, const char *name)
{
	if (value)
		return 0;
	PyErr_Format(PyExc_AttributeError, "%s cannot be deleted", name);
	return -1;
}

static int env_set_ring(PyObject *self, PyObject *value, void *field)
{
	const struct ring_field *f = field;
	uint64_t ring[SIMPLER_RINGS];

	if (refuse_delete(value, f->name) || parse_ring(value, f->name, ring))
		return -1;
	memcpy(ring_of(self, field), ring, sizeof(ring));
	return 0;
}

static const char *const deps_names[] = {
	[SIMPLER_DEPS_DEFAULT] = "default",
	[SIMPLER_DEPS_SEQUENTIAL] = "sequential",
	[SIMPLER_DEPS_RAW] = "raw",
};

static PyObject *env_get_deps(PyObject *self, void *unused)
{
	(void)unused;
	return PyUnicode_FromString(deps_names[env_config(self)->deps]);
}

static int env_set_deps(PyObject *self, PyObject *value, void *unused)
{
	uint32_t i;

	(void)unused;
	if (refuse_delete(value, "deps"))
		return -1;
	for (i = 0; PyUnicode_Check(value) && i < SIMPLER_DEPS_RAW + 1; i++)
		if (!PyUnicode_CompareWithASCIIString(value, deps_names[i])) {
			env_config(self)->deps = i;
			return 0;
		}
	PyErr_Format(PyExc_ValueError, "deps is 'default', 'sequential' or 'raw', not %R", value);
	return -1;
}

#define RING_FIELD(f) { #f, offsetof(struct simpler_runtime_env, f) }
static struct ring_field window_field = RING_FIELD(ring_task_window);
static struct ring_field heap_field = RING_FIELD(ring_heap);
static struct ring_field pool_field = RING_FIELD(ring_dep_pool);

static PyGetSetDef env_getset[] = {
	{ "ring_task_window", env_get_ring, env_set_ring,
	  "Tasks per scope depth; a power of two, 0 unset.", &window_field },
	{ "ring_heap", env_get_ring, env_set_ring, "Bytes per scope depth; >= 1024, 0 unset.",
	  &heap_field },
	{ "ring_dep_pool", env_get_ring, env_set_ring, "Entries per scope depth; >= 4, 0 unset.",
	  &pool_field },
	{ "deps", env_get_deps, env_set_deps,
	  "Hazards that order tasks: 'default', 'sequential' or 'raw'.", NULL },
	{ NULL, NULL, NULL, NULL, NULL }
};

static PyType_Slot env_slots[] = {
	{ Py_tp_doc, "RuntimeEnv()\n--\n\nRing overrides; CallConfig.runtime_env is a live "
		     "reference." },
	{ Py_tp_new, env_tp_new },
	{ Py_tp_dealloc, env_dealloc },
	{ Py_tp_getset, env_getset },
	{ 0, NULL }
};

static PyType_Spec env_spec = {
	.name = "simpler.task_interface.RuntimeEnv",
	.basicsize = sizeof(struct env_object),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = env_slots,
};

/* ---- CallConfig ---- */

/* Fields of type int32_t. Switches are clamped to [0, max]; True stands for @on. */
struct int_field {
	const char *name;
	size_t offset;
	int32_t max;		/* 0: any value, checked by validate() */
	int32_t on;
};

static int32_t *int_of(PyObject *self, const struct int_field *f)
{
	return (int32_t *)((char *)config_of(self) + f->offset);
}

static PyObject *config_get_int(PyObject *self, void *field)
{
	return PyLong_FromLong(*int_of(self, field));
}

static int config_set_int(PyObject *self, PyObject *value, void *field)
{
	const struct int_field *f = field;
	int64_t v;

	if (refuse_delete(value, f->name) || parse_i64(value, f->name, &v))
		return -1;
	if (f->max && PyBool_Check(value))
		v = v ? f->on : 0;
	if (f->max)
		v = v < 0 ? 0 : v > f->max ? f->max : v;
	if (v < INT32_MIN || v > INT32_MAX) {
		PyErr_Format(PyExc_ValueError, "%s %S needs more than 32 bits", f->name, value);
		return -1;
	}
	*int_of(self, f) = (int32_t)v;
	return 0;
}

static PyObject *config_get_prefix(PyObject *self, void *unused)
{
	(void)unused;
	return PyUnicode_DecodeFSDefault(config_of(self)->output_prefix);
}

static int config_set_prefix(PyObject *self, PyObject *value, void *unused)
{
	struct simpler_error e;
	PyObject *bytes;
	int rc;

	(void)unused;
	if (refuse_delete(value, "output_prefix") || !PyUnicode_FSConverter(value, &bytes))
		return -1;
	rc = simpler_call_config_set_prefix(config_of(self), PyBytes_AsString(bytes), &e);
	Py_DECREF(bytes);
	if (rc)
		raise_error(rc, &e);
	return rc ? -1 : 0;
}

static PyObject *config_get_env(PyObject *self, void *unused)
{
	(void)unused;
	return env_new(env_type, self);
}

static int config_set_env(PyObject *self, PyObject *value, void *unused)
{
	(void)unused;
	if (refuse_delete(value, "runtime_env"))
		return -1;
	if (!PyObject_TypeCheck(value, env_type)) {
		PyErr_Format(PyExc_TypeError, "runtime_env is a RuntimeEnv, not %R", value);
		return -1;
	}
	config_of(self)->runtime_env = env_config(value)->runtime_env;
	config_of(self)->deps = env_config(value)->deps;
	return 0;
}

#define INT_FIELD(f, max, on) { #f, offsetof(struct simpler_call_config, f), max, on }
static struct int_field thread_field = INT_FIELD(aicpu_thread_num, 0, 0);
static struct int_field swimlane_field = INT_FIELD(enable_chip_swimlane, 4, 4);
static struct int_field dump_field = INT_FIELD(enable_dump_args, 3, 1);
static struct int_field pmu_field = INT_FIELD(enable_pmu, 0, 0);
static struct int_field dep_field = INT_FIELD(enable_dep_gen, 1, 1);
static struct int_field scope_field = INT_FIELD(enable_scope_stats, 1, 1);

static PyGetSetDef config_getset[] = {
	{ "aicpu_thread_num", config_get_int, config_set_int,
	  "Control threads of the run; 0: the architecture's default.", &thread_field },
	{ "enable_chip_swimlane", config_get_int, config_set_int, "0 off, 1 to 4: detail.",
	  &swimlane_field },
	{ "enable_dump_args", config_get_int, config_set_int,
	  "0 off, 1 partial, 2 full, 3 hybrid.", &dump_field },
	{ "enable_pmu", config_get_int, config_set_int, "0 off, else the event type.", &pmu_field },
	{ "enable_dep_gen", config_get_int, config_set_int, "Write the dependence graph.",
	  &dep_field },
	{ "enable_scope_stats", config_get_int, config_set_int, "Write scope statistics.",
	  &scope_field },
	{ "output_prefix", config_get_prefix, config_set_prefix,
	  "Folder of what diagnostics write; needed by any of them.", NULL },
	{ "runtime_env", config_get_env, config_set_env, "Ring overrides, a live reference.",
	  NULL },
	{ NULL, NULL, NULL, NULL, NULL }
};

static PyObject *config_validate(PyObject *self, PyObject *unused)
{
	struct simpler_error e;
	int rc = simpler_call_config_validate(config_of(self), &e);

	(void)unused;
	if (rc)
		return raise_error(rc, &e);
	Py_RETURN_NONE;
}

static PyObject *config_to_bytes(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyBytes_FromStringAndSize((const char *)config_of(self),
					 SIMPLER_CALL_CONFIG_WIRE_BYTES);
}

static PyMethodDef config_methods[] = {
	{ "validate", config_validate, METH_NOARGS,
	  "validate($self)\n--\n\nCheck all fields, as every submit does." },
	{ "to_bytes", config_to_bytes, METH_NOARGS,
	  "to_bytes($self)\n--\n\nThe 1144 bytes that travel." },
	{ NULL, NULL, 0, NULL }
};

/* Keywords are fields. */
static int set_fields(PyObject *self, PyObject *kwargs)
{
	PyObject *name, *value;
	Py_ssize_t at = 0;

	while (kwargs && PyDict_Next(kwargs, &at, &name, &value))
		if (PyObject_SetAttr(self, name, value))
			return -1;
	return 0;
}

static PyObject *config_tp_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	allocfunc alloc = PyType_GetSlot(type, Py_tp_alloc);
	PyObject *self;

	if (PyTuple_Size(args))
		return PyErr_Format(PyExc_TypeError, "CallConfig() takes keywords only");
	self = alloc(type, 0);
	if (!self)
		return NULL;
	simpler_call_config_init(config_of(self));
	if (set_fields(self, kwargs))
		Py_CLEAR(self);
	return self;
}

static PyType_Slot config_slots[] = {
	{ Py_tp_doc, "CallConfig(**fields)\n--\n\nConfiguration of one run." },
	{ Py_tp_new, config_tp_new },
	{ Py_tp_dealloc, object_free },
	{ Py_tp_methods, config_methods },
	{ Py_tp_getset, config_getset },
	{ 0, NULL }
};

static PyType_Spec config_spec = {
	.name = "simpler.task_interface.CallConfig",
	.basicsize = sizeof(struct config_object),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = config_slots,
};

int config_add(PyObject *module)
{
	config_type = type_add(module, &config_spec);
	env_type = type_add(module, &env_spec);
	return config_type && env_type ? 0 : -1;
}
