/* SPDX-License-Identifier: MIT */
/* Interpreter: functions, statements, and kernels that are connected by pipes. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp_value.h"

#define MEMBER_STACK	((size_t)512 << 10)
#define MAX_DEPTH	64

enum flow { GO_ON, RETURNED, FAILED };

static enum flow exec(struct frame *fr, struct ir_node *stmt);

void *interp_error(struct frame *fr, struct span span, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag_add(fr->in->px, DIAG_COMPILE, span, "%s", text);
	return NULL;
}

/* ---- Yields ---- */

static void drop_out(struct frame *fr)
{
	uint32_t i;

	for (i = 0; i < fr->n_out; i++)
		iv_unref(fr->out[i]);
	free(fr->out);
	fr->out = NULL;
	fr->n_out = 0;
}

static int eval_all(struct frame *fr, const struct ir_list *list)
{
	struct iv **out = iv_alloc(fr->in, list->n, sizeof(struct iv *));
	uint32_t i;

	for (i = 0; i < list->n; i++) {
		out[i] = interp_eval(fr, list->at[i]);
		if (!out[i])
			break;
	}
	drop_out(fr);
	fr->out = out;
	fr->n_out = i;
	return i == list->n ? 0 : -EINVAL;
}

/* What the body yielded goes to @vars. */
static int take_yield(struct frame *fr, const struct ir_list *vars, struct span span)
{
	struct iv **out = fr->out;
	int rc;

	if (!vars->n)
		return 0;
	if (fr->n_out != vars->n) {
		interp_error(fr, span, "%u values are yielded, %u are needed", fr->n_out, vars->n);
		return -EINVAL;
	}
	fr->out = NULL;
	fr->n_out = 0;
	rc = interp_bind_all(fr, vars, out);
	free(out);
	return rc;
}

static int copy_vars(struct frame *fr, const struct ir_list *from, const struct ir_list *to)
{
	return !to->n ? 0 : eval_all(fr, from) ? -EINVAL :
	       take_yield(fr, to, from->at[0]->span);
}

/* The initial values of iter args go to them. */
static int start_carried(struct frame *fr, const struct ir_list *iter_args, struct span span)
{
	struct ir_list inits = { 0 };
	uint32_t i;

	for (i = 0; i < iter_args->n; i++)
		list_push(fr->in->px, &inits, IR_AS(iter_args->at[i], var)->init);
	if (!iter_args->n)
		return 0;
	return eval_all(fr, &inits) ? -EINVAL : take_yield(fr, iter_args, span);
}

/* ---- Statements ---- */

static bool true_of(struct frame *fr, struct ir_node *condition, bool *truth)
{
	struct iv *v = interp_eval(fr, condition);

	if (!v)
		return false;
	*truth = dtype_is_float(v->dtype) ? v->cell.f != 0 : v->cell.i != 0;
	iv_unref(v);
	return true;
}

static enum flow exec_for(struct frame *fr, struct ir_for *loop)
{
	int64_t start, stop, step, i;
	enum flow flow = GO_ON;

	if (interp_index(fr, loop->start, &start) || interp_index(fr, loop->stop, &stop) ||
	    interp_index(fr, loop->step, &step))
		return FAILED;
	if (!step) {
		interp_error(fr, loop->step->span, "The step of a loop is zero");
		return FAILED;
	}
	if (start_carried(fr, &loop->iter_args, loop->node.span))
		return FAILED;
	for (i = start; step > 0 ? i < stop : i > stop; ) {
		if (interp_bind(fr, loop->loop_var, iv_int(fr->in, loop->loop_var->type->dtype, i)))
			return FAILED;
		flow = exec(fr, loop->body);
		if (flow != GO_ON)
			return flow;
		if (take_yield(fr, &loop->iter_args, loop->node.span))
			return FAILED;
		if (__builtin_add_overflow(i, step, &i))
			break;
	}
	return copy_vars(fr, &loop->iter_args, &loop->return_vars) ? FAILED : GO_ON;
}

static enum flow exec_while(struct frame *fr, struct ir_while *loop)
{
	enum flow flow;
	bool truth;

	if (start_carried(fr, &loop->iter_args, loop->node.span))
		return FAILED;
	for (;;) {
		if (!true_of(fr, loop->condition, &truth))
			return FAILED;
		if (!truth)
			break;
		flow = exec(fr, loop->body);
		if (flow != GO_ON)
			return flow;
		if (take_yield(fr, &loop->iter_args, loop->node.span))
			return FAILED;
	}
	return copy_vars(fr, &loop->iter_args, &loop->return_vars) ? FAILED : GO_ON;
}

