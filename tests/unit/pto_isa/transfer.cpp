// SPDX-License-Identifier: MIT
/* TLOAD, TSTORE, TPREFETCH, TMOV, TEXTRACT, TINSERT (pto-isa §4.1). */
#include "element.hpp"

using namespace check;

namespace
{

using loadable = type_list<int8_t, half, bfloat16_t, uint16_t, float, int32_t, int64_t>;

/* Memory with a margin on both sides that must stay as it is. */
template <typename T>
struct memory {
	std::vector<T> all, before;
	static constexpr size_t margin = 64;

	memory(context &t, size_t n) : all(n + 2 * margin)
	{
		for (auto &v : all)
			v = random_value<T>(t, true);
		before = all;
	}
	T *data()
	{
		return all.data() + margin;
	}
	/* True when exactly the elements that @inside names may differ. */
	template <typename F>
	bool kept(context &t, const char *what, const F &inside)
	{
		for (size_t i = 0; i < all.size(); i++) {
			const int64_t at = int64_t(i) - int64_t(margin);

			if ((at < 0 || !inside(at)) && !t.expect(raw(all[i]) == raw(before[i]),
								 "%s: memory element %lld changed",
								 what, static_cast<long long>(at)))
				return false;
		}
		return true;
	}
};

template <typename GT>
int64_t offset_of(const GT &g, const int (&i)[5])
{
	int64_t o = 0;

	for (int d = 0; d < 5; d++)
		o += i[d] * g.GetStride(d);
	return o;
}

/* Position in the tile of a tensor element, by the shape rules of §4.1. */
template <typename GT>
void tile_position(const GT &g, const int (&i)[5], bool side, int &r, int &c)
{
	const int s1 = int(g.GetShape(1)), s2 = int(g.GetShape(2)), s3 = int(g.GetShape(3)),
		  s4 = int(g.GetShape(4));

	if (GT::layout == Layout::NZ) {
		r = i[2] * s3 + i[3];
		c = (i[0] * s1 + i[1]) * s4 + i[4];
	} else if (side) {
		r = i[3];
		c = ((i[0] * s1 + i[1]) * s2 + i[2]) * s4 + i[4];
	} else {
		r = ((i[0] * s1 + i[1]) * s2 + i[2]) * s3 + i[3];
		c = i[4];
	}
}

template <typename GT, typename F>
void each_element(const GT &g, const F &f)
{
	int i[5];

	for (i[0] = 0; i[0] < g.GetShape(0); i[0]++)
		for (i[1] = 0; i[1] < g.GetShape(1); i[1]++)
			for (i[2] = 0; i[2] < g.GetShape(2); i[2]++)
				for (i[3] = 0; i[3] < g.GetShape(3); i[3]++)
					for (i[4] = 0; i[4] < g.GetShape(4); i[4]++)
						f(i);
}

/* Loads, checks tile and padding, stores elsewhere, checks memory. */
template <typename Tl, typename GT>
bool round_trip(context &t, const char *what, Tl tile, GT g, bool side, size_t span)
{
	using T = typename Tl::DType;
	place at;
	memory<T> in(t, span), out(t, span);
	std::vector<bool> written(span);

	covers(t, "TLOAD", tile), covers(t, "TSTORE", tile);
	at.put(tile);
	fill(t, tile);
	g.SetAddr(in.data());
	TLOAD(tile, g);
	std::vector<bool> inside(Tl::Extent);
	each_element(g, [&](const int(&i)[5]) {
		int r, c;

		tile_position(g, i, side, r, c);
		inside[spec_offset<Tl>(r, c)] = true;
		written[size_t(offset_of(g, i))] = true;
		t.expect(raw(now(tile, r, c)) == raw(in.data()[offset_of(g, i)]),
			 "%s %s: TLOAD element (%d, %d)", what, type_name<T>(), r, c);
	});
	const uint64_t pad = raw(pad_element<T>(Tl::PadVal));
	for (size_t i = 0; i < Tl::Extent; i++)
		if (!inside[i])
			t.expect(raw(tile.data()[i]) == pad, "%s %s: box element %zu is not padded",
				 what, type_name<T>(), i);
	g.SetAddr(out.data());
	TSTORE(g, tile);
	each_element(g, [&](const int(&i)[5]) {
		t.expect(raw(out.data()[offset_of(g, i)]) == raw(in.data()[offset_of(g, i)]),
			 "%s %s: TSTORE element %lld", what, type_name<T>(),
			 static_cast<long long>(offset_of(g, i)));
	});
	return out.kept(t, what, [&](int64_t a) {
		return size_t(a) < span && written[size_t(a)];
	}) && !t.bad;
}

template <typename T>
bool layouts_of(context &t)
{
	using Any = pto::Shape<-1, -1, -1, -1, -1>;
	using AnyStride = pto::Stride<-1, -1, -1, -1, -1>;
	using Nd = GlobalTensor<T, Any, AnyStride, Layout::ND>;
	using DN = GlobalTensor<T, Any, AnyStride, Layout::DN>;
	using NZ = GlobalTensor<T, Any, AnyStride, Layout::NZ>;
	constexpr int c0 = 32 / int(sizeof(T));
	using MatNz = Tile<TileType::Mat, T, 32, 64, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
	using MatZn = Tile<TileType::Mat, T, 64, 32, BLayout::RowMajor, -1, -1, SLayout::ColMajor>;
	using Fixed = GlobalTensor<T, pto::Shape<1, 1, 1, 8, 32>, pto::Stride<1, 1, 1, 32, 1>>;

	return round_trip(t, "ND whole", Full<T, 8, 32>(), Fixed(nullptr), false, 256) &&
	       round_trip(t, "ND pitched", Part<T, 8, 64>(7, 43),
			  Nd(nullptr, Any(1, 1, 1, 7, 43), AnyStride(700, 700, 700, 50, 1)), false,
			  700) &&
	       round_trip(t, "ND strided", Part<T, 8, 64>(7, 11),
			  Nd(nullptr, Any(1, 1, 1, 7, 11), AnyStride(1, 1, 1, 50, 3)), false,
			  700) &&
	       round_trip(t, "ND 5-D", Part<T, 32, 64>(24, 11),
			  Nd(nullptr, Any(2, 1, 3, 4, 11), AnyStride(500, 500, 120, 20, 1)), false,
			  1000) &&
	       round_trip(t, "DN", Dn<T, 32, 8>(29, 7),
			  DN(nullptr, Any(1, 1, 1, 29, 7), AnyStride(1, 1, 1, 1, 40)), true, 300) &&
	       round_trip(t, "DN 3-D", Dn<T, 32, 8>(29, 6),
			  DN(nullptr, Any(1, 1, 2, 29, 3), AnyStride(1, 1, 150, 1, 40)), true,
			  400) &&
	       round_trip(t, "ND to Nz", MatNz(29, 43),
			  Nd(nullptr, Any(1, 1, 1, 29, 43), AnyStride(1, 1, 1, 50, 1)), false,
			  1500) &&
	       round_trip(t, "ND to Nz whole", MatNz(32, 64),
			  Nd(nullptr, Any(1, 1, 1, 32, 64), AnyStride(1, 1, 1, 64, 1)), false,
			  2048) &&
	       round_trip(t, "DN to Zn", MatZn(43, 29),
			  DN(nullptr, Any(1, 1, 1, 43, 29), AnyStride(1, 1, 1, 1, 50)), true,
			  1500) &&
	       round_trip(t, "NZ", MatNz(32, 64),
			  NZ(nullptr, Any(1, 64 / c0, 2, 16, c0),
			     AnyStride(2048, 32 * c0, 16 * c0, c0, 1)),
			  false, 2048);
}
template <typename... T>
void layouts_all(context &t, type_list<T...>)
{
	(void)(layouts_of<T>(t) && ...);
}

template <typename T, PadValue P>
void load_padded(context &t)
{
	using Tl =
		Tile<TileType::Vec, T, 16, 32, BLayout::RowMajor, 10, 20, SLayout::NoneBox, 512, P>;
	using G = GlobalTensor<T, pto::Shape<1, 1, 1, 10, 20>, pto::Stride<1, 1, 1, 20, 1>>;

	round_trip(t, "padded", Tl(), G(nullptr), false, 200);
}

using Acc = Tile<TileType::Acc, float, 32, 48, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 1024>;
using IAcc =
	Tile<TileType::Acc, int32_t, 32, 48, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 1024>;
template <typename T>
using Out = GlobalTensor<T, pto::Shape<1, 1, 1, 29, 43>, pto::Stride<1, 1, 1, 50, 1>>;

template <bool Relu, typename D, typename A>
double stored(const A &acc, int r, int c)
{
	const double v = double(wide(now(acc, r, c)));

	return Relu && v < 0 ? 0.0 : is_float_like_v<D> ? to_type<D>(v) : v;
}

template <bool Relu, typename D, typename A, typename Call>
bool store_acc(context &t, const char *what, const Call &call)
{
	place at;
	A acc(29, 43);
	memory<D> out(t, 1500);
	Out<D> g(out.data());

	at.put(acc);
	fill(t, acc, false);
	call(g, acc);
	for (int r = 0; r < 29; r++)
		for (int c = 0; c < 43; c++)
			if (!matches(t, what, r, c, out.data()[r * 50 + c],
				     stored<Relu, D>(acc, r, c)))
				return false;
	return out.kept(t, what, [](int64_t i) { return i < 29 * 50 && i % 50 < 43; });
}

/* Copies between tiles, from (sr, sc) of the source to (dr, dc) of the destination. */
template <typename D, typename S, typename Call>
bool moved(context &t, const char *op, const char *what, D d, S s, int dr, int dc, int sr, int sc,
	   int rows, int cols, const Call &call)
{
	place at;

	covers(t, op, d);
	at.put(d), at.put(s);
	fill(t, d, false), fill(t, s, false);
	const auto before = copy_of(d);

	call(d, s);
	for (int r = 0; r < D::Rows; r++)
		for (int c = 0; c < D::Cols; c++) {
			const bool in = r >= dr && r < dr + rows && c >= dc && c < dc + cols;
			const auto old = before[spec_offset<D>(r, c)];

			if (!in) {
				if (!t.expect(raw(now(d, r, c)) == raw(old),
					      "%s: element (%d, %d) changed", what, r, c))
					return false;
			} else if (!matches(t, what, r, c, now(d, r, c),
					    expected<typename D::DType>(
						    wide(now(s, sr + r - dr, sc + c - dc))))) {
				return false;
			}
		}
	return true;
}

template <TileType L, typename T, int R, int C>
using BoxNz = Tile<L, T, R, C, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
template <TileType L, typename T, int R, int C>
using BoxZn = Tile<L, T, R, C, BLayout::RowMajor, -1, -1, SLayout::ColMajor>;
template <TileType L, typename T, int R, int C>
using BoxZz = Tile<L, T, R, C, BLayout::RowMajor, -1, -1, SLayout::RowMajor>;
template <TileType L, typename T, int R, int C>
using BoxNn = Tile<L, T, R, C, BLayout::ColMajor, -1, -1, SLayout::ColMajor>;

constexpr auto none = AtomicType::AtomicNone;
constexpr auto plain = ReluPreMode::NoRelu;
constexpr auto relu = ReluPreMode::NormalRelu;
constexpr auto last = STPhase::Final;

#define MOVE [](auto &d, const auto &s) { TMOV(d, s); }

template <typename T>
bool moves_of(context &t)
{
	constexpr auto M = TileType::Mat;
	const auto mat = BoxNz<M, T, 64, 64>(43, 61);

	return moved(t, "TMOV", "Mat to Left", BoxNz<TileType::Left, T, 64, 64>(43, 61), mat, 0, 0,
		     0, 0, 43, 61, MOVE) &&
	       moved(t, "TMOV", "Mat to Left, Zz", BoxZz<TileType::Left, T, 64, 64>(43, 61), mat, 0,
		     0, 0, 0, 43, 61, MOVE) &&
	       moved(t, "TMOV", "Mat to Right", BoxZn<TileType::Right, T, 64, 64>(43, 61), mat, 0,
		     0, 0, 0, 43, 61, MOVE) &&
	       moved(t, "TMOV", "Mat to Nn", BoxNn<TileType::Right, T, 64, 64>(43, 61), mat, 0, 0,
		     0, 0, 43, 61, MOVE) &&
	       moved(t, "TMOV", "Zn to Zn", BoxZn<TileType::Right, T, 64, 64>(43, 61),
		     BoxZn<M, T, 64, 64>(43, 61), 0, 0, 0, 0, 43, 61, MOVE) &&
	       moved(t, "TMOV", "Vec to Vec", Part<T, 64, 64>(43, 61), Part<T, 64, 96>(43, 61), 0,
		     0, 0, 0, 43, 61, MOVE) &&
	       moved(t, "TMOV", "Vec to Mat", BoxNz<M, T, 64, 64>(43, 61), Part<T, 64, 64>(43, 61),
		     0, 0, 0, 0, 43, 61, MOVE) &&
	       moved(t, "TMOV", "Mat to Vec", Part<T, 64, 64>(43, 61), mat, 0, 0, 0, 0, 43, 61,
		     MOVE) &&
	       moved(t, "TEXTRACT", "TEXTRACT", BoxZn<TileType::Right, T, 32, 32>(29, 30), mat, 0,
		     0, 13, 31, 29, 30, [](auto &d, const auto &s) { TEXTRACT(d, s, 13, 31); }) &&
	       moved(t, "TEXTRACT", "TEXTRACT Left", BoxZz<TileType::Left, T, 32, 32>(16, 32), mat,
		     0, 0, 16, 16, 16, 32,
		     [](auto &d, const auto &s) { TEXTRACT(d, s, 16, 16); }) &&
	       moved(t, "TINSERT", "TINSERT", BoxNz<M, T, 64, 64>(64, 64), Part<T, 32, 32>(29, 30),
		     17, 5, 0, 0, 29, 30, [](auto &d, const auto &s) { TINSERT(d, s, 17, 5); });
}
template <typename... T>
void moves_all(context &t, type_list<T...>)
{
	(void)(moves_of<T>(t) && ...);
}

} // namespace

