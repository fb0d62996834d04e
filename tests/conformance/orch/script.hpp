// SPDX-License-Identifier: MIT
/*
 * Orchestrations that read what they do from a text, so that a test can state
 * its whole scenario in one line.  Statements are separated by ';':
 *
 *	hold T arg…	task T that completes only after a release
 *	stamp T arg…	task T that completes at once
 *	release T arg…	task T that lets the held ones complete
 *	keep T arg…	task T that never completes
 *	fill T out:v	task T that sets all elements to its number
 *	assign T in:v out:w	task T that copies elements
 *	increment T io:v	task T that adds 1 to all elements
 *	dummy T arg…	task T without a kernel
 *	many N stamp …	the statement N times
 *	make t R	make_tensor of R rows
 *	alloc t R	alloc_tensors of R rows
 *	view t v	t is the view v
 *	alias t R	t is made anew over the memory of x from row R on
 *	scope, manual, end
 *	repeat N [ … ]	what is between the brackets N times; does not nest
 *	get T v		element access at the first element of v, then a start and the value are noted for T
 *	set T v		the same for a write (of 7)
 *	mark T		a start is noted for T
 *
 * Tasks are capital letters or numbers from 26 on; tensors are small letters,
 * of which x and y are the entry's.  Tensors have four columns of floats.
 * Arguments: in:v io:v out:v nd:v (add_no_dep) new:t (TensorCreateInfo),
 * dep:T wait:T ret:T none:T (an explicit dependency of that kind), early, if:v
 * (a predicate: the first element of v is not 0).
 * Dependences on T may be named "A-Z", a range; task "?" is invalid and "+" one
 * that does not exist yet.
 *
 * A view is t, t[r0:r1] or t[r0:r1,c0:c1], then any of ' (transposed),
 * = (reshaped to one dimension), ~ (of another element type), ! (manual_dep),
 * @n (version n).
 */
#ifndef TESTS_SCRIPT_HPP
#define TESTS_SCRIPT_HPP

#include <stdlib.h>
#include <string.h>

#include "pto_orchestration_api.h"

namespace script {

enum { COLUMNS = 4, LOG_WORDS = 2048, LOG_STAMPS = 16, LOG_VALUES = 1024, ROWS = 256, MAX_DEPS = 1024 };

struct State {
	ChipTensor log;
	ChipTensor tensors[26];
	PTO2TaskId ids[LOG_WORDS];
};

inline bool take(const char **at, char c)
{
	if (**at != c)
		return false;
	++*at;
	return true;
}

inline void bad(const char *what, const char *at)
{
	rt_report_fatal(9, "script: %s at \"%.20s\"", what, at);
}

inline uint32_t number(const char **at)
{
	char *end;
	uint32_t n = static_cast<uint32_t>(strtoul(*at, &end, 10));

	if (end == *at)
		bad("a number is missing", *at);
	*at = end;
	return n;
}

inline void spaces(const char **at)
{
	while (**at == ' ')
		++*at;
}

inline uint32_t task_number(const char **at)
{
	char c = **at;

	if (c < 'A' || c > 'Z')
		return number(at);
	++*at;
	return static_cast<uint32_t>(c - 'A');
}

inline ChipTensor *tensor_name(State &s, const char **at)
{
	char c = *(*at)++;

	if (c < 'a' || c > 'z')
		bad("no tensor's name", *at - 1);
	return &s.tensors[c < 'a' || c > 'z' ? 0 : c - 'a'];
}

inline ChipTensor part_of(const ChipTensor &t, const char **at)
{
	uint32_t r0 = number(at), r1 = take(at, ':') ? number(at) : r0 + 1;
	uint32_t c0 = 0, c1 = COLUMNS;

	if (take(at, ',')) {
		c0 = number(at);
		c1 = take(at, ':') ? number(at) : c0 + 1;
	}
	if (!take(at, ']'))
		bad("a view does not end", *at);
	uint32_t shape[2] = {r1 - r0, c1 - c0}, offset[2] = {r0, c0};
	return t.view(shape, offset);
}

inline ChipTensor view_of(State &s, const char **at)
{
	ChipTensor *base = tensor_name(s, at);
	ChipTensor v = *base;

	if (take(at, '['))
		v = part_of(*base, at);
	for (;; ) {
		if (take(at, '\''))
			v = v.transpose(0, 1);
		else if (take(at, '=')) {
			uint32_t flat[1] = {static_cast<uint32_t>(v.numel())};

			v = v.reshape(flat, 1);
		} else if (take(at, '~'))
			v.dtype = DataType::INT32;
		else if (take(at, '!'))
			v.manual_dep = true;
		else if (take(at, '@'))
			v.version = static_cast<int32_t>(number(at));
		else
			return v;
	}
}

/* The word of the log that task @id stamps; never part of the dependences. */
inline ChipTensor log_word(const State &s, uint32_t id)
{
	uint32_t one[1] = {1}, at[1] = {LOG_STAMPS + id};

	return s.log.view(one, at, true);
}

inline void mark(const State &s, uint32_t id)
{
	int32_t *log = s.log.data_as<int32_t>();
	int32_t now = __atomic_add_fetch(&log[0], 1, __ATOMIC_RELAXED);

	__atomic_store_n(&log[LOG_STAMPS + id], now, __ATOMIC_RELAXED);
}

/* A task as the text has it; what it refers to lives until the submit. */
struct Arguments {
	struct {
		TensorArgType tag;
		const ChipTensor *tensor;	/* OUTPUT: where the new tensor goes */
	} list[PTO_TASK_TENSORS];
	ChipTensor views[PTO_TASK_TENSORS];
	uint32_t count = 0;
	PTO2TaskId ids[MAX_DEPS];
	DepFlags kinds[MAX_DEPS];
	int deps = 0;
	int kernel = INVALID_KERNEL_ID;		/* or none */
	uint32_t id = 0;
	bool early = false;
	bool predicated = false;
	ChipTensor gate;