static enum flow exec_if(struct frame *fr, struct ir_if *s)
{
	struct ir_node *body;
	enum flow flow;
	bool truth;

	if (!true_of(fr, s->condition, &truth))
		return FAILED;
	body = truth ? s->then_body : s->else_body;
	flow = body ? exec(fr, body) : GO_ON;
	if (flow != GO_ON)
		return flow;
	return take_yield(fr, &s->return_vars, s->node.span) ? FAILED : GO_ON;
}

static enum flow exec_seq(struct frame *fr, const struct ir_list *stmts)
{
	enum flow flow = GO_ON;
	uint32_t i;

	for (i = 0; i < stmts->n && flow == GO_ON; i++)
		flow = exec(fr, stmts->at[i]);
	return flow;
}

static enum flow exec_assign(struct frame *fr, struct ir_assign *s)
{
	struct iv *v = interp_eval(fr, s->value);

	if (!v)
		return FAILED;
	if (s->var->kind == IR_MEMREF) {	/* block.alloc */
		iv_unref(v);
		return GO_ON;
	}
	return interp_bind(fr, s->var, v) ? FAILED : GO_ON;
}

static enum flow exec(struct frame *fr, struct ir_node *stmt)
{
	struct interp *in = fr->in;
	struct iv *v;

	if (++in->steps > in->options.max_steps && in->options.max_steps) {
		interp_error(fr, stmt->span, "The program is not done after %llu statements",
			     (unsigned long long)in->options.max_steps);
		return FAILED;
	}
	switch (stmt->kind) {
	case IR_ASSIGN:
		return exec_assign(fr, IR_AS(stmt, assign));
	case IR_EVAL:
		v = interp_eval(fr, IR_AS(stmt, eval)->expr);
		iv_unref(v);
		return v ? GO_ON : FAILED;
	case IR_IF:
		return exec_if(fr, IR_AS(stmt, if));
	case IR_FOR:
		return exec_for(fr, IR_AS(stmt, for));
	case IR_WHILE:
		return exec_while(fr, IR_AS(stmt, while));
	case IR_SCOPE:
		return exec(fr, IR_AS(stmt, scope)->body);
	case IR_YIELD:
		return eval_all(fr, &IR_AS(stmt, values)->values) ? FAILED : GO_ON;
	case IR_RETURN:
		return eval_all(fr, &IR_AS(stmt, values)->values) ? FAILED : RETURNED;
	case IR_SEQ:
	case IR_OPS:
		return exec_seq(fr, &IR_AS(stmt, seq)->stmts);
	default:
		interp_error(fr, stmt->span, "A %s cannot be interpreted",
			     ir_kind_info[stmt->kind].name);
		return FAILED;
	}
}

/* ---- Functions ---- */

static int bind_extent(struct frame *fr, const struct ir_node *param, uint32_t i, int64_t have)
{
	struct ir_node *dim = param->type->shape.at[i];
	int64_t want = have;
	struct iv *known;

	if (dim->kind == IR_CONST_INT) {
		want = IR_AS(dim, const)->value;
	} else if (ir_is_var(dim)) {
		known = var_map_get(&fr->vars, dim);
		if (known)
			want = known->cell.i;
		else
			interp_set_var(fr, dim, iv_int(fr->in, DT_INDEX, have));
	}
	if (have == want)
		return 0;
	interp_error(fr, param->span, "Parameter '%s' of '%s' needs extent %lld in dimension %u, got %lld",
		     IR_AS(param, var)->name, fr->f->name, (long long)want, i, (long long)have);
	return -EINVAL;
}

/* Takes no reference. */
static int bind_param(struct frame *fr, struct ir_node *param, struct iv *arg)
{
	uint32_t i;

	if (param->type->kind == TY_TENSOR && arg->kind == TY_TENSOR) {
		if (arg->rank != param->type->shape.n || arg->dtype != param->type->dtype) {
			interp_error(fr, param->span,
				     "Parameter '%s' of '%s' needs %u dimensions of %s, got %u of %s",
				     IR_AS(param, var)->name, fr->f->name, param->type->shape.n,
				     dtype_name(param->type->dtype), arg->rank,
				     dtype_name(arg->dtype));
			return -EINVAL;
		}
		for (i = 0; i < arg->rank; i++)
			if (bind_extent(fr, param, i, arg->shape[i]))
				return -EINVAL;
	}
	interp_set_var(fr, param, iv_ref(arg));
	return 0;
}

