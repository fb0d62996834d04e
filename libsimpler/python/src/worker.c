/* SPDX-License-Identifier: MIT */
/* Worker: life, registration, and what other levels have (worker-api §2 to §4). */
#include "binding.h"

#define CLOSE_NS INT64_C(10000000000)

PyTypeObject *worker_type;

static struct worker_object *worker_of(PyObject *self)
{
	return (struct worker_object *)self;
}

PyObject *worker_raise(struct worker_object *w, int code)
{
	struct simpler_error e;

	simpler_worker_last_error(w->worker, &e);
	if (simpler_error_class(code) == SIMPLER_CLASS_INTERRUPTED)
		return wait_raise_interrupted(&e);
	return raise_error(code, &e);
}

int worker_usable(struct worker_object *w)
{
	if (w->process == process_count())
		return 0;
	PyErr_SetString(PyExc_RuntimeError,
			"this Worker belongs to the parent process; create one after the fork");
	return -1;
}

/* ---- configuration ---- */

static PyObject *config_value(struct worker_object *w, const char *key)
{
	return PyDict_GetItemString(w->config, key);
}

/* A name may be missing or None; the library refuses that at init. */
static int set_name(struct worker_object *w, const char *key,
		    int (*set)(struct simpler_worker *w, const char *name))
{
	PyObject *value = config_value(w, key);
	PyObject *bytes;
	char *name;
	int rc;

	if (!value || value == Py_None)
		return 0;
	if (!PyUnicode_Check(value)) {
		PyErr_Format(PyExc_TypeError, "%s must be a string, not %R", key, value);
		return -1;
	}
	bytes = PyUnicode_AsUTF8String(value);
	if (!bytes)
		return -1;
	if (PyBytes_AsStringAndSize(bytes, &name, NULL)) {
		Py_DECREF(bytes);
		PyErr_Format(PyExc_ValueError, "%s %R contains a NUL character", key, value);
		return -1;
	}
	rc = set(w->worker, name);
	Py_DECREF(bytes);
	if (rc)
		worker_raise(w, rc);
	return rc ? -1 : 0;
}

static int set_device(struct worker_object *w)
{
	PyObject *value = config_value(w, "device_id");
	int64_t id;
	int rc;

	if (!value)
		return 0;
	if (parse_i64(value, "device_id", &id))
		return -1;
	if (id < INT32_MIN || id > INT32_MAX) {
		PyErr_Format(PyExc_ValueError, "device_id %S needs more than 32 bits", value);
		return -1;
	}
	rc = simpler_worker_set_device_id(w->worker, (int32_t)id);
	if (rc)
		worker_raise(w, rc);
	return rc ? -1 : 0;
}

static int set_sdma(struct worker_object *w)
{
	PyObject *value = config_value(w, "enable_sdma");
	int yes = value ? PyObject_IsTrue(value) : 0;
	int rc;

	if (yes <= 0)
		return yes;
	rc = simpler_worker_set_enable_sdma(w->worker, true);
	if (rc)
		worker_raise(w, rc);
	return rc ? -1 : 0;
}

/* What the constructor collected goes to the library before its first use. */
static int configure(struct worker_object *w)
{
	if (worker_usable(w))
		return -1;
	if (w->configured)
		return 0;
	if (config_value(w, "level")) {
		PyErr_Format(PyExc_ValueError, "level %S not supported", config_value(w, "level"));
		return -1;
	}
	if (set_name(w, "platform", simpler_worker_set_platform) ||
	    set_name(w, "runtime", simpler_worker_set_runtime) || set_device(w) || set_sdma(w))
		return -1;
	w->configured = true;
	return 0;
}

/* ---- construction ---- */

/* The only key that is checked at once; its rules need the platform. */
static int set_budget(struct worker_object *w)
{
	PyObject *value = config_value(w, "workspace_budget_bytes");
	uint64_t bytes;
	int rc;

	if (!value || value == Py_None)
		return 0;
	if (parse_token(value, "workspace_budget_bytes", &bytes) ||
	    set_name(w, "platform", simpler_worker_set_platform))
		return -1;
	rc = simpler_worker_set_workspace_budget(w->worker, bytes);
	if (rc)
		worker_raise(w, rc);
	return rc ? -1 : 0;
}

