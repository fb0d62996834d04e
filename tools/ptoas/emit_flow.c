/* SPDX-License-Identifier: MIT */
/* Loops, branches, calls, returns. Results and carried values are variables declared before. */
#include "emit.h"
#include "pipe.h"

static void open_brace(struct emit *e)
{
	emit_add(e, "{\n");
	e->indent++;
}

static void close_brace(struct emit *e)
{
	e->indent--;
	emit_line(e, "}");
}

static void region(struct emit *e, const struct pto_region *r, const struct pto_op *op)
{
	if (r->first != r->last)
		emit_fail(e, op, "has blocks with jumps between them, which cannot be emitted");
	else if (r->first)
		emit_block(e, r->first);
}

/* Variable of a result or a carried value without a value yet. */
static void declare(struct emit *e, struct pto_value *v)
{
	emit_begin(e);
	emit_type(e, v->type);
	emit_add(e, " %s{};\n", emit_name(e, v).text);
}

static void declare_results(struct emit *e, struct pto_op *op)
{
	unsigned int i;

	for (i = 0; i < op->n_results; i++)
		declare(e, &op->result[i]);
}

/* All of @to at once from operands @from on: a parallel move. */
static void assign(struct emit *e, struct pto_op *op, struct pto_value *to, unsigned int n,
		   struct pto_use *from)
{
	unsigned int i;

	if (n == 1 && from->value == to)
		return;
	if (n == 1) {
		struct emit_name value = emit_passed(e, op, from->value);

		emit_line(e, "%s = %s;", emit_name(e, to).text, value.text);
		return;
	}
	for (i = 0; i < n; i++) {
		struct emit_name value = emit_passed(e, op, from[i].value);

		emit_line(e, "auto %s_next = %s;", emit_name(e, &to[i]).text, value.text);
	}
	for (i = 0; i < n; i++)
		emit_line(e, "%s = %s_next;", emit_name(e, &to[i]).text,
			  emit_name(e, &to[i]).text);
}

static void carry(struct emit *e, struct pto_op *op, struct pto_value *arg, struct pto_value *init)
{
	struct emit_name value = emit_passed(e, op, init);

	emit_begin(e);
	emit_type(e, arg->type);
	emit_add(e, " %s = %s;\n", emit_name(e, arg).text, value.text);
}

/* ---- Loops --------------------------------------------------------------------------------- */

static void for_head(struct emit *e, struct pto_op *op, struct emit_name iv)
{
	struct emit_name lo = emit_int(e, op->operand[0].value);
	struct emit_name hi = emit_int(e, op->operand[1].value);
	struct emit_name st = emit_int(e, op->operand[2].value);
	int64_t step;

	if (!pto_const_int(op->operand[2].value, &step)) {
		emit_line(e, "if (%s == 0) trap();", st.text);
		emit_begin(e);
		emit_add(e, "for (int64_t %s = %s; %s > 0 ? %s < %s : %s > %s; %s += %s) ",
			 iv.text, lo.text, st.text, iv.text, hi.text, iv.text, hi.text, iv.text,
			 st.text);
		return;
	}
	emit_begin(e);
	emit_add(e, "for (int64_t %s = %s; %s %s %s; %s += %s) ", iv.text, lo.text, iv.text,
		 step < 0 ? ">" : "<", hi.text, iv.text, st.text);
}

static void for_loop(struct emit *e, struct pto_op *op)
{
	struct pto_block *b = op->region[0].first;
	struct emit_name iv;
	unsigned int i;
	int64_t step;

	if (pto_const_int(op->operand[2].value, &step) && !step) {
		emit_fail(e, op, "has step 0");
		return;
	}
	for (i = 0; i < op->n_results; i++) {
		carry(e, op, &b->args[i + 1], op->operand[i + 3].value);
		op->result[i].id = b->args[i + 1].id;
	}
	iv = emit_name(e, &b->args[0]);
	for_head(e, op, iv);
	open_brace(e);
	region(e, &op->region[0], op);
	close_brace(e);
}

static void while_loop(struct emit *e, struct pto_op *op)
{
	struct pto_block *before = op->region[0].first, *after = op->region[1].first;
	const struct pto_op *condition = before ? before->last : NULL;
	unsigned int i;

	if (!condition || condition->info->code != PTO_OP_CONDITION) {
		emit_fail(e, op, "has a first region that does not end with scf.condition");
		return;
	}
	declare_results(e, op);
	for (i = 0; i < op->n_operands; i++)
		carry(e, op, &before->args[i], op->operand[i].value);
	emit_begin(e);
	emit_add(e, "while (true) ");
	open_brace(e);
	region(e, &op->region[0], op);
	for (i = 0; after && i < after->n_args && i + 1 < condition->n_operands; i++)
		after->args[i].id = condition->operand[i + 1].value->id;
	region(e, &op->region[1], op);
	close_brace(e);
}

/* ---- Branches ------------------------------------------------------------------------------ */

static void if_else(struct emit *e, struct pto_op *op)
{
	declare_results(e, op);
	emit_begin(e);
	emit_add(e, "if (%s) ", emit_name(e, op->operand[0].value).text);
	open_brace(e);
	region(e, &op->region[0], op);
	if (op->region[1].first && op->region[1].first->first) {
		e->indent--;
		emit_begin(e);
		emit_add(e, "} else ");
		open_brace(e);
		region(e, &op->region[1], op);
	}
	close_brace(e);
}

