/* SPDX-License-Identifier: MIT */
/* What is refused, with which words, and where. Spec pto-isa.md 8.3, 8.5, 8.6, 9.2. */
#define _GNU_SOURCE
#include "ptoas_fixture.h"

#define A3	PTO_ARCH_A3
#define A5	PTO_ARCH_A5

/* Tiles that many bodies use. */
#define TILE(name, type)	"    %" name " = pto.alloc_tile : !pto.tile_buf<" type ">\n"
#define T1(type)		TILE("t", type)
#define T2(t, u)		TILE("t", t) TILE("u", u)
#define T3(t, u, v)		TILE("t", t) TILE("u", u) TILE("v", v)
#define T4(t, u, v, w)		T3(t, u, v) TILE("w", w)
#define ANY			"!pto.tile_buf<...>"
#define UNARY(op)		"    pto." op " ins(%t : " ANY ") outs(%u : " ANY ")\n"
#define BINARY(op)		"    pto." op " ins(%t, %u : " ANY ", " ANY ") outs(%v : " ANY ")\n"
#define F32			"vec, 16x16xf32"
#define VIEW			"    %v0 = pto.make_tensor_view %pf, shape = [%c16, %c16], " \
				"strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>\n"
#define PART(sizes, type)	VIEW "    %p = pto.partition_view %v0, " \
				"offsets = [%c0, %c0], sizes = " sizes " : " \
				"!pto.tensor_view<16x16xf32> -> " \
				"!pto.partition_tensor_view<" type ">\n"

#define PADDED(type, more)	T1(type) PART("[%c8, %c8]", "8x8xf32") \
	"    pto.tload ins(%p : !pto.partition_tensor_view<8x8xf32>) outs(%t : " ANY ") " more "\n"
#define BY_VALUE		"pad_mode = #pto<padmode PadValue> "