static int check_startup_timeout(struct worker_object *w)
{
	PyObject *value = config_value(w, "startup_timeout_s");
	double seconds = value ? PyFloat_AsDouble(value) : 1.0;

	if (seconds == -1.0 && PyErr_Occurred())
		return -1;
	if (seconds > 0.0 && seconds <= 1.7976931348623157e308)
		return 0;
	PyErr_Format(PyExc_ValueError, "startup_timeout_s must be finite and > 0, not %R", value);
	return -1;
}

/* Takes the level out of a copy of the keywords, unless it is larger than a level can be. */
static int parse_construction(PyObject *args, PyObject *kwargs, int64_t *level, PyObject **config)
{
	PyObject *value = NULL;

	if (!PyArg_ParseTuple(args, "|O:Worker", &value))
		return -1;
	*config = kwargs ? PyDict_Copy(kwargs) : PyDict_New();
	if (!*config)
		return -1;
	if (value && PyDict_GetItemString(*config, "level")) {
		PyErr_SetString(PyExc_TypeError, "Worker() got multiple values for 'level'");
		return -1;
	}
	if (!value)
		value = PyDict_GetItemString(*config, "level");
	if (!value) {
		PyErr_SetString(PyExc_TypeError, "Worker() needs a level: 2 is one chip");
		return -1;
	}
	if (parse_i64(value, "level", level))
		return -1;
	if (*level < INT_MIN || *level > INT_MAX) {
		*level = -1;
		return PyDict_SetItemString(*config, "level", value);
	}
	if (PyDict_GetItemString(*config, "level"))
		return PyDict_DelItemString(*config, "level");
	return 0;
}

static PyObject *worker_make(PyTypeObject *type, int64_t level, PyObject *config)
{
	allocfunc alloc = PyType_GetSlot(type, Py_tp_alloc);
	struct worker_object *w = (struct worker_object *)alloc(type, 0);
	int rc;

	if (!w)
		return NULL;
	w->config = Py_NewRef(config);
	w->process = process_count();
	rc = simpler_worker_create((int)level, &w->worker);
	if (rc)
		raise_error(rc, NULL);
	if (!rc && !check_startup_timeout(w) && !set_budget(w))
		return (PyObject *)w;
	Py_DECREF(w);
	return NULL;
}

static PyObject *worker_tp_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	PyObject *config = NULL, *self = NULL;
	int64_t level;

	if (!parse_construction(args, kwargs, &level, &config))
		self = worker_make(type, level, config);
	Py_XDECREF(config);
	return self;
}

/* Subclasses may pass the keywords on; they have been read by then. */
static int worker_tp_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
	(void)self;
	(void)args;
	(void)kwargs;
	return 0;
}

/* ---- end of life ---- */

static void warn_unclosed(PyObject *self)
{
	if (PyErr_ResourceWarning(self, 1, "unclosed %R", self))
		PyErr_WriteUnraisable(self);
}

static int close_quietly(struct simpler_worker *worker)
{
	int rc;

	Py_BEGIN_ALLOW_THREADS
	rc = simpler_worker_close(worker, NULL);
	Py_END_ALLOW_THREADS
	return rc;
}

/* The child of a fork has neither the threads nor the locks of its parent's Worker. */
static bool closable(const struct worker_object *w)
{
	return w->worker && w->process == process_count();
}

static void worker_finalize(PyObject *self)
{
	struct worker_object *w = worker_of(self);
	PyObject *type, *value, *trace;
	int rc;

	if (!closable(w))
		return;
	PyErr_Fetch(&type, &value, &trace);
	if (simpler_worker_get_state(w->worker) == SIMPLER_WORKER_READY)
		warn_unclosed(self);
	rc = close_quietly(w->worker);
	if (rc) {
		worker_raise(w, rc);
		PyErr_WriteUnraisable(self);
	}
	PyErr_Restore(type, value, trace);
}