CHECK(tload_and_tstore_follow_every_layout)
{
	layouts_all(t, loadable());
}
CHECK(tload_pads_the_box)
{
	load_padded<float, PadValue::Null>(t), load_padded<float, PadValue::Zero>(t),
		load_padded<float, PadValue::Min>(t);
	load_padded<int32_t, PadValue::Min>(t), load_padded<int32_t, PadValue::Max>(t),
		load_padded<half, PadValue::Max>(t);
}
CHECK(tload_into_a_window_leaves_the_rest_of_the_box)
{
	place at;
	Part<float, 16, 64> whole(16, 64), window(5, 9);
	std::vector<float> in(5 * 9, 3.0f);
	GlobalTensor<float, pto::Shape<1, 1, 1, 5, 9>, pto::Stride<1, 1, 1, 9, 1>> g(in.data());

	at.put(whole);
	fill(t, whole, false);
	const auto before = copy_of(whole);

	TSUBVIEW(window, whole, 7, 20);
	TLOAD(window, g);
	for (int r = 0; r < 16; r++)
		for (int c = 0; c < 64; c++) {
			const bool in_window = r >= 7 && r < 12 && c >= 20 && c < 29;

			if (!t.expect(now(whole, r, c) ==
					      (in_window ? 3.0f : before[size_t(r * 64 + c)]),
				      "element (%d, %d)", r, c))
				return;
		}
}
CHECK(tprefetch_changes_nothing)
{
	place at;
	Full<float, 8, 8> a;
	float in[64] = {};
	GlobalTensor<float, pto::Shape<1, 1, 1, 8, 8>, pto::Stride<1, 1, 1, 8, 1>> g(in);

	at.put(a);
	fill(t, a);
	const auto before = copy_of(a);
	covers(t, "TPREFETCH", a);
	TPREFETCH(a, g);
	untouched(t, "TPREFETCH", a, before, 0, 0);
}
CHECK(tstore_converts_the_accumulator)
{
	const auto store = [](auto &g, auto &a) { TSTORE(g, a); };

	(void)(store_acc<false, float, Acc>(t, "f32 to f32", store) &&
	       store_acc<false, half, Acc>(t, "f32 to f16", store) &&
	       store_acc<false, bfloat16_t, Acc>(t, "f32 to bf16", store) &&
	       store_acc<false, int32_t, IAcc>(t, "i32 to i32", store));
}
CHECK(tstore_has_all_its_template_forms)
{
	(void)(store_acc<false, float, Acc>(t, "phase",
					    [](auto &g, auto &a) { TSTORE<last>(g, a); }) &&
	       store_acc<false, float, Acc>(
		       t, "atomic",
		       [](auto &g, auto &a) { TSTORE<Acc, Out<float>, none>(g, a); }) &&
	       store_acc<false, float, Acc>(
		       t, "phase, atomic",
		       [](auto &g, auto &a) { TSTORE<last, Acc, Out<float>, none>(g, a); }) &&
	       store_acc<true, float, Acc>(
		       t, "relu",
		       [](auto &g, auto &a) { TSTORE<Acc, Out<float>, none, relu>(g, a); }) &&
	       store_acc<true, half, Acc>(
		       t, "relu f16",
		       [](auto &g, auto &a) { TSTORE<last, Acc, Out<half>, none, relu>(g, a); }) &&
	       store_acc<true, int32_t, IAcc>(t, "relu i32", [](auto &g, auto &a) {
		       TSTORE<IAcc, Out<int32_t>, none, relu>(g, a);
	       }));
}
CHECK(tstore_quantises_by_a_scalar)
{
	place at;
	Acc acc(29, 43);
	std::vector<int8_t> s8(1500);
	std::vector<uint8_t> u8(1500);
	Out<int8_t> gs(s8.data());
	Out<uint8_t> gu(u8.data());
	const float scale = 3.25f;
	uint32_t scale_bits;

	at.put(acc);
	fill(t, acc, false);
	memcpy(&scale_bits, &scale, 4);
	const uint64_t word = scale_bits | uint64_t(0x1ff & -7) << 37;

	TSTORE<Acc, Out<int8_t>, none, plain>(gs, acc, word | uint64_t(1) << 46);
	TSTORE<Acc, Out<uint8_t>, none, plain>(gu, acc, word);
	for (int r = 0; r < 29; r++)
		for (int c = 0; c < 43; c++) {
			const double v = std::nearbyint(double(now(acc, r, c) * scale - 7.0f));

			if (!matches(t, "i8", r, c, s8[size_t(r * 50 + c)],
				     int64_t(v < -128  ? -128
					     : v > 127 ? 127
						       : v)) ||
			    !matches(t, "u8", r, c, u8[size_t(r * 50 + c)],
				     int64_t(v < 0     ? 0
					     : v > 255 ? 255
						       : v)))
				return;
		}
}
CHECK(tstore_adds_atomically)
{
	place at;
	Acc acc(29, 43);
	Part<half, 32, 48> h(29, 43);
	Part<int32_t, 32, 48> n(29, 43);
	std::vector<float> f(1500, 1.5f);
	std::vector<half> hm(1500, half(1.5f));
	std::vector<int32_t> im(1500, 7);
	Out<float> gf(f.data());
	Out<half> gh(hm.data());
	Out<int32_t> gi(im.data());

	at.put(acc), at.put(h), at.put(n);
	fill(t, acc, false), fill(t, h, false), fill(t, n, false);
	for (int i = 0; i < 2; i++) {
		TSTORE<Acc, Out<float>, AtomicType::AtomicAdd>(gf, acc);
		TSTORE<decltype(h), Out<half>, AtomicType::AtomicAdd>(gh, h);
		TSTORE<decltype(n), Out<int32_t>, AtomicType::AtomicAdd>(gi, n);
	}
	for (int r = 0; r < 29; r++)
		for (int c = 0; c < 50; c++) {
			const bool in = c < 43;
			const float x = in ? now(acc, r, c) : 0;
			const double y = in ? double(float(now(h, r, c))) : 0;
			const size_t i = size_t(r * 50 + c);

			if (!matches(t, "f32", r, c, f[i], double(float(float(1.5f + x) + x))) ||
			    !matches(t, "f16", r, c, hm[i],
				     to_type<half>(to_type<half>(1.5 + y) + y)) ||
			    !matches(t, "i32", r, c, im[i],
				     int64_t(7 + 2 * (in ? now(n, r, c) : 0))))
				return;
		}
}
CHECK(tmov_textract_and_tinsert_convert_layouts)
{
	moves_all(t, loadable());
}
CHECK(tmov_converts_the_accumulator)
{
	using A = Acc;
	using V = Part<half, 32, 48>;
	using F = Part<float, 32, 48>;
	using M = BoxNz<TileType::Mat, bfloat16_t, 32, 48>;

	(void)(moved(t, "TMOV", "Acc to Vec f16", V(29, 43), A(29, 43), 0, 0, 0, 0, 29, 43, MOVE) &&
	       moved(t, "TMOV", "Acc to Vec f32", F(29, 43), A(29, 43), 0, 0, 0, 0, 29, 43,
		     [](auto &d, const auto &s) {
			     TMOV<F, A, AccToVecMode::SingleModeVec0, ReluPreMode::NoRelu>(d, s);
		     }) &&
	       moved(t, "TMOV", "Acc to Mat bf16", M(29, 43), A(29, 43), 0, 0, 0, 0, 29, 43,
		     MOVE) &&
	       moved(t, "TEXTRACT", "Acc to Mat TEXTRACT", M(16, 20), A(29, 43), 0, 0, 9, 17, 16,
		     20, [](auto &d, const auto &s) { TEXTRACT(d, s, 9, 17); }) &&
	       moved(t, "TINSERT", "Acc to Mat TINSERT", M(32, 48), A(13, 20), 16, 9, 0, 0, 13, 20,
		     [](auto &d, const auto &s) { TINSERT(d, s, 16, 9); }));
	place at;
	F d(29, 43);
	A s(29, 43);

	at.put(d), at.put(s);
	fill(t, s, false);
	TMOV<F, A, ReluPreMode::NormalRelu>(d, s);
	for (int r = 0; r < 29; r++)
		for (int c = 0; c < 43; c++)
			matches(t, "TMOV relu", r, c, now(d, r, c), stored<true, float>(s, r, c));
}

#include "exports.hpp"
