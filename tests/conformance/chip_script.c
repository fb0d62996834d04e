// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "chip_script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEXT_BYTES	(64 << 10)
#define LOG_WORDS	2048
#define LOG_RELEASED	1
#define LOG_STAMPS	16
#define LOG_VALUES	1024

enum { INT32 = 2, UINT8 = 5, FLOAT32 = 0 };

struct chip_fixture script_chip;
uint32_t script_watchdog_ms = FIXTURE_WATCHDOG_MS;
float script_x[SCRIPT_ROWS][SCRIPT_COLUMNS], script_y[SCRIPT_ROWS][SCRIPT_COLUMNS];
static int32_t words[LOG_WORDS];
static char text[TEXT_BYTES];

static void operand(uint32_t i, void *data)
{
	struct simpler_hw_tensor *t = &script_chip.tensors[i];

	fixture_tensor(&script_chip, i, data, FLOAT32, 4, SCRIPT_ROWS * SCRIPT_COLUMNS);
	t->ndims = 2;
	t->shapes[0] = SCRIPT_ROWS;
	t->shapes[1] = SCRIPT_COLUMNS;
	t->strides[0] = SCRIPT_COLUMNS;
	t->strides[1] = 1;
}

static int setup(const char *orchestration)
{
	fixture_open_variant(&script_chip, script_watchdog_ms);
	fixture_load(&script_chip, orchestration, "hold,stamp,release,fill,assign,increment,keep");
	fixture_tensor(&script_chip, 0, words, INT32, 4, LOG_WORDS);
	fixture_tensor(&script_chip, 1, text, UINT8, 1, TEXT_BYTES);
	operand(2, script_x);
	operand(3, script_y);
	return 0;
}

int script_setup(void **state)
{
	(void)state;
	return setup("script");
}

int script_setup_older(void **state)
{
	(void)state;
	return setup("script_older");
}

int script_teardown(void **state)
{
	(void)state;
	fixture_close(&script_chip);
	return 0;
}

int script_short_watchdog(void **state)
{
	script_teardown(state);
	script_watchdog_ms = FIXTURE_SHORT_MS;
	return script_setup(state);
}

int script_long_watchdog(void **state)
{
	script_teardown(state);
	script_watchdog_ms = FIXTURE_WATCHDOG_MS;
	return script_setup(state);
}

static void set_text(const char *format, va_list ap)
{
	if (vsnprintf(text, sizeof(text), format, ap) >= (int)sizeof(text))
		fail_msg("the script is too long");
	memset(words, 0, sizeof(words));
}

static int run(const char *format, va_list ap)
{
	set_text(format, ap);
	return fixture_run(&script_chip, 0);
}

void script_begin(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	set_text(format, ap);
	va_end(ap);
	fixture_begin(&script_chip);
}

void script_release(void)
{
	/* release: pairs with the acquire of the chip's poll of the condition */
	__atomic_store_n(&words[LOG_RELEASED], 1, __ATOMIC_RELEASE);
}

int script_run(const char *format, ...)
{
	va_list ap;
	int code;

	va_start(ap, format);
	code = run(format, ap);
	va_end(ap);
	return code;
}

void script_ok(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	if (run(format, ap))
		fail_msg("%s: code %d, %s", text, script_chip.status.code, script_chip.status.text);
	va_end(ap);
}

void script_fails(int code, const char *part, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	run(format, ap);
	va_end(ap);
	if (script_chip.status.code != code || !strstr(script_chip.status.text, part))
		fail_msg("%s: expected code %d with \"%s\", got code %d: %s", text, code, part,
			 script_chip.status.code, script_chip.status.text);
}

int script_start(int task)
{
	/* relaxed: only asked for while a launch runs by those who poll */
	return __atomic_load_n(&words[LOG_STAMPS + (task >= 'A' && task <= 'Z' ? task - 'A' : task)], __ATOMIC_RELAXED);
}

int script_value(int task)
{
	return words[LOG_VALUES + (task >= 'A' && task <= 'Z' ? task - 'A' : task)];
}

void script_order(const char *tasks)
{
	for (; tasks[0]; tasks++) {
		if (!script_start(tasks[0]))
			fail_msg("%s: task %c did not start", text, tasks[0]);
		if (tasks[1] && script_start(tasks[0]) >= script_start(tasks[1]))
			fail_msg("%s: task %c did not start before task %c (%d, %d)", text, tasks[0],
				 tasks[1], script_start(tasks[0]), script_start(tasks[1]));
	}
}

void script_edge(const char *before, const char *a, const char *b)
{
	script_ok("%s hold A %s; stamp B %s; release C", before, a, b);
	script_order("AB");
	script_order("CB");
}

void script_no_edge(const char *before, const char *a, const char *b)
{
	script_ok("%s hold A %s; stamp B %s; release C wait:B", before, a, b);
	script_order("BC");
}