static const struct {
	enum pto_arch arch;
	const char *body;
	const char *message;	/* begins the message behind "'pto.x' op ", or the whole of it */
} refused[] = {
	/* types: 8.3 */
	{ A3, T1("loc=ub, dtype=f32, ..."), "unknown loc: ub" },
	{ A3, T1("<, 16x16xf32"), "unknown loc: " },
	{ A3, T1("vec, 16x16xf32, blayout=diagonal"), "unknown blayout: diagonal" },
	{ A3, T1("vec, 16x16xf32, slayout=box"), "unknown slayout: box" },
	{ A3, T1("vec, 16x16xf32, pad=4"), "unknown pad: 4" },
	{ A3, T1("vec, 16x16xf32, pad=4294967295"), "unknown pad: 4294967295" },
	{ A3, T1("vec, 16x16xf32, pad=8589934592"), "unknown pad: 8589934592" },
	{ A3, T1("vec, 16x16xf32, compact=3"), "unknown compact: 3" },
	{ A3, T1("vec, 16x16xf32, pad=1, pad=1"), "duplicate pad in tile_buf compact syntax" },
	{ A3, T1("vec, 16x16xf32, depth=1"), "unknown key in tile_buf compact syntax: depth" },
	{ A3, T1("vec, 16xf32"), "tile_buf compact syntax expects exactly two shape dims" },
	{ A3, T1("vec, 16x16x16xf32"), "tile_buf compact syntax expects exactly two shape dims" },
	{ A3, T1("vec, 16x16xf32, valid=16"), "tile_buf valid must have exactly two dims" },
	{ A3, T1("vec, 16x16xf32, valid=1x1x1"), "tile_buf valid must have exactly two dims" },
	{ A3, T1("vec, ?x16xf32"), "rows/cols must be non-negative" },
	{ A3, T1("loc=vec, dtype=f32, rows=-2, cols=16, ..."), "rows/cols must be non-negative" },
	{ A3, T1("vec, 16x16xf32, valid=17x16"), "valid rows 17 is larger than 16 rows" },
	{ A3, T1("vec, 16x16xf31"), "unknown element type 'f31'" },
	{ A3, T1("vec, 16x16xf32, fractal=7"), "unknown fractal: 7" },
	/* padding of loads */
	{ A3, PADDED("vec, 16x16xf32, valid=8x8", BY_VALUE "pad_value = %one : f32"),
	  "expects pad_value to be a constant that is the pad of dst's type" },
	{ A3, PADDED("vec, 16x16xf32, valid=8x8, pad=1", BY_VALUE "pad_value = %f : f32"),
	  "expects pad_value to be a constant that is the pad of dst's type" },
	{ A3, PADDED("vec, 16x16xf32, valid=8x8, pad=1", BY_VALUE),
	  "requires pad_value for this pad_mode" },
	{ A3, PADDED("vec, 16x16xf32, valid=8x8, pad=1", "pad_value = %one : f32"),
	  "takes pad_value only with pad_mode PadValue" },
	{ A3, PADDED("vec, 16x16xf32, valid=8x8", "pad_mode = #pto<padmode PadFirstElem>"),
	  "cannot pad with the first element" },
	{ A3, PADDED("vec, 16x16xf32, valid=8x8", "left_padding_num = %c8 : index"),
	  "takes no left_padding_num other than 0" },
	{ A3, PADDED("vec, 16x16xf32, valid=8x8", "right_padding_num = %n : index"),
	  "takes no right_padding_num other than 0" },
	/* operations and attributes */
	{ A3, "    pto.tfoo ins(%n : index)\n", "unknown operation 'pto.tfoo'" },
	{ A3, "    pto.barrier <PIPE_X>\n", "unknown pipe 'PIPE_X'" },
	{ A3, T2(F32, F32) "    pto.texp ins(%t : " ANY ") outs(%u : " ANY ") {fast = true}\n",
	  "has no attribute 'fast'" },
	{ A3, T2(F32, "vec, 16x16xi8")
	  "    pto.tcmps ins(%t, %one {cmpMode = 1} : " ANY ", f32) outs(%u : " ANY ")\n",
	  "attribute 'cmpMode' must be #pto.cmp<...>" },
	{ A3, T1(F32) "    pto.texp ins(%t : " ANY ")\n",
	 "'pto.texp' op does not take these operands" },
	{ A3, "    %x = arith.addi %n, %n : i32\n", "%n has type index" },
	{ A3, "    %x = arith.addi %n, %i : index\n", "expects operands of one type" },
	{ A3, "    %x = arith.addi %f, %f : f32\n", "expects integer or index operands" },
	{ A3, "    %x = arith.addf %n, %n : index\n", "expects float operands" },
	{ A3, "    %x = arith.divsi %n, %c0 : index\n", "divides by zero" },
	{ A3, "    %x = arith.extsi %l : i64 to i32\n", "expects i32 to be wider than i64" },
	{ A3, "    %x = arith.constant 300 : i8\n", "300 does not fit i8" },
	{ A3, "    %x = arith.constant 1 : f32\n", "integer literal for a float type" },
	{ A3, "    %x = arith.addi %undefined, %n : index\n", "use of undefined value %undefined" },
	{ A3, "    %n = arith.constant 1 : index\n", "redefinition of %n" },
	{ A3, "    %x = arith.constant \"s\" : index\n", "expected a number" },
	/* views */
	{ A3, "    %x = pto.make_tensor_view %pf, shape = [%c16, %c16], strides = [%c16] : "
	      "!pto.tensor_view<?x?xf32>\n", "has 2 shape values but 1 strides" },
	{ A3, "    %x = pto.make_tensor_view %pf, shape = [%c16, %c16], strides = [%c16, %c1] : "
	      "!pto.tensor_view<?x?xf16>\n",
	  "expects the pointer's element type f32 to equal the view's f16" },
	{ A3, "    %x = pto.make_tensor_view %pf, shape = [%c16, %c16], strides = [%c16, %c1] : "
	      "!pto.tensor_view<?x?x?xf32>\n", "has 2 shape values for rank 3" },
	{ A3, PART("[%c8, %c16]", "16x16xf32"), "has size 8 in dimension 0, but its type says 16" },
	{ A3, PART("[%c64, %c16]", "64x16xf32"),
	  "goes beyond dimension 0: offset 0 plus size 64 exceeds 16" },
	/* tiles: case 48 and its relatives */
	{ A3, TILE("t", "vec, 16x16xf32, valid=?x16"),
	  "valid_row operand is required because result type v_row is ?" },
	{ A3, "    %t = pto.alloc_tile valid_col = %n : !pto.tile_buf<vec, 32x32xf32>\n",
	  "valid_col operand must be absent because result type v_col is 32" },
	{ A3, "    %t = pto.alloc_tile valid_row = %c64 valid_col = %c8 : "
	      "!pto.tile_buf<vec, 16x16xf32, valid=?x?>\n", "valid_row 64 is not within 0 to 16" },
	{ A3, T1("gm, 16x16xf32"), "cannot allocate a tile in gm" },
	{ A3, T1(F32) "    pto.set_validshape %t, %n, %n : " ANY "\n",
	  "expects a tile with dynamic validShape (?, ?)" },
	{ A3, T1(F32) "    %x = pto.treshape %t : " ANY " -> !pto.tile_buf<vec, 16x8xf32>\n",
	  "expects 1024 bytes, but the result has 512" },
	{ A3, T1(F32) "    %x = pto.subset %t[%c8, %c0] sizes [16, 16] : " ANY "\n",
	  "row offset 8 plus size 16 exceeds 16" },
	{ A3, T1("mat, 64x64xf16, blayout=col_major, slayout=row_major")
	  "    %x = pto.subset %t[%c8, %c0] sizes [16, 16] : " ANY "\n",
	  "row offset 8 is not a multiple of the inner box 16" },
	{ A3, T1(F32) "    %x = pto.subview %t[%c0, %c0] sizes [8, 8] valid [%n, %c8] : " ANY
	      " -> !pto.tile_buf<vec, 8x8xf32>\n", "expects valid rows of the result type to be ?"
	      },
	{ A3, T1(F32) "    %x = pto.tgetval ins(%t, %c0 : " ANY ", index) outs : f16\n",
	  "expects a value of the tile's element type f32" },
	/* loads and stores */
	{ A3, PART("[%c16, %c16]", "16x16xf32") T1("vec, 16x16xf16")
	  "    pto.tload ins(%p : !pto.partition_tensor_view<16x16xf32>) outs(%t : " ANY ")\n",
	  "expects src and dst elements of one size, not f32 and f16" },
	{ A3, PART("[%c16, %c16]", "16x16xf32") T1("left, 16x16xf32")
	  "    pto.tload ins(%p : !pto.partition_tensor_view<16x16xf32>) outs(%t : " ANY ")\n",
	  "expects dst to be in the vec or mat address space" },
	{ A3, PART("[%c8, %c16]", "8x16xf32") T1(F32)
	  "    pto.tstore ins(%t : " ANY ") outs(%p : !pto.partition_tensor_view<8x16xf32>)\n",
	  "expects dst static element count 128 to match src's valid 256" },
	{ A5, PART("[%c16, %c16]", "16x16xf32") T1("mat, 16x16xf32")
	  "    pto.tstore ins(%t : " ANY ") outs(%p : !pto.partition_tensor_view<16x16xf32>)\n",
	  "expects src to be in the vec or acc address space" },
	{ A3, PART("[%c16, %c16]", "16x16xf32") T2("acc, 16x16xf32", F32)
	  "    pto.tstore_fp ins(%t, %u : " ANY ", " ANY ") outs(%p : "
	  "!pto.partition_tensor_view<16x16xf32>)\n",
	  "expects fp to be in the scaling address space" },
	/* moves */
	{ A3, T2("vec, 16x16xf32", "left, 16x16xf32") UNARY("tmov"),
	  "does not move from vec to left on A2/A3" },
	{ A3, T2("vec, 16x16xf32", "vec, 8x16xf32") UNARY("tmov"),
	  "expects src and dst to have compatible shapes" },
	{ A3, T2("vec, 16x16xf32", "mat, 16x16xf32") UNARY("tmov"),
	  "does not move from vec to mat on A2/A3" },
	{ A3,
	 T2("mat, 32x32xf16, blayout=col_major, slayout=row_major",
	    "left, 16x16xf16, slayout=row_major")
	  "    pto.textract ins(%t, %c64, %c0 : " ANY ", index, index) outs(%u : " ANY ")\n",
	  "expects row offset 64 plus 16 to be within src's 32" },
	{ A5, T2("vec, 16x16xf32, blayout=col_major", "vec, 8x8xf32")
	  "    pto.textract ins(%t[%c0, %c0] : " ANY ") outs(%u : " ANY ")\n",
	  "expects A5 vec->vec textract src/dst to use ND layout (blayout=row_major, "
	  "slayout=none_box)" },
	{ A3, T2("acc, 16x16xf32", "mat, 16x16xf32")
	  "    pto.tinsert ins(%t, %c0, %c0 : " ANY ", index, index) outs(%u : " ANY ")\n",
	  "expects A2/A3 tinsert element types to be src=f32, dst=f16/bf16" },
	{ A5, T2("mat, 16x16xf32", "mat, 16x16xf32")
	  "    pto.tinsert ins(%t, %c0, %c0 : " ANY ", index, index) outs(%u : " ANY ")\n",
	  "expects A5 tinsert to use a supported src/dst loc pair: acc->mat, vec->mat, or "
	  "vec->vec" },
	{ A3, T2(F32, F32) UNARY("tfillpad"), "expects dst to have a pad value" },
	{ A3, T2("vec, 16x16xf16", "vec, 16x16xf16, pad=4295032832") UNARY("tfillpad"),
	  "expects the pad of dst to be the bits of one f16 element, not 0x10000" },
	{ A5, T2("left, 16x64xf32", "left, 16x64xf32") UNARY("tget_scale_addr"),
	  "expects dst to be in the scaling address space" },
	/* vector instructions: types, spaces, layouts, shapes */
	{ A3, T3("vec, 16x16xi8", "vec, 16x16xi8", "vec, 16x16xi8") BINARY("tadd"),
	  "expects src0 element type i8 to be i16/i32/f16/f32 on A2/A3" },
	{ A3, T3(F32, "vec, 16x16xf16", F32) BINARY("tadd"),
	  "expects all tiles to have one element type" },
	{ A3, T3(F32, "acc, 16x16xf32", F32) BINARY("tadd"),
	  "expects src1 to be in the vec address space, not in acc" },
	{ A3, T3("vec, 16x16xf32, blayout=col_major", F32, F32) BINARY("tadd"),
	  "expects src0, src1, and dst to use row-major layout" },
	{ A3, T3(F32, F32, "vec, 16x16xf32, valid=8x16") BINARY("tadd"),
	  "expects src0, src1, and dst to have the same valid_shape" },
	{ A3, T2(F32, "vec, 16x16xf32, valid=8x16") UNARY("texp"),
	  "expects src and dst to have the same valid_shape" },
	{ A3, T2(F32, F32) "    pto.tadds ins(%t, %i : " ANY ", i32) outs(%u : " ANY ")\n",
	  "expects scalar type i32 to match element type f32" },
	{ A3, T2("vec, 16x16xi8", "vec, 16x16xi8") UNARY("tnot"),
	  "expects src element type i8 to be i16 on A2/A3" },
	{ A3, T2(F32, "vec, 16x16xi8") UNARY("tcvt"), "does not convert f32 to i8 on A2/A3" },
	{ A3, T2(F32, "vec, 8x16xf16") UNARY("tcvt"),
	 "expects src and dst to have compatible shapes" },
	{ A3, T2(F32, "vec, 16x16xf16, valid=8x8") UNARY("tcvt"),
	  "expects src and dst to have the same valid_shape" },
	{ A3, T3(F32, F32, "vec, 16x16xi32") BINARY("tcmp"),
	 "expects dst element type i8, not i32" },
	{ A3, T2(F32, F32) UNARY("trowsum"), "expects dst to have valid column 1, not 16" },
	{ A3, T2("vec, 16x16xf32, valid=0x16", "vec, 16x8xf32, valid=0x1") UNARY("trowsum"),
	  "expects src to have a non-zero valid shape" },
	{ A3, T2(F32, "vec, 16x2xf32, valid=16x1, blayout=col_major") UNARY("trowmax"),
	  "expects dst to be row-major or to have one column" },
	{ A3, T2(F32, F32) UNARY("tcolmax"), "expects dst to have valid row 1, not 16" },
	{ A3, T3(F32, "vec, 16x16xf32, valid=8x1", F32) BINARY("trowexpandmul"),
	  "expects one source with dst's valid_shape and one row vector" },
	{ A3,
	 T2(F32,
	    "vec, 8x16xf32") "    pto.ttrans ins(%t, %t : " ANY ", " ANY ") outs(%u : " ANY ")\n",
	  "expects dst's valid_shape to be src's with rows and columns swapped" },
	{ A3, T3(F32, F32, "vec, 16x16xf32") BINARY("tconcat"),
	  "expects 16 and 16 columns to fit dst's 16" },
	/* matrix */
	{ A3, T3("left, 16x16xf16, slayout=row_major", "right, 32x16xf16, slayout=col_major",
		 "acc, 16x16xf32, blayout=col_major, slayout=row_major, "
		 "fractal=1024") BINARY("tmatmul"),
	  "expects the inner sizes to agree: a is 16x16, b is 32x16" },
	{ A3, T3("left, 16x16xf16", "right, 16x16xf16", "acc, 16x16xi32") BINARY("tmatmul"),
	  "does not multiply f16 by f16 into i32" },
	{ A3, T3("left, 16x16xf16", "right, 16x16xf16", "vec, 16x16xf32") BINARY("tmatmul"),
	  "expects dst to be in the acc address space, not in vec" },
	{ A3, T4("left, 16x16xf16", "right, 16x16xf16", "acc, 16x16xf32", "bias, 2x16xf32")
	  "    pto.tmatmul.bias ins(%t, %u, %w : " ANY ", " ANY ", " ANY ") outs(%v : " ANY ")\n",
	  "expects bias to be 1x16" },
	{ A3, T3("left, 16x64xf8E4M3FN", "scaling, 16x2x!pto.f8E8M0", "right, 64x16xf8E4M3FN")
	  TILE("s", "scaling, 2x16x!pto.f8E8M0") TILE("c", "acc, 16x16xf32")
	  "    pto.tmatmul.mx ins(%t, %u, %v, %s : " ANY ", " ANY ", " ANY ", " ANY ") outs(%c : "
	  ANY ")\n",
	  "tmatmul.mx is only supported on A5" },
	/* gather, sort, quantisation */
	{ A3, T3("vec, 16x16xi16", "vec, 16x16xi32", "vec, 1x16xi32")
	  "    pto.tgather ins(%t, %u, %t : " ANY ", " ANY ", " ANY ") outs(%v, %v : " ANY ", "
	  ANY ") "
	  "{cmpMode = #pto.cmp<gt>, offset = 0 : i32}\n",
	  "expects all tiles to have one element type" },
	{ A3, T2("vec, 16x16xi16", "vec, 1x16xi32") "    %s16 = arith.constant 3 : i16\n"
	  "    pto.tgather ins(%t, %s16, %t : " ANY ", i16, " ANY ") outs(%u, %u : " ANY ", "
	  ANY ") "
	  "{cmpMode = #pto.cmp<gt>, offset = 0 : i32}\n",
	  "expects A2/A3 compare-form tgather src element type to be f16/f32, or i32 when "
	  "cmpMode=eq" },
	{ A3, T2(F32, F32) UNARY("tgather"), "expects maskPattern when there is no index tile" },
	{ A3, T3(F32, "vec, 16x16xi16", F32)
	  "    pto.tscatter ins(%t, %u : " ANY ", " ANY ") outs(%v : " ANY ")\n",
	  "expects index element type i32 for f32" },
	{ A3, T3("vec, 1x32xi32", "vec, 1x32xui32", "vec, 1x64xi32")
	  "    pto.tsort32 ins(%t, %u : " ANY ", " ANY ") outs(%v : " ANY ")\n",
	  "expects src element type f16/f32, not i32" },
	{ A3, T3("vec, 16x16xf32", "vec, 16x1xf32, blayout=col_major", "vec, 16x16xui8")
	  "    pto.tquant ins(%t, %u : " ANY ", " ANY ") outs(%v : " ANY ") "
	  "{quant_type = #pto.quant_type<INT8_ASYM>}\n",
	  "INT8_ASYM quantization requires an offset operand" },
	{ A3, T3("vec, 16x16xf32", "vec, 16x1xf32, blayout=col_major", "vec, 16x16xi8")
	  "    pto.tquant ins(%t, %u, %u : " ANY ", " ANY ", " ANY ") outs(%v : " ANY ") "
	  "{quant_type = #pto.quant_type<INT8_SYM>}\n",
	  "INT8_SYM quantization must not have an offset operand" },
	{ A3, T3("vec, 16x16xf32", "vec, 16x1xf32, blayout=col_major", "vec, 16x16xi16")
	  "    pto.tquant ins(%t, %u : " ANY ", " ANY ") outs(%v : " ANY ") "
	  "{quant_type = #pto.quant_type<INT8_SYM>}\n",
	  "expects dst element type i8 for INT8_SYM quantization" },
	{ A3, T3("vec, 1x16xui32", "vec, 1x16xui32", "vec, 1x256xui32") BINARY("thistogram"),
	  "thistogram is only supported on A5" },
	{ A5, T1("vec, 16x16xi32")
	  "    pto.trandom ins(%i, %i, %i, %i, %i, %i {rounds = 8 : i32} : i32, i32, i32, i32, "
	  "i32, i32) "
	  "outs(%t : " ANY ")\n", "expects rounds to be 7 or 10, not 8" },
	/* control flow */
	{ A3, "    scf.for %x = %c0 to %n step %c0 {\n    }\n", "has a step of zero" },
	{ A3, "    %r = scf.for %x = %c0 to %n step %c1 iter_args(%y = %f) -> (f32) {\n    }\n",
	  "has 1 results, but a region yields 0" },
	{ A3, "    %r = scf.if %b -> (f32) {\n      scf.yield %f : f32\n    }\n",
	  "has results, so it needs an else" },
	{ A3, "    scf.if %i {\n    }\n", "expects an i1 condition" },
	{ A3, "    func.call @nobody(%n) : (index) -> ()\n",
	 "calls @nobody, which does not exist" },
	{ A3, "    scf.if %b {\n      return\n    }\n",
	 "expects every region to end with scf.yield" },
	{ A3, "    return\n", "must be the last line of its block" },
	/* pipes, buffers, synchronisation */
	{ A3, T1(F32) "    pto.tpush_to_aic(%t : " ANY ") {split = 0}\n",
	  "must be inside a section or a function with kernel_kind" },
	{ A3,
	 T1(F32) "    pto.section.vector {\n    pto.tpush_to_aic(%t : " ANY ") {split = 3}\n    "
	 "}\n",
	  "expects split to be 0, 1 or 2, not 3" },
	{ A3,
	 T1(F32) "    pto.section.cube {\n    pto.tpush_to_aic(%t : " ANY ") {split = 0}\n    }\n",
	  "cannot run on the cube side" },
	{ A3, "    pto.section.vector {\n    %x = pto.tpop_from_aic (%n, %n) {split = 0} -> "
	      "!pto.tile_buf<vec, 16x16xf32>\n    }\n",
	  "expects tile result to have dynamic validShape (?, ?) when valid_row/valid_col operands "
	  "are provided" },
	{ A3,
	 "    %r = pto.reserve_buffer {name = \"a\", size = 64, location = "
	 "#pto.address_space<vec>, "
	      "auto = false} -> i32\n", "expects 'base' when 'auto' is false" },
	{ A3,
	 "    %r = pto.reserve_buffer {name = \"a\", size = 64, location = "
	 "#pto.address_space<vec>, "
	      "auto = true, base = 0} -> i32\n", "expects 'base' to be absent when 'auto' is true"
	      },
	{ A3,
	 "    %r = pto.reserve_buffer {name = \"a\", size = 64, location = "
	 "#pto.address_space<vec>, "
	      "auto = false, base = 32} -> i32\n",
	  "expects 'base' to satisfy the address-space alignment" },
	{ A3,
	 "    %r = pto.reserve_buffer {name = \"a\", size = 64, location = "
	 "#pto.address_space<vec>, "
	      "auto = true} -> i32\n"
	      "    %s = pto.reserve_buffer {name = \"b\", size = 64, location = "
	      "#pto.address_space<vec>, "
	      "auto = true} -> i32\n", "expects at most one pto.reserve_buffer per function" },
	{ A5, "    pto.sync.set <PIPE_V>, 0\n", "expects PIPE_FIX or PIPE_MTE3 on A5, not PIPE_V" },
};

