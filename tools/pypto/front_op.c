/* SPDX-License-Identifier: MIT */
/* Calls of operators: exposure and dispatch of section 4.1, and where an operator may stand. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "front.h"

/* ---- Where an operator may stand: table of section 3.5 ---- */

static bool op_in_orchestration(const struct px_op *op)
{
	return op->rule == rule_create_tensor || op->rule == rule_read || op->rule == rule_slice ||
	       op->rule == rule_dim || op->rule == rule_reshape;
}

static bool op_on_control_cpu(const struct px_op *op)
{
	return op->rule == rule_allocate_cluster || op->rule == rule_create_pipe;
}

bool front_misplaced(struct front *f, const struct px_op *op, struct span span)
{
	bool kernel = front_in_kernel(f), tile = op_is(op, "block") || op_is(op, "pipe");
	struct diag *diag;

	if (op_on_control_cpu(op)) {
		if (!kernel)
			return false;
		diag_hint(f->px, diag_add(f->px, DIAG_OPERATION, span,
					  "Operation '%s' cannot be used in an InCore function", op->pl),
			  "Call it in the Orchestration function and pass the result");
		return true;
	}
	if (tile && !kernel) {
		diag = diag_add(f->px, DIAG_OPERATION, span,
				"Operation '%s' works on tiles and must be inside an InCore function or pl.incore() region",
				op->pl);
		diag_hint(f->px, diag, f->func->func_type == FN_OPAQUE ?
			  "Put it inside 'with pl.incore():'" :
			  "Move it into a function with type=pl.FunctionType.InCore and call that");
		return true;
	}
	if (f->func->func_type == FN_ORCHESTRATION && op_is(op, "tensor") &&
	    !op_in_orchestration(op)) {
		diag_hint(f->px, diag_add(f->px, DIAG_OPERATION, span,
					  "tensor operator '%s' must be inside an InCore function or pl.incore() region",
					  op->name),
			  "Move it into an InCore function, or make this function Opaque");
		return true;
	}
	return false;
}

/* Where the written tensor of an operator stands among its arguments; -1: it writes none. */
static int written_tensor(const struct px_op *op)
{
	return op->rule == rule_store ? 3 : op->rule == rule_mscatter ? 2 : -1;
}

/* Where the tensor stands whose memory the value of an operator is; -1: it has its own. */
static int source_tensor(const struct px_op *op)
{
	int written = written_tensor(op);
	bool view = op->rule == rule_slice || op->rule == rule_reshape ||
		    op->rule == rule_assemble;

	return written >= 0 ? written : view ? 0 : -1;
}

/* Any parameter of an Opaque function may be written: it becomes InOut (D6). */
const struct ir_node *front_read_only(struct front *f, const struct ir_node *value)
{
	const struct ir_node *root = bind_root(f, value);
	uint32_t i;

	for (i = 0; i < f->func->params.n && f->func->params.at[i] != root; i++)
		;
	return f->func->func_type != FN_OPAQUE && i < f->func->params.n &&
	       f->func->directions[i] == DIR_IN ? root : NULL;
}

void front_read_only_hint(struct front *f, struct diag *diag, const struct ir_node *param)
{
	diag_hint(f->px, diag, "Declare it %s: pl.Out[...] (only written) or pl.InOut[...]",
		  IR_AS(param, var)->name);
}

static bool write_refused(struct front *f, struct ir_node *tensor, struct span span)
{
	const struct ir_node *param = front_read_only(f, tensor);

	if (!param)
		return false;
	front_read_only_hint(f, diag_add(f->px, DIAG_OPERATION, span,
					 "Parameter '%s' is read-only, but this writes to it",
					 IR_AS(param, var)->name), param);
	return true;
}

/* ---- Masks ---- */

static bool all_of_sixteen(const struct ir_list *extents)
{
	uint32_t i;

	for (i = 0; i < extents->n; i++)
		if (extents->at[i]->kind != IR_CONST_INT ||
		    IR_AS(extents->at[i], const)->value % 16)
			return false;
	return true;
}