/* Region 0 is the default. An if chain, so that a loop's break stays the loop's. */
static void index_switch(struct emit *e, struct pto_op *op)
{
	const struct pto_attr *cases = pto_attr_find(op, "cases");
	struct emit_name v = emit_name(e, op->operand[0].value);
	unsigned int i;

	declare_results(e, op);
	emit_begin(e);
	for (i = 1; i < op->n_regions; i++) {
		if (cases && i - 1 < cases->count)
			emit_add(e, "if (%s == %lld) ", v.text, (long long)cases->list[i - 1].i);
		open_brace(e);
		region(e, &op->region[i], op);
		e->indent--;
		emit_begin(e);
		emit_add(e, "} else ");
	}
	open_brace(e);
	region(e, &op->region[0], op);
	close_brace(e);
}

static int is_whole_pipe_use(struct pto_op *op, void *arg)
{
	(void)arg;
	return pto_has(op, PTO_F_PIPE_USER) && !pipe_split(op);
}

static int is_lane_query(struct pto_op *op, void *arg)
{
	(void)arg;
	return op->info->code == PTO_OP_GET_SUBBLOCK_IDX;
}

/* Only lane 0 of an a5 vector core takes part in transfers of whole tiles. */
static bool one_lane(const struct emit *e, struct pto_op *op)
{
	return e->arch == PTO_ARCH_A5 && pto_walk(op, is_whole_pipe_use, NULL) &&
	       !pto_walk(op, is_lane_query, NULL);
}

/* The body of a section, or of a function of one kind of core. */
static void core_body(struct emit *e, struct pto_op *op, bool cube)
{
	const char *macro = cube ? "__DAV_CUBE__" : "__DAV_VEC__";
	bool lane = !cube && one_lane(e, op);

	emit_add(e, "#if defined(%s)\n", macro);
	if (!cube) {
		emit_line(e, "set_mask_norm();");
		emit_line(e, "set_vector_mask(-1, -1);");
	}
	if (lane) {
		emit_begin(e);
		emit_add(e, "if (get_subblockid() == 0) ");
		open_brace(e);
	}
	region(e, &op->region[0], op);
	if (lane)
		close_brace(e);
	emit_add(e, "#endif // %s\n", macro);
}

static void section(struct emit *e, struct pto_op *op)
{
	emit_begin(e);
	open_brace(e);
	core_body(e, op, op->info->code == PTO_OP_SECTION_CUBE);
	close_brace(e);
}

/* ---- Ends of blocks ------------------------------------------------------------------------ */

static void yield(struct emit *e, struct pto_op *op)
{
	struct pto_op *up = pto_parent(op);

	if (!op->n_operands || !up)
		return;
	if (up->info->code == PTO_OP_FOR)
		assign(e, op, &up->region[0].first->args[1], op->n_operands, op->operand);
	else if (up->info->code == PTO_OP_WHILE)
		assign(e, op, up->region[0].first->args, op->n_operands, op->operand);
	else
		assign(e, op, up->result, op->n_operands, op->operand);
}

static void condition(struct emit *e, struct pto_op *op)
{
	struct pto_op *up = pto_parent(op);

	if (op->n_operands > 1)
		assign(e, op, up->result, op->n_operands - 1u, op->operand + 1);
	emit_line(e, "if (!%s) break;", emit_name(e, op->operand[0].value).text);
}

static void call(struct emit *e, struct pto_op *op)
{
	const struct pto_attr *callee = pto_attr_find(op, "callee");
	struct emit_name *args = arena_alloc(&e->m->arena, (op->n_operands + 1u) * sizeof(*args),
					     sizeof(char));
	unsigned int i;

	if (!args) {
		e->m->no_memory = true;
		return;
	}
	for (i = 0; i < op->n_operands; i++)
		args[i] = emit_passed(e, op, op->operand[i].value);
	emit_begin(e);
	if (op->n_results)
		emit_add(e, "auto %s = ", emit_name(e, &op->result[0]).text);
	emit_add(e, "::%s(", callee ? callee->text->text : "?");
	for (i = 0; i < op->n_operands; i++)
		emit_add(e, "%s%s", i ? ", " : "", args[i].text);
	emit_add(e, ");\n");
}

static void leave(struct emit *e, struct pto_op *op)
{
	struct emit_name value = { "" };

	if (op->n_operands)
		value = emit_passed(e, op, op->operand[0].value);
	emit_tail(e);
	emit_line(e, op->n_operands ? "return %s;" : "return%s;", value.text);
}

bool emit_flow(struct emit *e, struct pto_op *op)
{
	switch (pto_code(op)) {
	case PTO_OP_FUNC: {
		const struct pto_attr *kind = pto_attr_find(op, "pto.kernel_kind");

		if (kind && kind->kind == PTO_ATTR_ENUM)
			core_body(e, op, kind->i == 0);
		else
			region(e, &op->region[0], op);
		return true;
	}
	case PTO_OP_FOR:
		for_loop(e, op);
		return true;
	case PTO_OP_WHILE:
		while_loop(e, op);
		return true;
	case PTO_OP_IF:
		if_else(e, op);
		return true;
	case PTO_OP_INDEX_SWITCH:
		index_switch(e, op);
		return true;
	case PTO_OP_EXECUTE_REGION:
		declare_results(e, op);
		emit_begin(e);
		open_brace(e);
		region(e, &op->region[0], op);
		close_brace(e);
		return true;
	case PTO_OP_SECTION_CUBE:
	case PTO_OP_SECTION_VECTOR:
		section(e, op);
		return true;
	case PTO_OP_YIELD:
		yield(e, op);
		return true;
	case PTO_OP_CONDITION:
		condition(e, op);
		return true;
	case PTO_OP_CALL:
		call(e, op);
		return true;
	case PTO_OP_RETURN:
		leave(e, op);
		return true;
	default:
		return false;
	}
}
