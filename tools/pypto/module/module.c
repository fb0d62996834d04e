/* SPDX-License-Identifier: MIT */
/* Module pypto._core: functions. */
#include <errno.h>
#include <string.h>

#include "../../ptoas/hazard_access.h"
#include "../equal.h"
#include "../machine.h"
#include "../pass.h"
#include "../print.h"
#include "../serial.h"
#include "binding.h"

/* ---- Mistakes ---- */

static PyObject *diag_tuple(const struct diag *d)
{
	PyObject *text = context_text(d->span.file);

	char code[12];

	if (!text)
		return NULL;
	snprintf(code, sizeof(code), "%u", d->code);
	return Py_BuildValue("(ssszz(sIIII)(sIIII)O)", diag_class_name(d->class),
			     d->code ? code : diag_class_code(d->class), d->message, d->hint, d->note,
			     d->span.file ? d->span.file : "", d->span.line, d->span.col,
			     d->span.end_line, d->span.end_col,
			     d->previous.file ? d->previous.file : "", d->previous.line,
			     d->previous.col, d->previous.end_line, d->previous.end_col,
			     text);
}

PyObject *diag_list(const struct px *px)
{
	PyObject *out = PyList_New(0);
	const struct diag *d;

	for (d = px->diags; out && d; d = d->next) {
		PyObject *item = diag_tuple(d);

		if (!item || PyList_Append(out, item))
			Py_CLEAR(out);
		Py_XDECREF(item);
	}
	return out;
}

PyObject *raise_diags(const struct px *px)
{
	PyObject *errors = PyImport_ImportModule("pypto._errors");
	PyObject *list = errors ? diag_list(px) : NULL;
	PyObject *done = list ? PyObject_CallMethod(errors, "raise_for", "O", list) : NULL;

	Py_XDECREF(done);
	Py_XDECREF(list);
	Py_XDECREF(errors);
	return NULL;
}

/* ---- Front end ---- */

struct source {
	struct context_object *context;
	struct walk walk;
	struct python_scope scope;
};

/* @lines: of the text @text, for columns, or None when a character is a byte everywhere. */
static int source_init(struct source *s, PyObject *lines, PyObject *text, const char *file,
		       PyObject *evaluate, const char *prefix)
{
	s->context = context_new();
	if (!s->context)
		return -1;
	s->walk = (struct walk){ .px = &s->context->px,
				 .lines = lines == Py_None ? NULL : lines,
				 .file = px_intern(&s->context->px, file) };
	python_scope_init(&s->scope, s->context, evaluate,
			  px_intern(&s->context->px, prefix));
	if (!context_set_text(s->context, s->walk.file, text))
		return 0;
	Py_CLEAR(s->context);
	return -1;
}

static PyObject *source_result(struct source *s, struct ir_node *node)
{
	PyObject *out = NULL;

	if (node)
		out = node_new(s->context, node);
	else if (!PyErr_Occurred())
		out = s->context->px.diags ? raise_diags(&s->context->px) : PyErr_NoMemory();
	Py_DECREF((PyObject *)s->context);
	return out;
}

static int method_of(struct source *s, PyObject *tree, int type, int flags,
		     struct front_method *method)
{
	if (!enum_name(EN_FUNCTION_TYPE, type)) {
		PyErr_Format(PyExc_ValueError, "%d is no FunctionType", type);
		return -1;
	}
	method->def = walk_node(&s->walk, tree);
	method->func_type = (uint8_t)type;
	method->flags = (uint8_t)flags;
	return method->def ? 0 : -1;
}

static struct ir_node *function_node(struct source *s, PyObject *tree, int type, int flags)
{
	struct front_method method;
	struct ir_function *f;

	if (method_of(s, tree, type, flags, &method))
		return NULL;
	f = front_function(&s->context->px, &method, &s->scope.scope);
	return f ? &f->node : NULL;
}