/* It moves elements, of which a mask has one bit each: it moves numbers instead of them. */
static bool moves_mask(const struct px_op *op, const struct ir_list *args)
{
	return op_is(op, "block") && args->n && args->at[0] &&
	       args->at[0]->type->kind == TY_TILE && args->at[0]->type->dtype == DT_BOOL &&
	       (op->rule == rule_reshape || op->rule == rule_slice || op->rule == rule_fill ||
		op->rule == rule_transpose || op->rule == rule_getval);
}

static struct ir_node *apply_cast(struct front *f, struct ir_node *x, unsigned int dtype,
				  struct span span)
{
	struct ir_attr to = { .key = "target_type", .kind = AT_DTYPE, .i = dtype };
	struct ir_list args = { 0 };

	list_push(f->px, &args, x);
	return front_apply(f, op_find("block.cast"), args, &to, 1, span);
}

/* The least number is not zero; the least of a mask's elements is False. */
static struct ir_attr *mask_attrs(struct front *f, const struct ir_attr *attrs, uint32_t n)
{
	struct ir_attr *own = px_alloc(f->px, n + 1, sizeof(*own));
	uint32_t i;

	memcpy(own, attrs, n * sizeof(*own));
	for (i = 0; i < n; i++)
		if (!strcmp(own[i].key, "pad") && own[i].kind == AT_ENUM &&
		    own[i].i == TILE_PAD_MIN)
			own[i].i = TILE_PAD_ZERO;
	return own;
}

static struct ir_node *move_mask(struct front *f, const struct px_op *op, struct ir_list args,
				 const struct ir_attr *attrs, uint32_t n_attrs, struct span span)
{
	const struct ir_node *to = args.n > 1 ? args.at[1] : NULL;
	bool lists = to && to->kind == IR_MAKE_TUPLE;
	unsigned int dtype = all_of_sixteen(&args.at[0]->type->shape) &&
			     (!lists || all_of_sixteen(&IR_AS(to, tuple)->elements)) ? DT_INT16 :
										       DT_FP32;
	struct ir_node *numbers = apply_cast(f, args.at[0], dtype, span), *moved;

	args = list_copy(f->px, &args);
	args.at[0] = numbers;
	moved = numbers ? front_apply(f, op, args, mask_attrs(f, attrs, n_attrs), n_attrs, span) :
			  NULL;
	if (!moved)
		return NULL;
	return moved->type->kind == TY_SCALAR ? ir_cast(f->px, moved, DT_BOOL, span) :
						apply_cast(f, moved, DT_BOOL, span);
}

struct ir_node *front_apply(struct front *f, const struct px_op *op, struct ir_list args,
			    struct ir_attr *attrs, uint32_t n_attrs, struct span span)
{
	struct op_use use = { .px = f->px, .op = op, .span = span, .args = args, .attrs = attrs,
			      .n_attrs = n_attrs };
	int written = written_tensor(op), source = source_tensor(op);
	struct ir_node *call, *root;

	if (front_misplaced(f, op, span))
		return NULL;
	if (moves_mask(op, &args))
		return move_mask(f, op, args, attrs, n_attrs, span);
	call = op_call(&use);
	if (!call)
		return NULL;
	if (front_bind_extents(f, call->type, &use.args))
		call = op_call(&use);
	if (written >= 0 && write_refused(f, IR_AS(call, call)->args.at[written], span))
		return NULL;
	root = source >= 0 ? bind_root(f, IR_AS(call, call)->args.at[source]) : NULL;
	if (root)
		var_map_set(&f->roots, call, root);
	return call;
}

/* ---- Keyword values ---- */

static int attr_of_const(const struct ir_node *e, struct ir_attr *attr)
{
	switch (e->kind) {
	case IR_CONST_BOOL:
		attr->kind = AT_BOOL;
		attr->i = IR_AS(e, const)->value;
		return 0;
	case IR_CONST_INT:
		attr->kind = AT_INT;
		attr->i = IR_AS(e, const)->value;
		return 0;
	case IR_CONST_FLOAT:
		attr->kind = AT_FLOAT;
		attr->f = IR_AS(e, float)->value;
		return 0;
	default:
		return -EINVAL;
	}
}

