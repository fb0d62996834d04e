/* SPDX-License-Identifier: MIT */
/* Generators as functions of pypto._core. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../gen.h"
#include "binding.h"

struct request {
	const struct ir_program *program;
	const struct ir_function *f;
	const char *what, *text;
	int arch;
};

static bool is_file_kind(const char *what)
{
	static const char *const kinds[] = { "orchestration", "pto", "cce", "wrapper" };
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i], what))
			return true;
	return false;
}

static const char *make_text(struct px *px, const struct request *r)
{
	if (!strcmp(r->what, "orchestration"))
		return gen_orchestration(px, r->program, r->f);
	if (!strcmp(r->what, "pto"))
		return gen_pto(px, r->program, r->f, r->arch ? ARCH_A5 : ARCH_A2A3);
	if (!strcmp(r->what, "cce"))
		return gen_cce(px, r->program, r->f, r->arch ? ARCH_A5 : ARCH_A2A3);
	return gen_wrapper(px, r->program, r->f, r->arch ? ARCH_A5 : ARCH_A2A3, r->text);
}

/* The program of a Python object; NULL with TypeError. */
static const struct ir_program *program_of(PyObject *object)
{
	struct node_object *node = node_of(object);

	if (!node)
		return NULL;
	if (node->node->kind != IR_PROGRAM) {
		PyErr_SetString(PyExc_TypeError, "a program is needed");
		return NULL;
	}
	return IR_AS(node->node, program);
}

/* @out, after the warnings were issued; NULL when they are errors to the caller. */
static PyObject *with_warnings(const struct px *px, PyObject *out)
{
	if (out && px->diags)
		raise_diags(px);
	if (PyErr_Occurred())
		Py_CLEAR(out);
	return out;
}

/* Fills in the program and its function @name; -EINVAL with an exception when there is none. */
static int find_function(struct request *r, PyObject *program, const char *name)
{
	r->program = program_of(program);
	if (!r->program)
		return -EINVAL;
	r->f = program_find(r->program, name);
	if (r->f && r->f->body)
		return 0;
	PyErr_Format(PyExc_ValueError, "no function is named '%s'", name);
	return -EINVAL;
}

PyObject *generate(PyObject *module, PyObject *args)
{
	struct request r = { .text = "" };
	PyObject *object, *out;
	const char *name, *text;
	struct px px;

	(void)module;
	if (!PyArg_ParseTuple(args, "Ossi|s", &object, &r.what, &name, &r.arch, &r.text))
		return NULL;
	if (!is_file_kind(r.what))
		return PyErr_Format(PyExc_ValueError, "no kind of file is named '%s'", r.what);
	if (find_function(&r, object, name))
		return NULL;
	px_init(&px);
	px_guard(&px, text, make_text(&px, &r), NULL);
	if (text && !px.n_errors)
		out = with_warnings(&px, PyUnicode_FromString(text));
	else
		out = px.diags ? raise_diags(&px) : PyErr_NoMemory();
	px_fini(&px);
	return out;
}

/* ---- The author's places ---- */

/* The place, the operator that stands there or "", the lines of the text that it is in. */
static PyObject *place_tuple(struct px *px, const struct request *r, unsigned int line)
{
	struct gen_place place = { .span = r->f->node.span };
	PyObject *lines;
	const char *call;
	struct span s;

	if (line)
		px_guard(px, place, gen_pto_place(px, r->program, r->f,
						  r->arch ? ARCH_A5 : ARCH_A2A3, line),
			 (struct gen_place){ .span = r->f->node.span });
	s = place.call && place.call->node.span.line ? place.call->node.span : place.span;
	px_guard(px, call, place.call ? gen_call_text(px, place.call) : "", "");
	lines = context_text(s.file);
	if (!lines)
		return NULL;
	return Py_BuildValue("((sIIII)sO)", s.file ? s.file : "", s.line, s.col, s.end_line,
			     s.end_col, call, lines);
}

/* (program, function, architecture, line of its .pto text or 0 for the function itself) */
PyObject *place_of(PyObject *module, PyObject *args)
{
	struct request r = { .text = "" };
	PyObject *object, *out = NULL;
	unsigned int line;
	const char *name;
	struct px px;

	(void)module;
	if (!PyArg_ParseTuple(args, "OsiI", &object, &name, &r.arch, &line))
		return NULL;
	if (find_function(&r, object, name))
		return NULL;
	px_init(&px);
	out = place_tuple(&px, &r, line);
	px_fini(&px);
	return out;
}

/* ---- What a program consists of ---- */

struct parts {
	const struct ir_function *orch;	/* or NULL */
	struct kernel {
		const struct ir_function *f;
		enum gen_core core;
		int id;		/* by which the orchestration calls it, or -1 */
	} *kernels;
	uint32_t n;
};

static void add_kernel(struct px *px, struct parts *parts, const struct ir_function *f,
		       const struct ir_list *called)
{
	struct kernel *k = &parts->kernels[parts->n++];
	uint32_t id;

	for (id = 0; id < called->n && called->at[id] != &f->node; id++)
		;
	*k = (struct kernel){ f, gen_core(px, f), id < called->n ? (int)id : -1 };
}