/* The message without "'pto.x' op ". */
static const char *bare(const char *text)
{
	const char *op = text[0] == '\'' ? strstr(text, "' op ") : NULL;

	return op ? op + 5 : text;
}

static bool is_refused(enum pto_arch arch, const char *body, const char *message)
{
	struct program p;
	bool ok;

	program_body(&p, arch, body);
	ok = program_verify(&p) &&
	     (!strncmp(bare(program_error(&p)), message, strlen(message)) ||
	      !strncmp(program_error(&p), message, strlen(message))) &&
	     p.diags.first->line > BODY_HEAD_LINES && p.diags.first->col > 0;
	if (!ok) {
		program_show(&p);
		print_error("wanted: %s\nhave:   %s\n", message, program_error(&p));
	}
	program_end(&p);
	return ok;
}

static void each_rule_refuses_its_program_with_its_words(void **state)
{
	unsigned int failures = 0;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		failures += !is_refused(refused[i].arch, refused[i].body, refused[i].message);
	assert_int_equal(failures, 0);
}

static void a_load_pads_with_what_its_tile_says(void **state)
{
	static const char *const bodies[] = {
		"    %z = arith.constant 0.0 : f32\n"
		PADDED("vec, 16x16xf32, valid=8x8, pad=1", BY_VALUE "pad_value = %z : f32"),
		"    %z = arith.constant 0xFF800000 : f32\n"
		PADDED("vec, 16x16xf32, valid=8x8, pad=3", BY_VALUE "pad_value = %z : f32"),
		PADDED("vec, 8x8xf32", BY_VALUE "pad_value = %one : f32"), /* nothing to pad */
		PADDED("vec, 16x16xf32, valid=8x8", "pad_mode = #pto<padmode PadNull>"),
		PADDED("vec, 16x16xf32, valid=8x8", "left_padding_num = %c0 : index"),
	};
	struct program p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		program_body(&p, A3, bodies[i]);
		if (program_verify(&p)) {
			program_show(&p);
			fail_msg("program %zu is refused", i);
		}
		program_end(&p);
	}
}