static int attr_of_value(const struct py_value *value, struct ir_attr *attr)
{
	static const uint8_t kinds[] = { [VAL_BOOL] = AT_BOOL, [VAL_INT] = AT_INT,
					 [VAL_FLOAT] = AT_FLOAT, [VAL_STR] = AT_STR,
					 [VAL_DTYPE] = AT_DTYPE, [VAL_ENUM] = AT_ENUM };

	if (value->kind < VAL_BOOL || value->kind > VAL_ENUM || value->kind == VAL_HUGE)
		return -EINVAL;
	attr->kind = kinds[value->kind];
	attr->class = value->class;
	attr->i = value->i;
	attr->f = value->f;
	attr->s = value->s;
	return 0;
}

/* pl.MemorySpace.Mat */
static int attr_of_enum(struct front *f, const struct py_node *node, struct ir_attr *attr)
{
	const char *class = node->kind == PY_ATTRIBUTE ? pl_name(f, node->x) : NULL;
	int i;

	for (i = 0; class && i < EN_CLASSES; i++) {
		if (strcmp(enum_class_name(i), class))
			continue;
		attr->kind = AT_ENUM;
		attr->class = i;
		attr->i = enum_find(i, node->name);
		if (attr->i >= 0)
			return 0;
		diag_add(f->px, DIAG_OPERATION, node->span, "pl.%s has no member '%s'", class,
			 node->name);
		return -EBADMSG;
	}
	return -EINVAL;
}

/* @none: set when the value is None, which stands for "not given" */
static int keyword_value(struct front *f, const struct py_node *node, struct ir_attr *attr,
			 bool *none)
{
	const char *name = pl_name(f, node), *why = NULL;
	struct py_value value = { 0 };
	const struct binding *b;
	struct ir_node *e;
	struct diag *diag;
	int rc = attr_of_enum(f, node, attr);

	if (rc != -EINVAL)
		return rc;
	if (node->kind == PY_NONE) {
		*none = true;
		return 0;
	}
	if (name && dtype_find(name)) {
		attr->kind = AT_DTYPE;
		attr->i = dtype_find(name)->code;
		return 0;
	}
	b = node->kind == PY_NAME ? bind_find(f, node->name) : NULL;
	if ((!b || b->state == BIND_NONE) &&
	    !f->scope->eval(f->scope, f->px, node, &value, &why) && !attr_of_value(&value, attr))
		return 0;
	e = front_value(f, node);
	if (!e)
		return -EBADMSG;
	if (!attr_of_const(e, attr))
		return 0;
	diag = diag_add(f->px, DIAG_OPERATION, node->span, "Keyword '%s' must be a constant", attr->key);
	if (front_is_data(e) && !strcmp(attr->key, "axis"))
		diag_hint(f->px, diag, "Of two operands, pl.minimum(a, b) and pl.maximum(a, b) take one");
	return -EBADMSG;
}

/* ---- Binding of arguments ---- */

struct op_bind {
	struct front *f;
	const struct py_node *node;
	const struct px_op *op;
	struct op_param params[OP_MAX_PARAMS];
	unsigned int n;
	bool taken[OP_MAX_PARAMS];
	struct ir_node *early[2];	/* arguments that dispatch has parsed */
	struct ir_node *values[OP_MAX_PARAMS];
	struct ir_attr attrs[OP_MAX_PARAMS];
	uint32_t n_attrs;
	bool failed;
};

static void bind_one(struct op_bind *b, unsigned int i, const struct py_node *value,
		     struct ir_node *early)
{
	const struct op_param *param = &b->params[i];
	bool none = false;

	b->taken[i] = true;
	if (param->kind != '@') {
		if (value->kind == PY_NONE && param->optional)
			return;
		b->values[i] = early ? early : front_value(b->f, value);
		b->failed |= !b->values[i];
		return;
	}
	b->attrs[b->n_attrs].key = px_intern(b->f->px, param->name);
	if (keyword_value(b->f, value, &b->attrs[b->n_attrs], &none))
		b->failed = true;
	else if (!none)
		b->n_attrs++;
}

static void too_many(struct op_bind *b)
{
	diag_add(b->f->px, DIAG_OPERATION, b->node->span,
		 "The operator %s requires %s%u argument%s, but got %u", b->op->name,
		 b->n && (b->params[b->n - 1].optional || b->params[b->n - 1].kind == '@') ?
		 "at most " : "exactly ", b->n, b->n == 1 ? "" : "s", b->node->args.n);
	b->failed = true;
}