	void add(TensorArgType tag, const ChipTensor *t)
	{
		if (count == PTO_TASK_TENSORS)
			return bad("too many arguments", "");
		list[count].tag = tag;
		list[count++].tensor = t;
	}
};

inline void add_ids(State &s, Arguments &a, const char **at, DepFlags kind)
{
	uint32_t first, last;

	if (take(at, '?') || take(at, '+')) {
		a.kinds[a.deps] = kind;
		a.ids[a.deps++] = (*at)[-1] == '?' ? PTO2TaskId::invalid() : PTO2TaskId{123456};
		return;
	}
	if (take(at, '=')) { /* the task behind A */
		a.kinds[a.deps] = kind;
		a.ids[a.deps++] = PTO2TaskId{s.ids[0].raw + 1};
		return;
	}
	first = task_number(at);
	last = take(at, '-') ? task_number(at) : first;
	for (; first <= last && a.deps < MAX_DEPS; first++) {
		a.kinds[a.deps] = kind;
		a.ids[a.deps++] = s.ids[first];
	}
}

/* Explicit dependences; true if the argument was one. */
inline bool dependence(State &s, Arguments &a, const char **at)
{
	static const struct { const char *name; DepFlags kind; } names[] = {
		{"dep:", DepFlags::WAIT | DepFlags::RETAIN}, {"wait:", DepFlags::WAIT},
		{"ret:", DepFlags::RETAIN}, {"none:", DepFlags::NONE},
	};

	for (const auto &n : names)
		if (!strncmp(*at, n.name, strlen(n.name))) {
			*at += strlen(n.name);
			add_ids(s, a, at, n.kind);
			return true;
		}
	return false;
}

inline bool keyword(const char **at, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*at, word, n) || !strchr(" ;]", (*at)[n]))
		return false;
	*at += n;
	spaces(at);
	return true;
}

inline bool argument(State &s, Arguments &a, const char **at)
{
	static const struct { const char *name; TensorArgType tag; } names[] = {
		{"in:", TensorArgType::INPUT}, {"io:", TensorArgType::INOUT},
		{"out:", TensorArgType::OUTPUT_EXISTING}, {"nd:", TensorArgType::NO_DEP},
		{"new:", TensorArgType::OUTPUT},
	};

	for (const auto &n : names) {
		if (strncmp(*at, n.name, strlen(n.name)))
			continue;
		*at += strlen(n.name);
		if (strchr(" ;]", (*at)[1])) {
			a.add(n.tag, tensor_name(s, at));
		} else {
			a.views[a.count] = view_of(s, at);
			a.add(n.tag, &a.views[a.count]);
		}
		return true;
	}
	return dependence(s, a, at);
}

inline void arguments(State &s, Arguments &a, const char **at)
{
	a.id = task_number(at);
	for (spaces(at); **at && **at != ';' && **at != ']' && !rt_is_fatal(); spaces(at)) {
		if (keyword(at, "early")) {
			a.early = true;
		} else if (!strncmp(*at, "if:", 3)) {
			*at += 3;
			a.gate = view_of(s, at);
			a.predicated = true;
		} else if (!argument(s, a, at)) {
			return bad("an unknown argument", *at);
		}
	}
}

