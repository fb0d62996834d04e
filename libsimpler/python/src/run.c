/* SPDX-License-Identifier: MIT */
/* run, submit, RunHandle (worker-api §11). */
#include "binding.h"

/*
 * A run that a caller executes itself starts without a thread switch, but a
 * signal must wait for the kernel that it is in.  On the main thread a callable
 * is therefore executed by the caller only after a run that was shorter than this.
 */
#define BRIEF_NS 1000000

PyTypeObject *run_type;

struct run_object {
	PyObject_HEAD
	struct simpler_run *run;
	struct worker_object *worker;
};

static bool interrupted(int rc)
{
	return simpler_error_class(rc) == SIMPLER_CLASS_INTERRUPTED;
}

/* ---- waiting for a run ---- */

/* A signal whose handler returns does not end the wait. */
static int wait_until(struct simpler_run *run, int64_t timeout_ns)
{
	bool forever = timeout_ns == SIMPLER_FOREVER;
	int64_t deadline = forever ? 0 : wait_now_ns() + timeout_ns, left = timeout_ns;
	struct waiting w;
	int rc;

	if (forever && wait_on_main_thread())
		left = WAIT_LONG_NS;
	for (;;) {
		wait_begin(&w, left, false);
		rc = simpler_run_wait(run, &w.wait);
		wait_end(&w);
		if (!interrupted(rc) || PyErr_Occurred())
			return rc;
		if (forever)
			continue;
		left = deadline - wait_now_ns();
		left = left > 0 ? left : 0;
	}
}

/* Raises the outcome of a run, or what ended the wait for it. */
static PyObject *raise_run(struct worker_object *w, struct simpler_run *run, int rc)
{
	struct simpler_error e;

	if (simpler_run_error(run, &e)->code == rc)
		return raise_error(rc, &e);
	return worker_raise(w, rc);
}

/* ---- submission ---- */

struct request {
	struct worker_object *worker;
	struct handle_object *handle;
	struct args_box *args;		/* NULL: none */
	bool configured;
	struct simpler_call_config config;
	struct simpler_run_options options;
};

static int parse_config(PyObject *object, struct request *rq)
{
	if (!object || object == Py_None)
		return 0;
	if (!PyObject_TypeCheck(object, config_type)) {
		PyErr_Format(PyExc_TypeError, "config is a CallConfig, not %R",
			     (PyObject *)Py_TYPE(object));
		return -1;
	}
	rq->config = ((struct config_object *)object)->config;
	rq->configured = true;
	return 0;
}

static int parse_stream(PyObject *object, struct request *rq)
{
	if (!object || object == Py_None)
		return 0;
	rq->options.flags = SIMPLER_RUN_CALLER_STREAM;
	return parse_token(object, "caller_stream", &rq->options.caller_stream);
}

static int parse_args(PyObject *object, struct request *rq)
{
	if (!object || object == Py_None)
		return 0;
	if (!PyObject_TypeCheck(object, args_type)) {
		PyErr_Format(PyExc_TypeError, "args is a TaskArgs, not %R",
			     (PyObject *)Py_TYPE(object));
		return -1;
	}
	rq->args = args_box_get((struct args_object *)object);
	return 0;
}

static const char *const names[] = { "callable", "args", "config", "caller_stream", NULL };
static const struct fast_names run_names = { "run", names, 3, 1 };
static const struct fast_names submit_names = { "submit", names, 3, 1 };

/* On success args_box_put(rq->args) is due. */
static int request_parse(struct request *rq, const struct fast_names *n, PyObject *self,
			 PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
	PyObject *v[4];

	rq->worker = (struct worker_object *)self;
	rq->args = NULL;
	rq->configured = false;
	rq->options = (struct simpler_run_options){ .wait = NULL };
	if (fast_parse(n, args, nargs, kwnames, v) || worker_usable(rq->worker))
		return -1;
	if (!PyObject_TypeCheck(v[0], handle_type)) {
		PyErr_Format(PyExc_TypeError,
			     "%s() at level 2 takes a CallableHandle from register(), not %R",
			     n->function, v[0]);
		return -1;
	}
	rq->handle = (struct handle_object *)v[0];
	if (parse_config(v[2], rq) || parse_stream(v[3], rq))
		return -1;
	return parse_args(v[1], rq);
}

/* Blocks while two runs are in flight; never executes them on the main thread. */
static int submit(struct request *rq, struct simpler_run **run)
{
	int64_t timeout_ns = wait_on_main_thread() ? WAIT_LONG_NS : SIMPLER_FOREVER;
	struct waiting w;
	int rc;

	rq->options.wait = &w.wait;
	do {
		wait_begin(&w, timeout_ns, false);
		rc = simpler_worker_submit(rq->worker->worker, &rq->handle->handle,
					   rq->args ? rq->args->args : NULL,
					   rq->configured ? &rq->config : NULL, &rq->options, run);
		wait_end(&w);
	} while (interrupted(rc) && !PyErr_Occurred());
	return rc;
}

/* The caller may execute the run itself. */
static PyObject *run_here(struct request *rq)
{
	struct waiting w;
	int rc;

	rq->options.wait = &w.wait;
	wait_begin(&w, SIMPLER_FOREVER, true);
	rc = simpler_worker_run(rq->worker->worker, &rq->handle->handle,
				rq->args ? rq->args->args : NULL,
				rq->configured ? &rq->config : NULL, &rq->options);
	wait_end(&w);
	if (rc)
		return worker_raise(rq->worker, rc);
	Py_RETURN_NONE;
}