static void bind_keyword(struct op_bind *b, const struct py_node *kw)
{
	unsigned int i;

	for (i = 0; i < b->n && strcmp(b->params[i].name, kw->name); i++)
		;
	if (i < b->n && !b->taken[i]) {
		bind_one(b, i, kw->x, NULL);
		return;
	}
	b->failed = true;
	if (i < b->n)
		diag_add(b->f->px, DIAG_OPERATION, kw->span,
			 "Argument '%s' of operator '%s' is given twice", kw->name, b->op->name);
	else
		diag_hint(b->f->px, diag_add(b->f->px, DIAG_OPERATION, kw->span,
					     "Unknown kwarg '%s' for operator '%s'", kw->name,
					     b->op->name),
			  "pl.%s(%s)", b->op->pl, b->op->params);
}

/* Section 2 row 2: store(tile, offsets, tensor) means a region of the tile's size. */
static bool short_store(struct op_bind *b)
{
	struct ir_node *tensor;
	struct ir_tuple *shapes;
	const struct ir_type *tile;

	if (b->op->rule != rule_store || b->node->args.n != 3 || b->node->keywords.n)
		return false;
	if (b->node->args.at[2]->kind == PY_LIST || b->node->args.at[2]->kind == PY_TUPLE)
		return false;
	tensor = front_value(b->f, b->node->args.at[2]);
	if (!tensor || tensor->type->kind != TY_TENSOR)
		return false;
	bind_one(b, 0, b->node->args.at[0], b->early[0]);
	bind_one(b, 1, b->node->args.at[1], b->early[1]);
	if (b->failed)
		return true;
	tile = b->values[0]->type;
	shapes = ir_new(b->f->px, IR_MAKE_TUPLE, b->node->span, type_tuple(b->f->px, NULL, 0));
	while (shapes->elements.n + tile->shape.n < tensor->type->shape.n)
		list_push(b->f->px, &shapes->elements,
			  ir_int(b->f->px, 1, DT_INDEX, b->node->span));
	for (uint32_t i = 0; i < tile->shape.n; i++)
		list_push(b->f->px, &shapes->elements, tile->shape.at[i]);
	b->values[2] = &shapes->node;
	b->values[3] = tensor;
	return true;
}

/* ---- Reductions of tensors: the axis goes to the end, and back ---- */

static struct ir_node *exchange(struct front *f, struct ir_node *x, int64_t a, int64_t b,
				struct span span)
{
	struct ir_attr axes[] = { { .key = "axis1", .kind = AT_INT, .i = a },
				  { .key = "axis2", .kind = AT_INT, .i = b } };
	struct ir_list args = { 0 };

	list_push(f->px, &args, x);
	return front_apply(f, op_find("tensor.transpose"), args, axes, 2, span);
}

/* @x in @shape without extent @axis, or with one there when it is kept. */
static struct ir_node *reduced_shape(struct front *f, struct ir_node *x,
				     const struct ir_list *shape, int64_t axis, bool keep,
				     struct span span)
{
	struct ir_tuple *list = ir_new(f->px, IR_MAKE_TUPLE, span, type_tuple(f->px, NULL, 0));
	struct ir_list args = { 0 };
	uint32_t i;

	for (i = 0; i < shape->n; i++)
		if ((int64_t)i != axis)
			list_push(f->px, &list->elements, shape->at[i]);
		else if (keep)
			list_push(f->px, &list->elements, ir_int(f->px, 1, DT_INDEX, span));
	list_push(f->px, &args, x);
	list_push(f->px, &args, &list->node);
	return front_apply(f, op_find("tensor.reshape"), args, NULL, 0, span);
}

/* What the keywords of a reduction say; false: the type rule has something to say about them. */
static bool reduction_of(const struct op_bind *b, const struct ir_list *args, int64_t *axis,
			 bool *keep)
{
	int64_t n = args->n == 1 && args->at[0]->type->kind == TY_TENSOR ?
		    args->at[0]->type->shape.n : 0;
	uint32_t i;

	*axis = -1;
	*keep = true;
	for (i = 0; i < b->n_attrs; i++) {
		const struct ir_attr *attr = &b->attrs[i];
		bool is_axis = !strcmp(attr->key, "axis");

		if (attr->kind != (is_axis ? AT_INT : AT_BOOL))
			return false;
		if (is_axis)
			*axis = attr->i;
		else
			*keep = attr->i;
	}
	*axis += *axis < 0 ? n : 0;
	return n > 1 && *axis >= 0 && *axis < n && (*axis != n - 1 || !*keep);
}