static PyObject *parse_function(PyObject *module, PyObject *args)
{
	PyObject *tree, *lines, *text, *evaluate;
	const char *file, *prefix;
	struct ir_node *node;
	struct source s;
	int type, flags;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOOsOsii", &tree, &lines, &text, &file, &evaluate, &prefix,
			      &type, &flags) ||
	    source_init(&s, lines, text, file, evaluate, prefix))
		return NULL;
	px_guard(&s.context->px, node, function_node(&s, tree, type, flags), NULL);
	return source_result(&s, node);
}

static struct ir_node *program_node(struct source *s, PyObject *tree, PyObject *methods)
{
	Py_ssize_t n = PyList_Size(methods), i;
	struct front_method *list = px_alloc(&s->context->px, (size_t)n + 1, sizeof(*list));
	struct py_node *def = walk_node(&s->walk, tree);
	struct ir_program *program;
	PyObject *method;
	int type, flags;

	for (i = 0; i < n; i++) {
		if (!PyArg_ParseTuple(PyList_GetItem(methods, i), "Oii", &method, &type, &flags) ||
		    method_of(s, method, type, flags, &list[i]))
			return NULL;
	}
	if (!def)
		return NULL;
	program = front_program(&s->context->px, def, list, (uint32_t)n, &s->scope.scope);
	return program ? &program->node : NULL;
}

static PyObject *parse_program(PyObject *module, PyObject *args)
{
	PyObject *tree, *lines, *text, *evaluate, *methods;
	const char *file, *prefix;
	struct ir_node *node;
	struct source s;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOOsOsO!", &tree, &lines, &text, &file, &evaluate, &prefix,
			      &PyList_Type, &methods) ||
	    source_init(&s, lines, text, file, evaluate, prefix))
		return NULL;
	px_guard(&s.context->px, node, program_node(&s, tree, methods), NULL);
	return source_result(&s, node);
}

/* ---- Whole nodes ---- */

static PyObject *python_print(PyObject *module, PyObject *args)
{
	const char *prefix = "pl", *text;
	struct node_object *node;
	PyObject *object;
	struct px px;

	(void)module;
	if (!PyArg_ParseTuple(args, "O|s", &object, &prefix))
		return NULL;
	node = node_of(object);
	if (!node)
		return NULL;
	px_init(&px);
	px_guard(&px, text, ir_print(&px, node->node, prefix), NULL);
	object = text ? PyUnicode_FromString(text) : PyErr_NoMemory();
	px_fini(&px);
	return object;
}

/* (equal, reason) */
static PyObject *structural_compare(PyObject *module, PyObject *args)
{
	PyObject *a_object, *b_object;
	struct node_object *a, *b;
	const char *why = NULL;
	int auto_mapping, equal;
	PyObject *out;
	struct px px;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOp", &a_object, &b_object, &auto_mapping))
		return NULL;
	a = node_of(a_object);
	b = a ? node_of(b_object) : NULL;
	if (!b)
		return NULL;
	px_init(&px);
	px_guard(&px, equal, ir_equal(&px, a->node, b->node, auto_mapping, &why), -1);
	out = equal < 0 ? PyErr_NoMemory() : Py_BuildValue("(Nz)", PyBool_FromLong(equal), why);
	px_fini(&px);
	return out;
}

static PyObject *structural_hash(PyObject *module, PyObject *object)
{
	struct node_object *node = node_of(object);
	uint64_t hash = 0;
	struct px px;
	int rc;

	(void)module;
	if (!node)
		return NULL;
	px_init(&px);
	px_guard(&px, rc, (hash = ir_hash(&px, node->node), 0), -ENOMEM);
	px_fini(&px);
	return rc ? PyErr_NoMemory() : PyLong_FromUnsignedLongLong(hash);
}

/* ---- Serialisation ---- */

static PyObject *serialize(PyObject *module, PyObject *object)
{
	struct node_object *node = node_of(object);
	const void *data;
	PyObject *out;
	size_t size;
	struct px px;
	int rc;

	(void)module;
	if (!node)
		return NULL;
	px_init(&px);
	px_guard(&px, rc, ir_serialize(&px, node->node, &data, &size), -ENOMEM);
	out = rc ? PyErr_NoMemory() : PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
	px_fini(&px);
	return out;
}