static int worker_clear(PyObject *self)
{
	Py_CLEAR(worker_of(self)->config);
	return 0;
}

static int worker_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(worker_of(self)->config);
	return 0;
}

static void worker_dealloc(PyObject *self)
{
	PyObject_GC_UnTrack(self);	/* the class simpler.Worker has run the finalizer */
	if (closable(worker_of(self)))
		simpler_worker_destroy(worker_of(self)->worker);
	worker_clear(self);
	object_free(self);
}

/* ---- init and close ---- */

static int parse_prewarm(PyObject *object, struct simpler_call_config *config,
			 struct simpler_init_options *o)
{
	if (!object || object == Py_None)
		return 0;
	if (!PyObject_TypeCheck(object, config_type)) {
		PyErr_Format(PyExc_TypeError, "prewarm_config is a CallConfig, not %R", object);
		return -1;
	}
	*config = ((struct config_object *)object)->config;
	o->prewarm = config;
	return 0;
}

static int parse_borrow(PyObject *token, struct simpler_init_options *o)
{
	if (!token || token == Py_None)
		return 0;
	o->flags = SIMPLER_INIT_BORROW;
	return parse_token(token, "borrowed_context_generation", &o->borrowed_context_generation);
}

static PyObject *worker_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "prewarm_config", "borrowed_context_generation", NULL };
	PyObject *prewarm = NULL, *token = NULL;
	struct simpler_init_options o = { 0 };
	struct simpler_call_config config;
	int rc;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O$O:init", names, &prewarm, &token) ||
	    parse_prewarm(prewarm, &config, &o) || parse_borrow(token, &o) ||
	    configure(worker_of(self)))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	rc = simpler_worker_init(worker_of(self)->worker, &o);
	Py_END_ALLOW_THREADS
	if (rc)
		return worker_raise(worker_of(self), rc);
	Py_RETURN_NONE;
}

/* A signal whose handler returns does not end the call. */
static int close_until(struct simpler_worker *worker, int64_t deadline)
{
	struct waiting w;
	int64_t left;
	int rc;

	do {
		left = deadline - wait_now_ns();
		wait_begin(&w, left > 0 ? left : 0, false);
		rc = simpler_worker_close(worker, &w.wait);
		wait_end(&w);
	} while (simpler_error_class(rc) == SIMPLER_CLASS_INTERRUPTED && !PyErr_Occurred());
	return rc;
}

static PyObject *worker_close(PyObject *self, PyObject *unused)
{
	int rc;

	(void)unused;
	if (worker_usable(worker_of(self)))
		return NULL;
	rc = close_until(worker_of(self)->worker, wait_now_ns() + CLOSE_NS);
	if (rc)
		return worker_raise(worker_of(self), rc);
	Py_RETURN_NONE;
}

static PyObject *worker_enter(PyObject *self, PyObject *unused)
{
	(void)unused;
	return Py_NewRef(self);
}

static PyObject *worker_exit(PyObject *self, PyObject *args)
{
	(void)args;
	return PyObject_CallMethod(self, "close", NULL);
}

/* ---- callables ---- */

static PyObject *register_chip(struct worker_object *w, struct simpler_chip_callable *callable)
{
	struct simpler_callable_handle handle;
	struct waiting wait;
	int rc;

	do {
		wait_begin(&wait, WAIT_LONG_NS, false);
		rc = simpler_worker_register_wait(w->worker, callable, &wait.wait, &handle);
		wait_end(&wait);
	} while (simpler_error_class(rc) == SIMPLER_CLASS_INTERRUPTED && !PyErr_Occurred());
	return rc ? worker_raise(w, rc) : handle_new(&handle);
}