static struct ir_node *reduce_tensor(struct op_bind *b, struct ir_list args, int64_t axis,
				     bool keep)
{
	struct ir_node *x = args.at[0];
	struct ir_list shape = x->type->shape;
	struct span span = b->node->span;
	int64_t n = shape.n;

	if (axis != n - 1)
		x = exchange(b->f, x, axis, n - 1, span);
	if (!x)
		return NULL;
	x = front_reduce_rows(b->f, b->op, x, span);
	if (x && axis < n - 2)
		x = exchange(b->f, x, axis, n - 1, span);
	return x && (!keep || axis == n - 2) ?
	       reduced_shape(b->f, x, &shape, axis, keep, span) : x;
}

/* ---- Products of a matrix and a vector: it is a matrix of one row or column ---- */

static bool attr_true(const struct op_bind *b, const char *key)
{
	uint32_t i;

	for (i = 0; i < b->n_attrs; i++)
		if (!strcmp(b->attrs[i].key, key))
			return b->attrs[i].kind == AT_BOOL && b->attrs[i].i;
	return false;
}

/* Number of the operand that is a vector beside a matrix; -1: there is none. */
static int vector_of(const struct op_bind *b, const struct ir_list *args)
{
	uint32_t i;

	if (b->op->rule != rule_tensor_matmul || args->n != 2)
		return -1;
	for (i = 0; i < 2; i++)
		if (args->at[i]->type->kind != TY_TENSOR)
			return -1;
	for (i = 0; i < 2; i++)
		if (args->at[i]->type->shape.n == 1 && args->at[1 - i]->type->shape.n > 1)
			return (int)i;
	return -1;
}

static struct ir_node *multiply_vector(struct op_bind *b, struct ir_list args, int i)
{
	struct span span = b->node->span;
	bool row = (i == 0) != attr_true(b, i ? "b_trans" : "a_trans");
	struct ir_list one = { 0 }, shape;
	struct ir_node *x;

	args = list_copy(b->f->px, &args);
	shape = args.at[i]->type->shape;
	list_push(b->f->px, &one, row ? ir_int(b->f->px, 1, DT_INDEX, span) : shape.at[0]);
	list_push(b->f->px, &one, row ? shape.at[0] : ir_int(b->f->px, 1, DT_INDEX, span));
	args.at[i] = reduced_shape(b->f, args.at[i], &one, -1, false, span);
	if (!args.at[i])
		return NULL;
	x = front_apply(b->f, b->op, args, b->attrs, b->n_attrs, span);
	return x ? reduced_shape(b->f, x, &x->type->shape, x->type->shape.n - 2 + i, false, span) :
	       NULL;
}

static struct ir_node *apply_bound(struct op_bind *b, struct ir_list args)
{
	struct ir_attr *attrs = px_alloc(b->f->px, b->n_attrs + 1, sizeof(*attrs));
	int vector = vector_of(b, &args);
	int64_t axis = -1;
	bool keep = false;

	if (b->op->rule == rule_row_reduce && op_is(b->op, "tensor") &&
	    reduction_of(b, &args, &axis, &keep))
		return reduce_tensor(b, args, axis, keep);
	if (b->op->rule == rule_row_reduce && args.n == 1 && front_is_long(args.at[0]) && keep &&
	    axis == (int64_t)args.at[0]->type->shape.n - 1)
		return front_reduce_rows(b->f, b->op, args.at[0], b->node->span);
	if (vector >= 0)
		return multiply_vector(b, args, vector);
	memcpy(attrs, b->attrs, b->n_attrs * sizeof(*attrs));
	return front_apply(b->f, b->op, args, attrs, b->n_attrs, b->node->span);
}

static struct ir_node *bind_and_apply(struct op_bind *b)
{
	struct ir_list args = { 0 };
	uint32_t i;