static PyObject *deserialize(PyObject *module, PyObject *args)
{
	struct context_object *context;
	struct ir_node *node = NULL;
	const char *data, *why = NULL;
	PyObject *out;
	Py_ssize_t size;
	int rc;

	(void)module;
	if (!PyArg_ParseTuple(args, "y#", &data, &size))
		return NULL;
	context = context_new();
	if (!context)
		return NULL;
	px_guard(&context->px, rc, ir_deserialize(&context->px, data, (size_t)size, &node, &why),
		 -ENOMEM);
	out = rc ? NULL : node_new(context, node);
	if (rc == -ENOMEM)
		PyErr_NoMemory();
	else if (rc)
		PyErr_SetString(PyExc_ValueError, why);
	Py_DECREF((PyObject *)context);
	return out;
}

/* ---- Passes ---- */

static PyObject *pass_names(PyObject *module, PyObject *unused)
{
	PyObject *out = PyList_New(0);
	const struct px_pass *pass;
	size_t i;

	(void)module;
	(void)unused;
	for (i = 0; out && (pass = pass_at(i)); i++) {
		PyObject *item = Py_BuildValue("(ssssi)", pass->name, pass->snake, pass->doc,
					       pass_properties(pass), pass->flags);

		if (!item || PyList_Append(out, item))
			Py_CLEAR(out);
		Py_XDECREF(item);
	}
	return out;
}

static PyObject *run_pass(PyObject *module, PyObject *args)
{
	struct pass_options options = { 0 };
	struct context_object *context;
	struct node_object *node;
	struct ir_node *result = NULL;
	PyObject *object, *out;
	const char *name;
	int verify, rc;
	struct px *px;

	(void)module;
	if (!PyArg_ParseTuple(args, "sOpi", &name, &object, &verify, &options.arch))
		return NULL;
	node = node_of(object);
	if (!node)
		return NULL;
	context = context_for(node);
	if (!context)
		return NULL;
	px = &context->px;
	options.verify = verify;
	px_guard(px, rc, pass_run(px, name, node->node, &options, &result), -ENOMEM);
	if (!rc)
		out = node_new(context, result);
	else if (rc == -ENOMEM)
		out = PyErr_NoMemory();
	else if (rc == -ENOENT)
		out = PyErr_Format(PyExc_ValueError, "no pass is named '%s'", name);
	else
		out = raise_diags(px);
	Py_DECREF((PyObject *)context);
	return out;
}

/* Bytes of each space on the chip that kernels may use. */
static PyObject *memory_limits(PyObject *module, PyObject *args)
{
	PyObject *out, *number;
	int space, arch;
	int64_t bytes;

	(void)module;
	if (!PyArg_ParseTuple(args, "i", &arch))
		return NULL;
	out = PyDict_New();
	for (space = MS_VEC; out && space < MS_SPACES; space++) {
		if (!enum_name(EN_MEMORY_SPACE, space))
			continue;
		bytes = pto_capacity(machine_space(space), arch ? PTO_ARCH_A5 : PTO_ARCH_A3);
		number = PyLong_FromLongLong(bytes);
		if (!number || PyDict_SetItemString(out, enum_name(EN_MEMORY_SPACE, space), number))
			Py_CLEAR(out);
		Py_XDECREF(number);
	}
	return out;
}

/* ---- Tables ---- */

static PyObject *dtypes(PyObject *module, PyObject *unused)
{
	PyObject *out = PyList_New(0);
	const struct dtype_info *info;
	size_t i;

	(void)module;
	(void)unused;
	for (i = 0; out && (info = dtype_at(i)); i++) {
		PyObject *item = Py_BuildValue("(sii)", info->name, info->code, info->bits);

		if (!item || PyList_Append(out, item))
			Py_CLEAR(out);
		Py_XDECREF(item);
	}
	return out;
}