static bool is_block_param(const struct frame *fr, uint32_t i)
{
	const char *name = IR_AS(fr->f->params.at[i], var)->name;

	return fr->f->func_type == FN_BLOCK_INCORE &&
	       (!strcmp(name, "blockdim") || !strcmp(name, "block_id"));
}

/* Scalars are known before tensors, whose shapes may name them. */
static void bind_scalars(struct frame *fr, struct iv **args, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < fr->f->params.n && i < n; i++)
		if (fr->f->params.at[i]->type->kind == TY_SCALAR && args[i]->kind == TY_SCALAR)
			interp_set_var(fr, fr->f->params.at[i], iv_ref(args[i]));
}

static int bind_params(struct frame *fr, struct iv **args, uint32_t n)
{
	uint32_t i, k = 0;
	const char *name;

	bind_scalars(fr, args, n);
	for (i = 0; i < fr->f->params.n; i++) {
		struct ir_node *param = fr->f->params.at[i];

		if (k == n && is_block_param(fr, i)) {
			name = IR_AS(param, var)->name;
			interp_set_var(fr, param, iv_int(fr->in, param->type->dtype,
						  !strcmp(name, "blockdim") ? fr->blocks : fr->block));
			continue;
		}
		if (k == n) {
			interp_error(fr, fr->f->node.span, "Function '%s' lacks argument '%s'",
				     fr->f->name, IR_AS(param, var)->name);
			return -EINVAL;
		}
		if (bind_param(fr, param, args[k++]))
			return -EINVAL;
	}
	if (k == n)
		return 0;
	interp_error(fr, fr->f->node.span, "Function '%s' takes %u arguments, got %u", fr->f->name,
		     k, n);
	return -EINVAL;
}

static int run_frame(struct frame *fr)
{
	enum flow flow;

	if (!fr->f->body) {
		interp_error(fr, fr->f->node.span, "Function '%s' has no body", fr->f->name);
		return -EINVAL;
	}
	flow = exec(fr, fr->f->body);
	if (flow == GO_ON)
		drop_out(fr);
	return flow == FAILED ? -EINVAL : 0;
}

static void frame_end(struct frame *fr)
{
	struct onchip *b;
	size_t i;

	for (i = 0; i < fr->vars.room; i++)
		iv_unref(fr->vars.slots[i].value);
	fr->vars.room = 0;
	for (b = fr->buffers; b; b = b->next)
		mem_drop(b->mem);
	fr->buffers = NULL;
	drop_out(fr);
}

static struct frame frame_of(struct interp *in, const struct ir_function *f, int64_t block,
			     int64_t blocks)
{
	return (struct frame){ .in = in, .f = f, .vars = { .px = in->px }, .block = block,
			       .blocks = blocks };
}

/* ---- Kernels connected by pipes ---- */

bool function_has_pipes(const struct ir_function *f)
{
	uint32_t i;

	for (i = 0; i < f->params.n; i++)
		if (f->directions[i] == DIR_PIPE_IN || f->directions[i] == DIR_PIPE_OUT)
			return true;
	return false;
}

static void leave_member(struct member *m)
{
	struct interp *in = m->in;

	m->escape = in->px->escape;
	fiber_switch(m->fiber, &in->thread.fiber);
	in->px->escape = m->escape;
}

static void member_main(void *arg)
{
	struct member *m = arg;
	int rc;

	px_guard(m->in->px, rc, run_frame(&m->frame), -ENOMEM);
	if (rc == -ENOMEM)
		interp_error(&m->frame, m->frame.f->node.span, "Memory is short");
	m->done = true;
	for (;;)
		leave_member(m);
}

static void enter_member(struct member *m)
{
	struct interp *in = m->in;
	jmp_buf *escape = in->px->escape;

	in->running = m;
	fiber_switch(fiber_thread_init(&in->thread), m->fiber);
	in->running = NULL;
	in->px->escape = escape;
}

bool interp_wait(struct frame *fr, struct ir_node *at)
{
	struct member *m = fr->in->running;

	if (!m)
		return false;
	m->waits_at = at;
	leave_member(m);
	return fr->in->px->n_errors == 0;
}