	b->n = op_params(b->op, b->params);
	if (!short_store(b)) {
		if (b->node->args.n > b->n)
			too_many(b);
		for (i = 0; i < b->node->args.n && i < b->n; i++)
			bind_one(b, i, b->node->args.at[i], i < 2 ? b->early[i] : NULL);
		for (i = 0; i < b->node->keywords.n; i++)
			bind_keyword(b, b->node->keywords.at[i]);
	}
	if (b->failed)
		return NULL;
	for (i = 0; i < b->n; i++)
		if (b->params[i].kind != '@')
			list_push(b->f->px, &args, b->values[i]);
	while (args.n && !args.at[args.n - 1])
		args.n--;
	return apply_bound(b, args);
}

/* ---- Dispatch ---- */

static const struct py_node *first_argument(const struct py_node *node)
{
	return node->args.n ? node->args.at[0] : node->keywords.n ? node->keywords.at[0]->x : NULL;
}

static struct ir_node *scalar_call(struct front *f, const struct py_node *node, const char *name,
				   struct ir_node *first)
{
	const struct px_op *op;
	struct ir_node *second;
	unsigned int dtype;
	bool is_min = !strcmp(name, "min"), is_max = !strcmp(name, "max");

	if (!strcmp(name, "cast") && node->args.n == 2 && !node->keywords.n) {
		if (front_scalar_dtype(f, node->args.at[1], &dtype))
			return NULL;
		return ir_cast(f->px, first, dtype, node->span);
	}
	if (!is_min && !is_max && node->args.n == 2 && !node->keywords.n) {
		second = front_value(f, node->args.at[1]);
		if (!second)
			return NULL;
		op = op_find_pl(second->type->kind == TY_TENSOR ? "tensor" : "block", name);
		if (front_is_data(second) && op && front_takes_pair(op))
			return front_pair(f, op, first, second, node->span);
	}
	if (!is_min && !is_max) {
		diag_hint(f->px, diag_add(f->px, DIAG_OPERATION, node->span,
					  "Operation '%s' is not supported for scalar arguments", name),
			  "Supported scalar ops: min, max");
		return NULL;
	}
	if (node->args.n != 2 || node->keywords.n) {
		diag_add(f->px, DIAG_OPERATION, node->span,
			 "Scalar binary operation '%s' requires exactly 2 arguments, got %u", name,
			 node->args.n + node->keywords.n);
		return NULL;
	}
	second = front_value(f, node->args.at[1]);
	return second ? front_arith(f, is_min ? IR_MIN : IR_MAX, first, second, node->span) : NULL;
}

/* Both kinds of operands exist: the first argument decides. */
static const struct px_op *dispatch(struct front *f, const struct py_node *node, const char *name,
				    const struct px_op *block, const struct px_op *tensor,
				    struct ir_node **first)
{
	const struct py_node *arg = first_argument(node);
	enum type_kind kind;

	if (!arg) {
		diag_hint(f->px, diag_add(f->px, DIAG_OPERATION, node->span,
					  "Unified operation '%s' requires at least one argument for type dispatch",
					  name),
			  "Provide a Tensor or Tile as the first argument");
		return NULL;
	}
	*first = front_value(f, arg);
	if (!*first)
		return NULL;
	kind = (*first)->type->kind;
	if (front_is_data(*first))
		return kind == TY_TILE ? block : tensor;
	if (kind != TY_SCALAR)
		diag_add(f->px, DIAG_OPERATION, node->span,
			 "Cannot dispatch '%s': first argument has type %s, expected TensorType, TileType, or ScalarType",
			 name, type_kind_name((*first)->type));
	return NULL;
}

/* Names that also have a meaning for scalars, or could be taken for one. */
static bool checks_first(const struct px_op *block, const struct px_op *tensor)
{
	return (block && tensor) || (block && block->params[0] == 't' && !block->instr) ||
	       (block && block->scalar) ||
	       (block && !strcmp(block->params, "t tile") && block->instr);
}

/* The number as second operand becomes a tile or tensor like the first. */
static void spread_second(struct op_bind *b)
{
	b->early[0] = front_named(b->f, b->early[0]);
	b->early[1] = front_spread(b->f, b->early[0], b->early[1], b->node->span);
}