static PyObject *enum_members(int class)
{
	PyObject *members = PyDict_New();
	int64_t value;

	for (value = 0; members && value < ENUM_MEMBERS; value++) {
		const char *name = enum_name(class, value);
		PyObject *number = name ? PyLong_FromLongLong(value) : NULL;

		if (name && (!number || PyDict_SetItemString(members, name, number)))
			Py_CLEAR(members);
		Py_XDECREF(number);
	}
	return members;
}

static PyObject *enums(PyObject *module, PyObject *unused)
{
	PyObject *out = PyDict_New();
	int class;

	(void)module;
	(void)unused;
	for (class = 0; out && class < EN_CLASSES; class++) {
		PyObject *members = enum_members(class);

		if (!members || PyDict_SetItemString(out, enum_class_name(class), members))
			Py_CLEAR(out);
		Py_XDECREF(members);
	}
	return out;
}

/* Each operator: name, name after pl, parameters, instruction, documentation. */
static PyObject *operators(PyObject *module, PyObject *unused)
{
	PyObject *out = PyList_New(0);
	const struct px_op *op;
	size_t i;

	(void)module;
	(void)unused;
	for (i = 0; out && (op = op_at(i)); i++) {
		PyObject *item = Py_BuildValue("(szszs)", op->name, op->pl, op->params, op->instr,
					       op->doc);

		if (!item || PyList_Append(out, item))
			Py_CLEAR(out);
		Py_XDECREF(item);
	}
	return out;
}

static PyMethodDef functions[] = {
	{ "parse_function", parse_function, METH_VARARGS, "A decorated function as IR." },
	{ "parse_program", parse_program, METH_VARARGS, "A decorated class as IR." },
	{ "python_print", python_print, METH_VARARGS, "Text of a node." },
	{ "structural_compare", structural_compare, METH_VARARGS, "(equal, reason)." },
	{ "structural_hash", structural_hash, METH_O, "Hash that agrees with equality." },
	{ "serialize", serialize, METH_O, "A node as MessagePack." },
	{ "deserialize", deserialize, METH_VARARGS, "A node from MessagePack." },
	{ "pass_names", pass_names, METH_NOARGS, "All passes in order." },
	{ "run_pass", run_pass, METH_VARARGS, "A program after one pass." },
	{ "build_node", build_node, METH_VARARGS, "A node of any kind but Call." },
	{ "build_type", build_type, METH_VARARGS, "A type." },
	{ "build_call", build_call, METH_VARARGS, "A call of an operator or function." },
	{ "interpret", interpret, METH_VARARGS, "Runs a function without a chip." },
	{ "generate", generate, METH_VARARGS, "Text of one generated file." },
	{ "place_of", place_of, METH_VARARGS, "The author's place of a line of .pto text." },
	{ "describe_program", describe_program, METH_O, "The orchestration and the kernels." },
	{ "called_functions", called_functions, METH_O, "Names of the functions that are called." },
	{ "orchestration_slots", orchestration_slots, METH_O, "Arguments of the orchestration." },
	{ "context_count", context_count, METH_NOARGS, "Number of arenas that exist." },
	{ "context_trim", context_trim, METH_NOARGS, "Gives back memory that is kept for arenas." },
	{ "context_mark", context_mark, METH_O, "Changes when the arena of a node grows." },
	{ "memory_limits", memory_limits, METH_VARARGS, "Bytes of each space on the chip." },
	{ "dtypes", dtypes, METH_NOARGS, "All element types." },
	{ "enums", enums, METH_NOARGS, "All enumerations." },
	{ "operators", operators, METH_NOARGS, "The operator registry." },
	{ NULL, NULL, 0, NULL }
};

static int module_exec(PyObject *module)
{
	return node_types_init(module);
}

static PyModuleDef_Slot slots[] = { { Py_mod_exec, module_exec }, { 0, NULL } };
static struct PyModuleDef definition = {
	.m_base = PyModuleDef_HEAD_INIT,
	.m_name = "pypto._core",
	.m_doc = "Compiler core of pypto.",
	.m_methods = functions,
	.m_slots = slots,
};

__attribute__((visibility("default"))) PyObject *PyInit__core(void)
{
	return PyModuleDef_Init(&definition);
}