/* Runs the members until each is done or waits for a pipe that nobody fills. */
static void run_members(struct interp *in)
{
	unsigned int done = 1;
	struct member *m;
	uint64_t steps;

	while (done && !in->px->n_errors) {
		done = 0;
		for (m = in->members; m && !in->px->n_errors; m = m->next) {
			if (m->done)
				continue;
			steps = in->steps;
			enter_member(m);
			done += m->done || in->steps != steps;
		}
	}
}

static int finish_members(struct interp *in)
{
	struct member *m;

	run_members(in);
	for (m = in->members; m && !in->px->n_errors; m = m->next)
		if (!m->done)
			interp_error(&m->frame, m->waits_at->span,
				     "Function '%s' waits for a tile that nobody pushes",
				     m->frame.f->name);
	while ((m = in->members)) {
		in->members = m->next;
		fiber_destroy(m->fiber);
		frame_end(&m->frame);
		free(m);
	}
	return in->px->n_errors ? -EINVAL : 0;
}

/* D3: the results of a member that may not be done are the tensors that it writes. */
static int member_results(struct frame *fr, const struct ir_function *f, struct iv **args,
			  struct span span)
{
	uint32_t i, n = 0;

	drop_out(fr);
	fr->out = iv_alloc(fr->in, f->params.n + 1, sizeof(struct iv *));
	for (i = 0; i < f->params.n && n < f->n_returns; i++)
		if (f->directions[i] == DIR_OUT || f->directions[i] == DIR_INOUT)
			fr->out[n++] = iv_ref(args[i]);
	fr->n_out = n;
	if (n == f->n_returns)
		return 0;
	interp_error(fr, span, "Function '%s' has pipes and returns more than it has Out parameters",
		     f->name);
	return -EINVAL;
}

static int start_member(struct frame *fr, const struct ir_function *f, struct iv **args,
			uint32_t n_args, int64_t block, int64_t blocks)
{
	struct member *m = iv_alloc(fr->in, 1, sizeof(*m)), **end = &fr->in->members;

	m->in = fr->in;
	m->frame = frame_of(fr->in, f, block, blocks);
	if (bind_params(&m->frame, args, n_args)) {
		frame_end(&m->frame);
		free(m);
		return -EINVAL;
	}
	m->fiber = fiber_create(MEMBER_STACK, member_main, m);
	if (!m->fiber)
		longjmp(*fr->in->px->escape, 1);
	while (*end)
		end = &(*end)->next;
	*end = m;
	return 0;
}

/* ---- Calls of functions ---- */

static int run_block(struct frame *fr, const struct ir_function *f, struct iv **args,
		     uint32_t n_args, int64_t block, int64_t blocks)
{
	struct frame callee = frame_of(fr->in, f, block, blocks);
	int rc = bind_params(&callee, args, n_args);

	rc = rc ? rc : run_frame(&callee);
	if (!rc) {
		drop_out(fr);
		fr->out = callee.out;
		fr->n_out = callee.n_out;
		callee.out = NULL;
		callee.n_out = 0;
	}
	frame_end(&callee);
	return rc;
}

/* Both ends of a pipe are on one cluster (section 15.4). */
static int check_clusters(struct frame *fr, const struct ir_function *f, struct iv **args,
			  uint32_t n_args, struct span span)
{
	struct iv *cluster = NULL;
	uint32_t i;

	for (i = 0; i < n_args; i++)
		if (args[i]->kind == TY_CLUSTER)
			cluster = args[i];
	for (i = 0; i < n_args; i++) {
		struct iv_pipe *pipe = args[i]->kind == TY_PIPE ? args[i]->pipe : NULL;

		if (!pipe || pipe->cluster == cluster)
			continue;
		if (pipe->cluster) {
			interp_error(fr, span,
				     "Pipe '%s' of '%s' connects kernels on different clusters",
				     IR_AS(f->params.at[i], var)->name, f->name);
			return -EINVAL;
		}
		pipe->cluster = cluster ? iv_ref(cluster) : NULL;
	}
	return 0;
}

static int call_blocks(struct frame *fr, const struct ir_function *f, struct iv **args,
		       uint32_t n_args, int64_t blocks, struct span span)
{
	bool pipes = function_has_pipes(f);
	int rc = pipes ? check_clusters(fr, f, args, n_args, span) : 0;
	int64_t b;

	for (b = 0; b < blocks && !rc; b++)
		rc = pipes ? start_member(fr, f, args, n_args, b, blocks) :
		     run_block(fr, f, args, n_args, b, blocks);
	if (!pipes || rc)
		return rc;
	run_members(fr->in);
	return fr->in->px->n_errors ? -EINVAL : member_results(fr, f, args, span);
}