static PyObject *run_there(struct request *rq)
{
	PyObject *result = NULL;
	struct simpler_run *run;
	int rc = submit(rq, &run);

	if (rc)
		return worker_raise(rq->worker, rc);
	rc = wait_until(run, SIMPLER_FOREVER);
	result = rc ? raise_run(rq->worker, run, rc) : Py_NewRef(Py_None);
	simpler_run_put(run);
	return result;
}

static PyObject *run_on_main(struct request *rq)
{
	int64_t start = wait_now_ns();
	PyObject *result = rq->handle->brief ? run_here(rq) : run_there(rq);

	rq->handle->brief = wait_now_ns() - start < BRIEF_NS;
	return result;
}

static PyObject *worker_run(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			    PyObject *kwnames)
{
	struct request rq;
	PyObject *result;

	if (request_parse(&rq, &run_names, self, args, nargs, kwnames))
		return NULL;
	result = wait_on_main_thread() ? run_on_main(&rq) : run_here(&rq);
	args_box_put(rq.args);
	return result;
}

static PyObject *run_new(struct worker_object *w, struct simpler_run *run)
{
	allocfunc alloc = PyType_GetSlot(run_type, Py_tp_alloc);
	struct run_object *self = (struct run_object *)alloc(run_type, 0);

	if (!self) {
		simpler_run_put(run);
		return NULL;
	}
	self->run = run;
	self->worker = (struct worker_object *)Py_NewRef((PyObject *)w);
	return (PyObject *)self;
}

static PyObject *worker_submit(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			       PyObject *kwnames)
{
	struct simpler_run *run;
	struct request rq;
	int rc;

	if (request_parse(&rq, &submit_names, self, args, nargs, kwnames))
		return NULL;
	rc = submit(&rq, &run);
	args_box_put(rq.args);
	return rc ? worker_raise(rq.worker, rc) : run_new(rq.worker, run);
}

PyMethodDef run_methods[] = {
	{ "run", PY_METHOD(worker_run), METH_FASTCALL | METH_KEYWORDS,
	  "run($self, callable, args=None, config=None, *, caller_stream=None)\n--\n\n"
	  "Run a registered callable and wait for it." },
	{ "submit", PY_METHOD(worker_submit), METH_FASTCALL | METH_KEYWORDS,
	  "submit($self, callable, args=None, config=None, *, caller_stream=None)\n--\n\n"
	  "Start a run; returns a RunHandle." },
	{ NULL, NULL, 0, NULL }
};

/* ---- RunHandle ---- */

static struct run_object *handle_of(PyObject *self)
{
	return (struct run_object *)self;
}

static PyObject *handle_wait(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			     PyObject *kwnames)
{
	static const char *const timeout_names[] = { "timeout", NULL };
	static const struct fast_names n = { "wait", timeout_names, 1, 0 };
	struct run_object *h = handle_of(self);
	PyObject *timeout;
	int64_t ns;
	int rc;

	if (fast_parse(&n, args, nargs, kwnames, &timeout) || wait_parse_timeout(timeout, &ns) ||
	    worker_usable(h->worker))
		return NULL;
	rc = wait_until(h->run, ns);
	if (rc)
		return raise_run(h->worker, h->run, rc);
	Py_RETURN_NONE;
}

static PyMethodDef handle_methods[] = {
	{ "wait", PY_METHOD(handle_wait), METH_FASTCALL | METH_KEYWORDS,
	  "wait($self, timeout=None)\n--\n\nWait for the run; raises its error." },
	{ "result", PY_METHOD(handle_wait), METH_FASTCALL | METH_KEYWORDS,
	  "result($self, timeout=None)\n--\n\nThe same as wait()." },
	{ NULL, NULL, 0, NULL }
};

static PyObject *handle_get_done(PyObject *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(simpler_run_done(handle_of(self)->run));
}

static PyObject *handle_get_stats(PyObject *self, void *unused)
{
	struct simpler_run_stats s;

	(void)unused;
	simpler_run_get_stats(handle_of(self)->run, &s);
	return Py_BuildValue("{sKsKsKsKsK}", "run_id", (unsigned long long)s.run_id,
			     "tasks_submitted", (unsigned long long)s.tasks_submitted,
			     "tasks_completed", (unsigned long long)s.tasks_completed, "start_ns",
			     (unsigned long long)s.start_ns, "end_ns",
			     (unsigned long long)s.end_ns);
}

static PyGetSetDef handle_getset[] = {
	{ "done", handle_get_done, NULL, "The run has ended, well or badly; never blocks.", NULL },
	{ "stats", handle_get_stats, NULL, "What the chip measured; zero while running.", NULL },
	{ NULL, NULL, NULL, NULL, NULL }
};

static int handle_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT((PyObject *)handle_of(self)->worker);
	return 0;
}

static int handle_clear(PyObject *self)
{
	(void)self;	/* the Worker breaks cycles; a handle needs it to the end */
	return 0;
}

static void handle_dealloc(PyObject *self)
{
	PyObject_GC_UnTrack(self);
	simpler_run_put(handle_of(self)->run);
	Py_XDECREF((PyObject *)handle_of(self)->worker);
	object_free(self);
}

static PyType_Slot handle_slots[] = {
	{ Py_tp_doc, "A run that was submitted." },
	{ Py_tp_dealloc, handle_dealloc },
	{ Py_tp_traverse, handle_traverse },
	{ Py_tp_clear, handle_clear },
	{ Py_tp_methods, handle_methods },
	{ Py_tp_getset, handle_getset },
	{ 0, NULL }
};

static PyType_Spec handle_spec = {
	.name = "simpler.worker.RunHandle",
	.basicsize = sizeof(struct run_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = handle_slots,
};

int run_add(PyObject *module)
{
	run_type = type_add(module, &handle_spec);
	return run_type ? 0 : -1;
}