static int find_parts(struct px *px, const struct ir_program *program, struct parts *parts)
{
	struct ir_list called = { 0 };
	uint32_t i;

	parts->orch = gen_orchestration_of(px, program);
	if (parts->orch) {
		called = gen_called(px, program, parts->orch);
		if (!px->n_errors)
			gen_check_groups(px, program, parts->orch);
	}
	if (px->n_errors)
		return -EINVAL;
	parts->kernels = px_alloc(px, program->functions.n + 1, sizeof(*parts->kernels));
	for (i = 0; i < program->functions.n; i++) {
		const struct ir_function *f = IR_AS(program->functions.at[i], function);

		if (f->func_type == FN_INCORE || f->func_type == FN_BLOCK_INCORE)
			add_kernel(px, parts, f, &called);
	}
	return px->n_errors ? -EINVAL : 0;
}

static PyObject *kernel_list(const struct parts *parts)
{
	PyObject *out = PyList_New(parts->n);
	uint32_t i;

	for (i = 0; out && i < parts->n; i++) {
		const struct kernel *k = &parts->kernels[i];
		PyObject *item = Py_BuildValue("(ssi)", k->f->name,
					       k->core == CORE_CUBE ? "aic" : "aiv", k->id);

		if (!item || PyList_SetItem(out, i, item))
			Py_CLEAR(out);
	}
	return out;
}

static PyObject *described(struct px *px, const struct ir_program *program)
{
	struct parts parts = { 0 };
	PyObject *kernels;
	int rc;

	px_guard(px, rc, find_parts(px, program, &parts), -ENOMEM);
	if (rc)
		return rc == -ENOMEM ? PyErr_NoMemory() : raise_diags(px);
	kernels = with_warnings(px, kernel_list(&parts));
	return kernels ? Py_BuildValue("(zN)", parts.orch ? parts.orch->name : NULL, kernels) : NULL;
}

/* (name of the orchestration or None, [(kernel, core, func_id or -1)]) */
PyObject *describe_program(PyObject *module, PyObject *object)
{
	const struct ir_program *program = program_of(object);
	PyObject *out;
	struct px px;

	(void)module;
	if (!program)
		return NULL;
	px_init(&px);
	out = described(&px, program);
	px_fini(&px);
	return out;
}

static PyObject *name_list(const struct ir_list *functions)
{
	PyObject *out = PyList_New(functions->n);
	uint32_t i;

	for (i = 0; out && i < functions->n; i++) {
		PyObject *name = PyUnicode_FromString(IR_AS(functions->at[i], function)->name);

		if (!name || PyList_SetItem(out, i, name))
			Py_CLEAR(out);
	}
	return out;
}

/* Names of the functions of a program that one of its functions calls. */
PyObject *called_functions(PyObject *module, PyObject *object)
{
	const struct ir_program *program = program_of(object);
	struct ir_list called, none = { .n = UINT32_MAX };
	PyObject *out;
	struct px px;

	(void)module;
	if (!program)
		return NULL;
	px_init(&px);
	px_guard(&px, called, ir_called(&px, program), none);
	out = called.n == none.n ? PyErr_NoMemory() : name_list(&called);
	px_fini(&px);
	return out;
}

/* ---- Arguments of the orchestration ---- */

static PyObject *slot_item(struct context_object *context, const struct gen_slot *slot)
{
	static const char *const kinds[] = { "tensor", "result", "scalar", "extent" };
	const char *access = slot->is_written ? slot->is_read ? "inout" : "out" : "in";
	const struct ir_var *var = IR_AS(slot->var, var);

	const char *name;

	px_guard(&context->px, name, gen_base_name(&context->px, var->name), NULL);
	if (!name)
		return PyErr_NoMemory();
	return Py_BuildValue("(sssN)", name, kinds[slot->kind], access,
			     type_new(context, slot->type));
}

static PyObject *slots_object(struct context_object *context, const struct gen_slots *slots)
{
	PyObject *items = PyList_New(slots->n), *returned = PyList_New(slots->n_returned);
	uint32_t i;

	for (i = 0; items && i < slots->n; i++) {
		PyObject *item = slot_item(context, &slots->at[i]);

		if (!item || PyList_SetItem(items, i, item))
			Py_CLEAR(items);
	}
	for (i = 0; returned && i < slots->n_returned; i++) {
		PyObject *number = PyLong_FromUnsignedLong(slots->returned[i]);

		if (!number || PyList_SetItem(returned, i, number))
			Py_CLEAR(returned);
	}
	if (!items || !returned) {
		Py_XDECREF(items);
		Py_XDECREF(returned);
		return NULL;
	}
	return Py_BuildValue("(NN)", items, returned);
}

static int find_slots(struct px *px, const struct ir_program *program, struct gen_slots *slots)
{
	const struct ir_function *orch = gen_orchestration_of(px, program);

	return orch ? gen_orchestration_slots(px, program, orch, slots) : 0;
}

/* ([(name, kind, access, type)], [slot of each returned value]) */
PyObject *orchestration_slots(PyObject *module, PyObject *object)
{
	const struct ir_program *program = program_of(object);
	struct context_object *context = program ? context_for(node_of(object)) : NULL;
	struct gen_slots slots = { 0 };
	PyObject *out;
	int rc;

	(void)module;
	if (!context)
		return NULL;
	px_guard(&context->px, rc, find_slots(&context->px, program, &slots), -ENOMEM);
	if (rc == -ENOMEM)
		out = PyErr_NoMemory();
	else if (rc || context->px.n_errors)
		out = raise_diags(&context->px);
	else
		out = slots_object(context, &slots);
	Py_DECREF((PyObject *)context);
	return out;
}
