/* SPDX-License-Identifier: MIT */
/*
 * Waiting: without the GIL, and on the main thread with an eye on signals
 * (decisions D33).  Python runs signal handlers on its main thread only, so no
 * other thread looks for them.
 *
 * While a thread waits in the library it may execute the run itself, on a small
 * stack and below kernels.  There no Python code may run: the check only asks
 * for SIGINT, and the handler is called when the wait has ended.
 */
#include <pthread.h>
#include <time.h>

#include "binding.h"

#define CHECK_NS INT64_C(1000000)		/* at most this often, on the thread's own stack */
#define CHECK_HELPING_NS INT64_C(20000000)	/* the same, inside a run */

static unsigned long main_thread;
static unsigned int processes;

int64_t wait_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

bool wait_on_main_thread(void)
{
	return PyThread_get_thread_ident() == main_thread;
}

/* With the GIL. */
static bool signal_pending(struct waiting *w)
{
	if (!w->helps)
		return PyErr_CheckSignals() != 0;
	if (!PyOS_InterruptOccurred())
		return false;
	PyErr_SetInterrupt();	/* the question took it away */
	return true;
}

static bool wait_check(void *arg)
{
	struct waiting *w = arg;
	int64_t now;
	bool stop;

	/* another thread may have taken over what this one was executing */
	if (PyThread_get_thread_ident() != w->thread)
		return false;
	now = wait_now_ns();
	if (now - w->checked_ns < (w->helps ? CHECK_HELPING_NS : CHECK_NS))
		return false;
	w->checked_ns = now;
	PyEval_RestoreThread(w->released);
	stop = signal_pending(w);
	w->released = PyEval_SaveThread();
	return stop;
}

void wait_begin(struct waiting *w, int64_t timeout_ns, bool helps)
{
	w->wait.timeout_ns = timeout_ns;
	w->wait.interrupted = NULL;
	w->wait.arg = w;
	if (wait_on_main_thread()) {
		w->wait.interrupted = wait_check;
		w->thread = main_thread;
		w->helps = helps;
		w->checked_ns = 0;
	}
	w->released = PyEval_SaveThread();
}

void wait_end(struct waiting *w)
{
	PyEval_RestoreThread(w->released);
}

PyObject *wait_raise_interrupted(const struct simpler_error *e)
{
	if (!PyErr_Occurred() && !PyErr_CheckSignals())
		PyErr_SetString(PyExc_InterruptedError, e->text);
	return NULL;
}

int wait_parse_timeout(PyObject *object, int64_t *timeout_ns)
{
	double seconds;

	*timeout_ns = SIMPLER_FOREVER;
	if (!object || object == Py_None)
		return 0;
	seconds = PyFloat_AsDouble(object);
	if (seconds == -1.0 && PyErr_Occurred())
		return -1;
	if (!(seconds >= 0.0 && seconds <= 1.7976931348623157e308)) {
		PyErr_Format(PyExc_ValueError,
			     "timeout must be a finite number of seconds >= 0, not %R", object);
		return -1;
	}
	/* what does not fit is longer than anything lasts */
	*timeout_ns = seconds < 4e9 ? (int64_t)(seconds * 1e9) : WAIT_LONG_NS;
	return 0;
}

static void count_process(void)
{
	processes++;
}

unsigned int process_count(void)
{
	return processes;
}

/* The number of threading.main_thread(). */
static int find_main_thread(void)
{
	PyObject *threading = PyImport_ImportModule("threading");
	PyObject *thread = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
	PyObject *ident = thread ? PyObject_GetAttrString(thread, "ident") : NULL;

	if (ident)
		main_thread = PyLong_AsUnsignedLong(ident);
	Py_XDECREF(ident);
	Py_XDECREF(thread);
	Py_XDECREF(threading);
	return PyErr_Occurred() ? -1 : 0;
}

int wait_add(PyObject *module)
{
	(void)module;
	if (pthread_atfork(NULL, NULL, count_process)) {
		PyErr_NoMemory();
		return -1;
	}
	return find_main_thread();
}