/* The value of a call from what the function returned. */
static struct iv *call_value(struct frame *fr, const struct ir_function *f, struct iv **args)
{
	struct iv **out = fr->out, *v;
	uint32_t n = fr->n_out, i;

	fr->out = NULL;
	fr->n_out = 0;
	if (n != 1) {
		for (i = 0; !n && i < f->params.n; i++)
			if (f->directions[i] == DIR_PIPE_OUT)
				break;
		v = !n && i < f->params.n ? iv_ref(args[i]) : iv_tuple(fr->in, out, n);
	} else {
		v = out[0];
	}
	free(out);
	return v;
}

static int block_count(struct frame *fr, struct ir_call *call, int64_t *blocks)
{
	*blocks = 1;
	if (!call->blockdim)
		return 0;
	if (interp_index(fr, call->blockdim, blocks))
		return -EINVAL;
	if (*blocks >= 1 && *blocks <= 65536)
		return 0;
	interp_error(fr, call->node.span, "blockdim is %lld; it must be 1 to 65536",
		     (long long)*blocks);
	return -EINVAL;
}

static struct iv *call_function(struct frame *fr, struct ir_call *call)
{
	const struct ir_function *f = fr->in->program ?
		program_find(fr->in->program, call->callee) : NULL;
	struct iv **args = NULL, *v = NULL;
	uint32_t i, n = 0;
	int64_t blocks;

	if (!f)
		return interp_error(fr, call->node.span, "Function '%s' is not in the program",
				    call->callee);
	if (block_count(fr, call, &blocks) || eval_all(fr, &call->args))
		return NULL;
	args = fr->out;
	n = fr->n_out;
	fr->out = NULL;
	fr->n_out = 0;
	if (++fr->in->depth > MAX_DEPTH)
		interp_error(fr, call->node.span, "Function '%s' calls itself", f->name);
	else if (!call_blocks(fr, f, args, n, blocks, call->node.span))
		v = call_value(fr, f, args);
	fr->in->depth--;
	for (i = 0; i < n; i++)
		iv_unref(args[i]);
	free(args);
	return v;
}

static struct iv *eval_tuple(struct frame *fr, const struct ir_list *list)
{
	struct iv **items = iv_alloc(fr->in, list->n, sizeof(struct iv *)), *v = NULL;
	uint32_t i;

	for (i = 0; i < list->n; i++) {
		items[i] = interp_eval(fr, list->at[i]);
		if (!items[i])
			break;
	}
	if (i == list->n)
		v = iv_tuple(fr->in, items, i);
	while (!v && i--)
		iv_unref(items[i]);
	free(items);
	return v;
}

static struct iv *eval_item(struct frame *fr, struct ir_item *item)
{
	struct iv *t = interp_eval(fr, item->tuple), *v;

	if (!t)
		return NULL;
	if (t->kind != TY_TUPLE || item->index < 0 || item->index >= t->n_items)
		v = interp_error(fr, item->node.span, "There is no element %lld",
				 (long long)item->index);
	else
		v = iv_ref(t->items[item->index]);
	iv_unref(t);
	return v;
}

static struct iv *eval_var(struct frame *fr, struct ir_node *var)
{
	struct iv *v = var_map_get(&fr->vars, var);

	if (v)
		return iv_ref(v);
	interp_error(fr, var->span, "Variable '%s' has no value", IR_AS(var, var)->name);
	if (IR_AS(var, var)->dynamic)
		diag_hint(fr->in->px, diag_last(fr->in->px),
			  "No tensor parameter of '%s' has it as an extent; use a parameter n: pl.Scalar[pl.INDEX]",
			  fr->f->name);
	return NULL;
}

struct iv *interp_eval(struct frame *fr, struct ir_node *expr)
{
	switch (expr->kind) {
	case IR_VAR:
	case IR_ITER_ARG:
		return eval_var(fr, expr);
	case IR_MEMREF:
		return iv_new(fr->in, TY_MEMREF, 0);
	case IR_CALL:
		return IR_AS(expr, call)->op ? interp_call_op(fr, IR_AS(expr, call)) :
		       call_function(fr, IR_AS(expr, call));
	case IR_MAKE_TUPLE:
		return eval_tuple(fr, &IR_AS(expr, tuple)->elements);
	case IR_GET_ITEM:
		return eval_item(fr, IR_AS(expr, item));
	default:
		return interp_arith(fr, expr);
	}
}