static PyObject *worker_register(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "target", "workers", NULL };
	PyObject *target, *workers = NULL;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O:register", names, &target, &workers))
		return NULL;
	if (workers && workers != Py_None)
		return PyErr_Format(PyExc_TypeError,
				    "workers= is for remote callables at level >= 4 only");
	if (!PyObject_TypeCheck(target, chip_type))
		return PyErr_Format(PyExc_TypeError,
				    "a Worker of level %d registers a ChipCallable, not %R",
				    simpler_worker_level(worker_of(self)->worker), target);
	if (configure(worker_of(self)))
		return NULL;
	return register_chip(worker_of(self), ((struct chip_object *)target)->callable);
}

static PyObject *worker_unregister(PyObject *self, PyObject *handle)
{
	struct worker_object *w = worker_of(self);
	int rc;

	if (!PyObject_TypeCheck(handle, handle_type))
		return PyErr_Format(PyExc_TypeError, "unregister() takes a CallableHandle, not %R",
				    handle);
	if (worker_usable(w))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	rc = simpler_worker_unregister(w->worker, &((struct handle_object *)handle)->handle);
	Py_END_ALLOW_THREADS
	if (rc)
		return worker_raise(w, rc);
	Py_RETURN_NONE;
}

/* ---- other levels ---- */

static PyObject *raise_level(PyObject *self, PyObject *class, const char *method, int needed)
{
	int level = simpler_worker_level(worker_of(self)->worker);

	if (level >= needed)
		return PyErr_Format(PyExc_RuntimeError,
				    "%s(): level %d is not supported by this build", method, level);
	return PyErr_Format(class, "%s() needs level >= %d, this Worker has level %d", method,
			    needed, level);
}