static struct ir_node *apply_named(struct front *f, const struct py_node *node, const char *name,
				   const struct px_op *block, const struct px_op *tensor)
{
	struct op_bind b = { .f = f, .node = node, .op = block ? block : tensor };

	if (checks_first(block, tensor)) {
		b.op = dispatch(f, node, name, block, tensor, &b.early[0]);
		if (b.early[0] && b.early[0]->type->kind == TY_SCALAR)
			return scalar_call(f, node, name, b.early[0]);
		if (!b.early[0] || !front_is_data(b.early[0]))
			return NULL;
		if (!b.op) {
			struct diag *diag = diag_add(f->px, DIAG_OPERATION, node->span,
						     "Operation '%s' is not defined for %s", name,
						     type_kind_name(b.early[0]->type));

			if (!strcmp(name, "min") || !strcmp(name, "max"))
				diag_hint(f->px, diag,
					  "Of two operands, pl.%simum(a, b) takes one; rows are reduced by pl.row_max(), pl.row_sum()",
					  name);
			return NULL;
		}
		if (!node->args.n)
			b.early[0] = NULL;
	}
	if ((b.op->scalar || (front_takes_pair(b.op) && b.early[0])) && node->args.n > 1) {
		b.early[1] = front_value(f, node->args.at[1]);
		if (b.early[1] && b.early[1]->type->kind == TY_SCALAR) {
			if (b.op->scalar)
				b.op = op_find(b.op->scalar);
			else
				spread_second(&b);
		}
		if (!b.early[1])
			return NULL;
	}
	return bind_and_apply(&b);
}

#define NAME_LETTERS	24	/* longer names are far from all */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Changes that make @a into @b: a letter more, less or another, two neighbours exchanged. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int d[NAME_LETTERS + 1][NAME_LETTERS + 1];
	size_t m = strlen(a), n = strlen(b), i, j;

	if (m > NAME_LETTERS || n > NAME_LETTERS)
		return UINT_MAX;
	for (i = 0; i <= m; i++)
		for (j = 0; j <= n; j++) {
			if (!i || !j) {
				d[i][j] = (unsigned int)(i + j);
				continue;
			}
			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
					d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[m][n];
}

/* The operator whose name @name may be meant for, or NULL. */
static const char *similar(const char *name)
{
	unsigned int nearest = strlen(name) > 4 ? 3 : 2;	/* not reached */
	const struct px_op *op;
	const char *found = NULL;
	size_t i;

	for (i = 0; (op = op_at(i)); i++) {
		unsigned int d = op->pl ? distance(name, op->pl) : UINT_MAX;

		if (d < nearest) {
			nearest = d;
			found = op->pl;
		}
	}
	return found;
}

static struct ir_node *unknown(struct front *f, const struct py_node *node, const char *space,
			       const char *name)
{
	struct diag *diag;
	const char *meant;

	if (space) {
		diag_add(f->px, DIAG_OPERATION, node->span, "Unknown %s operation: %s", space, name);
		return NULL;
	}
	diag = diag_add(f->px, DIAG_UNSUPPORTED, node->span, "Unsupported function call: pl.%s", name);
	meant = similar(name);
	if (meant)
		diag_hint(f->px, diag, "Did you mean pl.%s?", meant);
	return NULL;
}

static struct ir_node *block_call(struct front *f, const struct py_node *node, const char *name)
{
	diag_hint(f->px, diag_add(f->px, DIAG_OPERATION, node->span,
				  "The namespace pl.block is not supported"),
		  "Use pl.%s", name);
	return NULL;
}

struct ir_node *front_pl_call(struct front *f, const struct py_node *node, const char *space,
			      const char *name)
{
	const struct px_op *block, *tensor;

	if (space && (!strcmp(space, "block") || !strcmp(space, "tile")))
		return block_call(f, node, name);
	if (!strcmp(name, "view"))
		name = "slice";
	if (space) {
		tensor = op_find_pl(space, name);
		return tensor ? apply_named(f, node, name, NULL, tensor) :
		       unknown(f, node, space, name);
	}
	block = op_find_pl("block", name);
	if (!block)
		block = op_find_pl("pipe", name);
	if (!block)
		block = op_find_pl("cluster", name);
	tensor = op_find_pl("tensor", name);
	if (tensor && strchr(tensor->pl, '.'))
		tensor = NULL;
	if (!block && !tensor)
		return unknown(f, node, NULL, name);
	return apply_named(f, node, name, block, tensor);
}
