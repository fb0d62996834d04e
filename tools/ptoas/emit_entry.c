/* SPDX-License-Identifier: MIT */
/* The function that a chip calls, and which the text does not have. */
#include "emit.h"
#include "emit_compile.h"

static struct pto_func *find_entry(struct pto_module *m)
{
	struct pto_func *only = NULL;
	unsigned int bodies = 0;

	pto_for_each_func(f, m) {
		if (!pto_func_has_body(f))
			continue;
		if (pto_attr_find(f->op, "pto.entry") || pto_attr_find(f->op, "hacc.entry"))
			return f;
		only = f;
		bodies++;
	}
	return bodies == 1 ? only : NULL;
}

static void unpack_tensor(struct emit *e, const struct pto_type *t, unsigned int arg,
			  unsigned int n)
{
	emit_begin(e);
	emit_type(e, t);
	if (pto_is_view(t)) {
		emit_add(e, " a%u = ptoas_view<", arg);
		emit_type(e, t);
		emit_add(e, ">(args[%u]);\n", n);
		return;
	}
	emit_add(e, " a%u = (", arg);
	emit_type(e, t);
	emit_add(e, ")ptoas_tensor(args[%u], sizeof(*a%u));\n", n, arg);
}

static void unpack_scalar(struct emit *e, const struct pto_type *t, unsigned int arg,
			  unsigned int n)
{
	emit_begin(e);
	emit_type(e, t);
	emit_add(e, " a%u;\n", arg);
	emit_line(e, "__builtin_memcpy(&a%u, &args[%u], sizeof(a%u));", arg, n, arg);
}

static void unpack(struct emit *e, const struct pto_func *f)
{
	unsigned int i, n = 0;

	for (i = 0; i < f->n_args; i++)
		if (pto_is_global(f->arg_types[i]))
			unpack_tensor(e, f->arg_types[i], i, n++);
	for (i = 0; i < f->n_args; i++)
		if (!pto_is_global(f->arg_types[i]))
			unpack_scalar(e, f->arg_types[i], i, n++);
	emit_begin(e);
	emit_add(e, "::%s(", f->name->text); /* a namespace of pto may have the name */
	for (i = 0; i < f->n_args; i++)
		emit_add(e, "%sa%u", i ? ", " : "", i);
	emit_add(e, ");\n");
}

int pto_emit_entry(struct pto_module *m, struct pto_diags *d, struct pto_text *out)
{
	struct emit e = { .m = m, .d = d, .out = out, .indent = 1 };
	struct pto_func *f = find_entry(m);

	if (!f) {
		pto_diag(d, m, PTO_ERROR, (struct pto_loc){ .at = PTO_NO_PLACE },
			 "mark one function with attributes {pto.entry}",
			 "more than one function, and none is the entry");
		return -EINVAL;
	}
	pto_text_str(out,
"\n#include \"tensor.h\"\n"
"static inline char *ptoas_tensor(int64_t arg, uint64_t element)\n"
"{\n"
"  const ChipTensor &t = *reinterpret_cast<const ChipTensor *>(arg);\n"
"  return reinterpret_cast<char *>(t.buffer.addr + t.start_offset * element);\n"
"}\n"
"template <typename GT> static inline GT ptoas_view(int64_t arg)\n"
"{\n"
"  const ChipTensor &t = *reinterpret_cast<const ChipTensor *>(arg);\n"
"  int64_t n[5] = { 1, 1, 1, 1, 1 }, s[5] = { 1, 1, 1, 1, 1 };\n"
"  for (uint32_t d = 0; d < t.ndims && t.ndims <= 5; d++) {\n"
"    n[5 - t.ndims + d] = t.shapes[d];\n"
"    s[5 - t.ndims + d] = t.strides[d];\n"
"  }\n"
"  return GT(t.data_as<typename GT::DType>(),\n"
"            typename GT::Shape(n[0], n[1], n[2], n[3], n[4]),\n"
"            typename GT::Stride(s[0], s[1], s[2], s[3], s[4]));\n"
"}\n"
"extern \"C\" __aicore__ void kernel_entry(__gm__ int64_t *args)\n"
"{\n");
	unpack(&e, f);
	pto_text_str(out, "}\n");
	return out->no_memory ? -ENOMEM : 0;
}