#define LEVEL_METHOD(method, class, needed)						\
static PyObject *worker_##method(PyObject *self, PyObject *args, PyObject *kwargs)	\
{											\
	(void)args;									\
	(void)kwargs;									\
	return raise_level(self, class, #method, needed);				\
}

LEVEL_METHOD(alloc_child_tensor, PyExc_TypeError, 3)
LEVEL_METHOD(add_worker, PyExc_RuntimeError, 4)
LEVEL_METHOD(add_remote_worker, PyExc_RuntimeError, 4)
LEVEL_METHOD(remote_malloc, PyExc_RuntimeError, 4)
LEVEL_METHOD(remote_free, PyExc_RuntimeError, 4)
LEVEL_METHOD(remote_copy_to, PyExc_RuntimeError, 4)
LEVEL_METHOD(remote_copy_from, PyExc_RuntimeError, 4)
LEVEL_METHOD(remote_export, PyExc_RuntimeError, 4)
LEVEL_METHOD(remote_import, PyExc_RuntimeError, 4)
LEVEL_METHOD(remote_release_import, PyExc_RuntimeError, 4)

#define LEVEL_ENTRY(method, doc)							\
	{ #method, PY_METHOD(worker_##method), METH_VARARGS | METH_KEYWORDS, doc }

/* Domains belong to level >= 3. */
static PyObject *worker_live_domains(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	return PyDict_New();
}

static PyMethodDef worker_methods[] = {
	{ "init", PY_METHOD(worker_init), METH_VARARGS | METH_KEYWORDS,
	  "init($self, prewarm_config=None, *, borrowed_context_generation=None)\n--\n\n"
	  "Open the chip and install the registered callables." },
	{ "close", worker_close, METH_NOARGS,
	  "close($self)\n--\n\nWait for runs, then release everything. Put it in a finally." },
	{ "__enter__", worker_enter, METH_NOARGS, "__enter__($self)\n--\n\nDoes not initialize." },
	{ "__exit__", worker_exit, METH_VARARGS, "__exit__($self, *args)\n--\n\nclose()." },
	{ "register", PY_METHOD(worker_register), METH_VARARGS | METH_KEYWORDS,
	  "register($self, target, *, workers=None)\n--\n\nMake a ChipCallable known." },
	{ "unregister", worker_unregister, METH_O,
	  "unregister($self, handle_or_slot)\n--\n\nEnd a registration." },
	{ "live_domains", worker_live_domains, METH_NOARGS,
	  "live_domains($self)\n--\n\nAllocated communication domains by name." },
	LEVEL_ENTRY(alloc_child_tensor, "Level >= 3: allocate on a child's chip."),
	LEVEL_ENTRY(add_worker, "Level >= 4: attach a child Worker."),
	LEVEL_ENTRY(add_remote_worker, "Level >= 4: attach a remote Worker."),
	LEVEL_ENTRY(remote_malloc, "Level >= 4."),
	LEVEL_ENTRY(remote_free, "Level >= 4."),
	LEVEL_ENTRY(remote_copy_to, "Level >= 4."),
	LEVEL_ENTRY(remote_copy_from, "Level >= 4."),
	LEVEL_ENTRY(remote_export, "Level >= 4."),
	LEVEL_ENTRY(remote_import, "Level >= 4."),
	LEVEL_ENTRY(remote_release_import, "Level >= 4."),
	{ NULL, NULL, 0, NULL }
};

static PyObject *worker_get_location(PyObject *self, void *unused)
{
	struct worker_object *w = worker_of(self);
	struct simpler_location *location;
	int rc;

	(void)unused;
	if (worker_usable(w))
		return NULL;
	rc = simpler_worker_location(w->worker, &location);
	return rc ? worker_raise(w, rc) : location_new(location);
}

static PyObject *worker_get_level(PyObject *self, void *unused)
{
	(void)unused;
	if (config_value(worker_of(self), "level"))
		return Py_NewRef(config_value(worker_of(self), "level"));
	return PyLong_FromLong(simpler_worker_level(worker_of(self)->worker));
}

static const char *const state_names[] = {
	[SIMPLER_WORKER_NEW] = "NEW",
	[SIMPLER_WORKER_INITIALIZING] = "INITIALIZING",
	[SIMPLER_WORKER_READY] = "READY",
	[SIMPLER_WORKER_FAILED] = "FAILED",
	[SIMPLER_WORKER_CLOSED] = "CLOSED",
};

static const char *state_name(PyObject *self)
{
	return state_names[simpler_worker_get_state(worker_of(self)->worker)];
}

static PyObject *worker_get_state(PyObject *self, void *unused)
{
	(void)unused;
	return PyUnicode_FromString(state_name(self));
}

static PyGetSetDef worker_getset[] = {
	{ "device_location", worker_get_location, NULL,
	  "Names the chip for Buffer.wrap(); no device call.", NULL },
	{ "level", worker_get_level, NULL, "2 is one chip.", NULL },
	{ "state", worker_get_state, NULL, "NEW, INITIALIZING, READY, FAILED or CLOSED.", NULL },
	{ NULL, NULL, NULL, NULL, NULL }
};

static PyObject *worker_repr(PyObject *self)
{
	return PyUnicode_FromFormat("<Worker %s>", state_name(self));
}

static PyType_Slot worker_slots[] = {
	{ Py_tp_doc, "Worker(level, **config)\n--\n\n"
		     "Registers callables and runs them. Level 2 drives one chip; keywords: "
		     "platform, runtime, device_id, enable_sdma." },
	{ Py_tp_new, worker_tp_new },
	{ Py_tp_init, worker_tp_init },
	{ Py_tp_finalize, worker_finalize },
	{ Py_tp_dealloc, worker_dealloc },
	{ Py_tp_traverse, worker_traverse },
	{ Py_tp_clear, worker_clear },
	{ Py_tp_repr, worker_repr },
	{ Py_tp_methods, worker_methods },
	{ Py_tp_getset, worker_getset },
	{ 0, NULL }
};

static PyType_Spec worker_spec = {
	.name = "simpler.worker.Worker",
	.basicsize = sizeof(struct worker_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
	.slots = worker_slots,
};

int worker_add(PyObject *module)
{
	worker_type = type_add(module, &worker_spec);
	if (!worker_type || methods_add(worker_type, memory_methods))
		return -1;
	return methods_add(worker_type, run_methods);
}
