/* SPDX-License-Identifier: MIT */
/* The interpreter for Python: arguments are numbers and objects with the buffer protocol. */
#include <errno.h>
#include <string.h>

#include "../interp.h"
#include "binding.h"

/* What a run borrows from Python. */
struct borrowed {
	Py_buffer *views;
	Py_ssize_t n;
};

static void give_back(struct borrowed *b)
{
	while (b->n)
		PyBuffer_Release(&b->views[--b->n]);
	PyMem_Free(b->views);
}

static int number_argument(PyObject *object, const char *name, struct interp_value *v)
{
	const struct dtype_info *info = dtype_info(v->dtype);

	v->kind = TY_SCALAR;
	if (dtype_is_float(v->dtype)) {
		v->f = PyFloat_AsDouble(object);
		return PyErr_Occurred() ? -1 : 0;
	}
	if (v->dtype == DT_BOOL) {
		v->i = PyObject_IsTrue(object);
		return v->i < 0 ? -1 : 0;
	}
	if (v->dtype == DT_UINT64) {
		v->i = (int64_t)PyLong_AsUnsignedLongLong(object);
		return PyErr_Occurred() ? -1 : 0;
	}
	v->i = PyLong_AsLongLong(object);
	if (PyErr_Occurred())
		return -1;
	if (dtype_holds(v->dtype, v->i))
		return 0;
	PyErr_Format(PyExc_ValueError, "argument '%s': %lld does not fit into %s", name,
		     (long long)v->i, info->name);
	return -1;
}

/* A flat buffer of bytes has the extents that the parameter says. */
static int extents_of_param(const struct ir_node *param, struct interp_value *v)
{
	const struct ir_list *shape = &param->type->shape;
	uint32_t i;

	v->rank = shape->n;
	for (i = 0; i < shape->n; i++) {
		if (shape->at[i]->kind != IR_CONST_INT)
			return -1;
		v->shape[i] = IR_AS(shape->at[i], const)->value;
	}
	return 0;
}

/* -1: more than memory can be. */
static int64_t bytes_of(const struct interp_value *v)
{
	int64_t n = interp_item_size(v->dtype);
	int i;

	for (i = 0; i < v->rank; i++)
		if (__builtin_mul_overflow(n, v->shape[i], &n))
			return -1;
	return n;
}

static int tensor_argument(const struct ir_node *param, const Py_buffer *view,
			   struct interp_value *v)
{
	const char *name = IR_AS(param, var)->name;
	int i;

	v->kind = TY_TENSOR;
	v->at = view->buf;
	if (param->type->shape.n > INTERP_MAX_RANK) {
		PyErr_Format(PyExc_ValueError, "argument '%s' has more than %d dimensions", name,
			     INTERP_MAX_RANK);
		return -1;
	}
	if ((uint32_t)view->ndim == param->type->shape.n &&
	    view->itemsize == (Py_ssize_t)interp_item_size(v->dtype)) {
		v->rank = view->ndim;
		for (i = 0; i < view->ndim; i++)
			v->shape[i] = view->shape[i];
		return 0;
	}
	if (view->itemsize == 1 && !extents_of_param(param, v) && bytes_of(v) == view->len)
		return 0;
	PyErr_Format(PyExc_ValueError,
		     "argument '%s' needs %u dimensions of %s (%u bytes each), got %d of %zd bytes", name,
		     param->type->shape.n, dtype_name(v->dtype), interp_item_size(v->dtype),
		     view->ndim, view->itemsize);
	return -1;
}

static int one_argument(PyObject *object, const struct ir_function *f, uint32_t i,
			struct borrowed *b, struct interp_value *v)
{
	const struct ir_node *param = f->params.at[i];
	bool written = f->directions[i] == DIR_OUT || f->directions[i] == DIR_INOUT;
	int flags = PyBUF_ND | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (written ? PyBUF_WRITABLE : 0);

	v->dtype = param->type->dtype;
	if (param->type->kind == TY_SCALAR)
		return number_argument(object, IR_AS(param, var)->name, v);
	if (param->type->kind != TY_TENSOR) {
		PyErr_Format(PyExc_ValueError, "parameter '%s' of '%s' is a %s, which only a program can pass",
			     IR_AS(param, var)->name, f->name, type_kind_name(param->type));
		return -1;
	}
	if (PyObject_GetBuffer(object, &b->views[b->n], flags))
		return -1;
	b->n++;
	return tensor_argument(param, &b->views[b->n - 1], v);
}