static void errors_of_a_module_are_all_reported_in_source_order(void **state)
{
	struct program p;
	const struct pto_diag *d;
	uint32_t line = 0;

	(void)state;
	program_body(&p, PTO_ARCH_A3, "    %x = arith.addf %n, %n : index\n"
				      "    scf.if %b {\n"
				      "      %y = arith.addf %n, %n : index\n"
				      "    }\n"
				      "    %z = arith.divsi %n, %c0 : index\n");
	assert_int_not_equal(program_verify(&p), 0);
	assert_int_equal(p.diags.errors, 3);
	for (d = p.diags.first; d; d = d->next) {
		assert_true(d->line > line);
		line = d->line;
	}
	program_end(&p);
}

static void more_errors_than_the_limit_are_only_counted(void **state)
{
	char body[64 * 100] = "", line[64];
	struct program p;
	const struct pto_diag *d;
	unsigned int n = 0, i;

	(void)state;
	for (i = 0; i < 90; i++) {
		snprintf(line, sizeof(line), "    %%x%u = arith.addf %%n, %%n : index\n", i);
		strcat(body, line);
	}
	program_body(&p, PTO_ARCH_A3, body);
	assert_int_not_equal(program_verify(&p), 0);
	for (d = p.diags.first; d; d = d->next)
		n++;
	assert_int_equal(p.diags.errors, 90);
	assert_int_equal(n, p.diags.limit);
	program_end(&p);
}