template <typename Api> bool task(State &s, const char **at, uint32_t times)
{
	/* by func_id; the last has no kernel */
	static const char *const names[] = {"hold", "stamp", "release", "fill", "assign",
					    "increment", "keep", "dummy"};
	constexpr int count = sizeof(names) / sizeof(names[0]);

	for (int kernel = 0; kernel < count; kernel++) {
		if (!keyword(at, names[kernel]))
			continue;
		Arguments a;

		a.kernel = kernel < count - 1 ? kernel : INVALID_KERNEL_ID;
		a.add(TensorArgType::INPUT, nullptr);
		arguments(s, a, at);
		ChipTensor word = log_word(s, a.id);

		a.list[0].tensor = &word;
		for (uint32_t i = 0; i < times && !rt_is_fatal(); i++)
			s.ids[a.id] = Api::submit(a);
		return true;
	}
	return false;
}

inline void element(const State &s, uint32_t id, const ChipTensor &v, bool write)
{
	uint32_t origin[2] = {0, 0};
	float value = 7.0f;

	if (write)
		set_tensor_data<float>(v, v.ndims, origin, value);
	else
		value = get_tensor_data<float>(v, v.ndims, origin);
	s.log.data_as<int32_t>()[LOG_VALUES + id] = static_cast<int32_t>(value);
}

inline void make(ChipTensor *t, uint32_t rows)
{
	uint32_t shape[2] = {rows, COLUMNS};

	*t = make_tensor(shape, 2);
}

inline void alloc(ChipTensor *t, uint32_t rows)
{
	uint32_t shape[2] = {rows, COLUMNS};
	TensorCreateInfo info(shape, 2);
	TaskOutputTensors out = alloc_tensors(info);

	if (!out.empty())
		*t = out.get_ref(0);
}

inline void alias(State &s, ChipTensor *t, uint32_t row)
{
	const ChipTensor &x = s.tensors['x' - 'a'];
	uint32_t shape[2] = {x.shapes[0] - row, COLUMNS};

	*t = make_tensor_external(x.data_as<float>() + row * COLUMNS, shape, 2);
}

inline bool tensor_statement(State &s, const char **at)
{
	ChipTensor *t;

	if (keyword(at, "view")) {
		t = tensor_name(s, at);
		spaces(at);
		*t = view_of(s, at);
		return true;
	}
	if (keyword(at, "make")) {
		t = tensor_name(s, at);
		spaces(at);
		make(t, number(at));
		return true;
	}
	if (keyword(at, "alloc")) {
		t = tensor_name(s, at);
		spaces(at);
		alloc(t, number(at));
		return true;
	}
	if (keyword(at, "alias")) {
		t = tensor_name(s, at);
		spaces(at);
		alias(s, t, number(at));
		return true;
	}
	return false;
}

inline bool access_statement(State &s, const char **at)
{
	bool write = keyword(at, "set");
	uint32_t id;

	if (keyword(at, "mark")) {
		mark(s, task_number(at));
		return true;
	}
	if (!write && !keyword(at, "get"))
		return false;
	id = task_number(at);
	spaces(at);
	element(s, id, view_of(s, at), write);
	if (!rt_is_fatal())
		mark(s, id);
	return true;
}

template <typename Api> void statement(State &s, const char **at)
{
	uint32_t times = 1;

	if (keyword(at, "scope"))
		return rt_scope_begin();
	if (keyword(at, "manual"))
		return rt_scope_begin(PTO2ScopeMode::MANUAL);
	if (keyword(at, "end"))
		return rt_scope_end();
	if (keyword(at, "many"))
		times = number(at), spaces(at);
	if (!task<Api>(s, at, times) && !tensor_statement(s, at) && !access_statement(s, at))
		bad("an unknown statement", *at);
}

/* From behind "repeat" to behind the closing bracket. */
template <typename Api> void sequence(State &s, const char **at);
template <typename Api> void repeat(State &s, const char **at)
{
	uint32_t times = number(at);

	spaces(at);
	if (!take(at, '['))
		return bad("no bracket", *at);
	const char *first = *at;

	for (uint32_t i = 0; i < times && !rt_is_fatal(); i++) {
		*at = first;
		sequence<Api>(s, at);
	}
	if (!take(at, ']') && !rt_is_fatal())
		bad("a repetition does not end", *at);
}

template <typename Api> void sequence(State &s, const char **at)
{
	for (spaces(at); **at && **at != ']' && !rt_is_fatal(); spaces(at)) {
		if (keyword(at, "repeat"))
			repeat<Api>(s, at);
		else
			statement<Api>(s, at);
		spaces(at);
		if (**at && **at != ']' && !take(at, ';'))
			return bad("a statement does not end", *at);
	}
}

template <typename Api>
void run(const char *text, const ChipTensor &log, const ChipTensor &x, const ChipTensor &y)
{
	static State s;

	s.log = log;
	s.tensors['x' - 'a'] = x;
	s.tensors['y' - 'a'] = y;
	sequence<Api>(s, &text);
	if (*text && !rt_is_fatal())
		bad("a bracket too many", text);
}

} // namespace script

#endif