/* ---- The whole ---- */

static struct iv *argument_value(struct interp *in, const struct interp_value *a, uint32_t number)
{
	struct iv *v = iv_new(in, a->kind, a->dtype);

	v->argument = (int32_t)number + 1;
	if (a->kind == TY_SCALAR) {
		v->cell = dtype_is_float(a->dtype) ? (union cell){ .f = a->f } :
			  (union cell){ .i = a->i };
		return v;
	}
	v->rank = a->rank;
	memcpy(v->shape, a->shape, sizeof(a->shape));
	memcpy(v->valid, a->shape, sizeof(a->shape));
	iv_contiguous_strides(v);
	v->mem = mem_new(in, 0);
	free(v->mem->at);
	v->mem->borrowed = true;
	v->mem->at = a->at;
	return v;
}

static void result_value(struct interp *in, struct iv *v, struct interp_value *out)
{
	union cell *cells;
	int64_t i, n;
	unsigned int size;

	out->kind = v->kind == TY_TENSOR || v->kind == TY_TILE ? TY_TENSOR : v->kind;
	out->dtype = v->dtype;
	out->rank = v->rank;
	out->argument = (int64_t)v->argument - 1;
	memcpy(out->shape, v->shape, sizeof(v->shape));
	if (v->kind == TY_SCALAR) {
		if (dtype_is_float(v->dtype))
			out->f = v->cell.f;
		else
			out->i = v->cell.i;
	}
	if (out->kind != TY_TENSOR || out->argument >= 0)
		return;
	n = iv_count(v);
	size = interp_item_size(v->dtype);
	out->at = px_alloc(in->px, (size_t)n + 1, size);
	cells = cells_of(in, v, v->dtype, v->rank, v->shape);
	for (i = 0; i < n; i++)
		cell_write(v->dtype, (uint8_t *)out->at + i * size, cells[i]);
	free(cells);
}

/* Every push is popped before a program ends (section 15.4). */
static void check_pipes(struct frame *top)
{
	const struct iv_pipe *p;

	for (p = top->in->pipes; p; p = p->next)
		if (p->head)
			interp_error(top, p->span, "Pipe: %lld pushes, %lld pops",
				     (long long)p->pushes, (long long)p->pops);
}

static int run(struct interp *in, const struct ir_function *f, const struct interp_value *args,
	       uint32_t n_args, struct interp_value **results, uint32_t *n_results)
{
	int64_t blocks = in->options.block_num ? in->options.block_num : 1;
	struct iv **values = iv_alloc(in, n_args, sizeof(struct iv *));
	struct frame top = frame_of(in, f, 0, blocks);
	uint32_t i;
	int rc;

	for (i = 0; i < n_args; i++)
		values[i] = argument_value(in, &args[i], i);
	if (f->func_type != FN_BLOCK_INCORE)
		blocks = 1;
	rc = function_has_pipes(f) ? run_block(&top, f, values, n_args, 0, 1) :
	     call_blocks(&top, f, values, n_args, blocks, f->node.span);
	if (!finish_members(in) && !rc && !in->px->n_errors)
		check_pipes(&top);
	if (in->px->n_errors)
		rc = -EINVAL;
	*n_results = rc ? 0 : top.n_out;
	*results = px_alloc(in->px, *n_results + 1, sizeof(**results));
	for (i = 0; i < *n_results; i++)
		result_value(in, top.out[i], &(*results)[i]);
	drop_out(&top);
	free(values);
	return rc;
}

int interp_run(struct px *px, const struct ir_program *program, const struct ir_function *function,
	       const struct interp_value *args, uint32_t n_args, const struct interp_options *options,
	       struct interp_value **results, uint32_t *n_results)
{
	struct interp in = { .px = px, .program = program, .options = *options,
			     .ops = { .px = px } };
	int rc;

	px_guard(px, rc, run(&in, function, args, n_args, results, n_results), -ENOMEM);
	while (in.members) {
		struct member *m = in.members;

		in.members = m->next;
		fiber_destroy(m->fiber);
		free(m->frame.out);
		free(m);
	}
	interp_free_all(&in);
	return rc;
}