static void module_errors(enum pto_arch arch, const char *text, const char *message)
{
	struct program p;

	program_parse(&p, arch, text);
	if (!program_verify(&p) || !strstr(program_error(&p), message)) {
		program_show(&p);
		fail_msg("wanted: %s\nhave:   %s", message, program_error(&p));
	}
	program_end(&p);
}

static void files_and_functions_with_errors_are_refused(void **state)
{
	(void)state;
	module_errors(A3, "module {\n  func.func @a() {\n    return\n  }\n  func.func @a() {\n"
			  "    return\n  }\n}\n", "redefinition of function @a");
	module_errors(A3, "module {\n  func.func @a() {\n  }\n}\n",
		      "expects its last block to end with return");
	module_errors(A3, "module {\n  func.func @a() -> i32 attributes {pto.entry} {\n"
			  "    %x = arith.constant 1 : i32\n    return %x : i32\n  }\n}\n",
		      "PTO entry functions must return void");
	module_errors(A3,
		      "module {\n  func.func @a() attributes {pto.auto_sync_tail_hint = \"no\"} {\n"
			  "    return\n  }\n}\n",
		      "invalid pto.auto_sync_tail_hint 'no'. Expected 'barrier-all' (or "
		      "'default') or "
		      "'mte3-to-s-event0'.");
	module_errors(A3, "module {\n", "expected '}', not the end of the file");
	module_errors(A3, "module {\n} module {\n}\n", "text behind the end of the module");
	module_errors(A3, "hello", "expected 'func.func', not 'hello'");
	module_errors(A3, "module {\n  func.func @a(%x: index, %x: index) {\n    return\n  }\n}\n",
		      "redefinition of %x");
	module_errors(A3, "module {\n  func.func @a() {\n    cf.br ^nowhere\n  }\n}\n",
		      "block ^nowhere is not defined");
	module_errors(A3, "module {\n  func.func @a() {\n    return \x01\n  }\n}\n",
		      "expected an operation");
}