static PyObject *result_object(const struct interp_value *v)
{
	PyObject *shape, *bytes, *out;
	int i;

	if (v->argument >= 0)
		return PyLong_FromLongLong(v->argument);
	if (v->kind == TY_SCALAR)
		return dtype_is_float(v->dtype) ? Py_BuildValue("(sd)", dtype_name(v->dtype), v->f) :
		       v->dtype == DT_UINT64 ?
		       Py_BuildValue("(sK)", dtype_name(v->dtype), (unsigned long long)v->i) :
		       Py_BuildValue("(sL)", dtype_name(v->dtype), (long long)v->i);
	if (v->kind != TY_TENSOR)
		return Py_BuildValue("(sO)", "", Py_None);
	shape = PyTuple_New(v->rank);
	for (i = 0; shape && i < v->rank; i++) {
		PyObject *extent = PyLong_FromLongLong(v->shape[i]);

		if (!extent || PyTuple_SetItem(shape, i, extent))
			Py_CLEAR(shape);
	}
	bytes = PyByteArray_FromStringAndSize(v->at, (Py_ssize_t)bytes_of(v));
	out = shape && bytes ? Py_BuildValue("(sOO)", dtype_name(v->dtype), shape, bytes) : NULL;
	Py_XDECREF(shape);
	Py_XDECREF(bytes);
	return out;
}

static PyObject *result_list(const struct interp_value *results, uint32_t n)
{
	PyObject *out = PyList_New(n);
	uint32_t i;

	for (i = 0; out && i < n; i++) {
		PyObject *item = result_object(&results[i]);

		if (!item || PyList_SetItem(out, i, item))
			Py_CLEAR(out);
	}
	return out;
}

static PyObject *run_function(struct px *px, const struct ir_program *program,
			      const struct ir_function *f, const struct interp_value *args,
			      uint32_t n, const struct interp_options *options)
{
	struct interp_value *results;
	uint32_t n_results;
	int rc = interp_run(px, program, f, args, n, options, &results, &n_results);

	if (!rc)
		return result_list(results, n_results);
	return rc == -ENOMEM ? PyErr_NoMemory() : raise_diags(px);
}

static PyObject *with_arguments(const struct ir_program *program, const struct ir_function *f,
				PyObject *args, const struct interp_options *options)
{
	Py_ssize_t n = PyList_Size(args), i;
	struct interp_value *values = PyMem_Calloc((size_t)n + 1, sizeof(*values));
	struct borrowed b = { PyMem_Calloc((size_t)n + 1, sizeof(Py_buffer)), 0 };
	PyObject *out = NULL;
	struct px px;
	int rc = values && b.views ? 0 : -1;

	px_init(&px);
	if (rc)
		PyErr_NoMemory();
	if (!rc && (size_t)n > f->params.n) {
		PyErr_Format(PyExc_TypeError, "%s() takes %u arguments, got %zd", f->name,
			     f->params.n, n);
		rc = -1;
	}
	for (i = 0; i < n && !rc; i++)
		rc = one_argument(PyList_GetItem(args, i), f, (uint32_t)i, &b, &values[i]);
	if (!rc)
		out = run_function(&px, program, f, values, (uint32_t)n, options);
	px_fini(&px);
	give_back(&b);
	PyMem_Free(values);
	return out;
}

PyObject *interpret(PyObject *module, PyObject *args)
{
	struct interp_options options = { 0 };
	const struct ir_program *program = NULL;
	const struct ir_function *f;
	struct node_object *node;
	PyObject *object, *list;
	unsigned long long steps;
	const char *name;
	long long blocks;

	(void)module;
	if (!PyArg_ParseTuple(args, "OsO!KL", &object, &name, &PyList_Type, &list, &steps, &blocks))
		return NULL;
	options.max_steps = steps;
	options.block_num = blocks;
	node = node_of(object);
	if (!node)
		return NULL;
	if (node->node->kind == IR_PROGRAM) {
		program = IR_AS(node->node, program);
		f = program_find(program, name);
	} else {
		f = node->node->kind == IR_FUNCTION ? IR_AS(node->node, function) : NULL;
	}
	if (!f)
		return PyErr_Format(PyExc_ValueError, "there is no function '%s' to interpret", name);
	return with_arguments(program, f, list, &options);
}