static void nesting_beyond_the_limit_is_an_error(void **state)
{
	size_t depth = 2 * PTO_MAX_DEPTH, i;
	struct pto_text t = { 0 };
	struct program p;

	(void)state;
	pto_text_str(&t, "module {\n  func.func @a(%b: i1) {\n");
	for (i = 0; i < depth; i++)
		pto_text_str(&t, "scf.if %b {\n");
	program_parse(&p, A3, t.data);
	assert_null(p.m);
	assert_non_null(strstr(program_error(&p), "nested more than 128 levels deep"));
	program_end(&p);
	t.size = 0;
	pto_text_str(&t, "module attributes {a = ");
	for (i = 0; i < depth; i++)
		pto_text_char(&t, '[');
	program_parse(&p, A3, t.data);
	assert_null(p.m);
	assert_non_null(strstr(program_error(&p), "nested more than 128 levels deep"));
	program_end(&p);
	pto_text_free(&t);
}

static void every_prefix_of_a_program_is_refused_without_harm(void **state)
{
	static const char text[] =
		"module attributes {pto.target_arch = \"a5\"} {\n" BODY_HEAD
		"    %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32, pad=1>\n"
		"    pto.tadds ins(%t, %one : !pto.tile_buf<vec, 16x16xf32, pad=1>, f32) "
		"outs(%t : !pto.tile_buf<...>) loc(\"a.py\":1:2)\n"
		"    %r = scf.for %x = %c0 to %n step %c1 iter_args(%y = %f) -> (f32) {\n"
		"      scf.yield %y : f32\n    }\n    return\n  }\n}";
	struct pto_diags d;
	struct pto_module *m;
	size_t n;

	(void)state;
	for (n = 0; n <= strlen(text); n++) {
		pto_diags_init(&d);
		m = pto_parse("t.pto", text, n, NULL, &d);
		/* nothing is an empty module */
		assert_int_equal(m != NULL, n == 0 || n == strlen(text));
		assert_int_equal(d.errors, m ? 0 : 1);
		pto_module_free(m);
		pto_diags_fini(&d);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_refuses_its_program_with_its_words),
		cmocka_unit_test(a_load_pads_with_what_its_tile_says),
		cmocka_unit_test(errors_of_a_module_are_all_reported_in_source_order),
		cmocka_unit_test(more_errors_than_the_limit_are_only_counted),
		cmocka_unit_test(files_and_functions_with_errors_are_refused),
		cmocka_unit_test(nesting_beyond_the_limit_is_an_error),
		cmocka_unit_test(every_prefix_of_a_program_is_refused_without_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
