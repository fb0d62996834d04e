// SPDX-License-Identifier: MIT
/* A snapshot as a table for people and as JSON for programs. */
#include <inttypes.h>

#include "smi.h"

static const char *const context_states[] = { "-", "ready", "banned", "lost" };

static const char *state_name(uint64_t state)
{
	size_t count = sizeof(context_states) / sizeof(context_states[0]);

	return state < count ? context_states[state] : "?";
}

/* ---- table ---- */

/* A number as a cell: scaled down, or "?" when it is not known. */
static const char *cell(char buffer[32], uint64_t value, uint64_t unit, int digits,
			const char *suffix)
{
	if (value == SMI_NO_NUMBER)
		return "?";
	snprintf(buffer, 32, "%.*f%s", digits, (double)value / (double)unit, suffix);
	return buffer;
}

static void print_device(FILE *out, const struct smi_device *d)
{
	char used[32], total[32], temperature[32], power[32], ecc[32], files[32];

	fprintf(out, "%5u  %-12s  %-5s %-9s %9s / %-9s %7s %8s %6s %6s\n", d->number, d->address,
		d->arch, d->health, cell(used, d->memory_used, 1 << 20, 1, ""),
		cell(total, d->memory_total, 1 << 20, 1, " MiB"),
		cell(temperature, d->temperature_mc, 1000, 1, " C"),
		cell(power, d->power_mw, 1000, 1, " W"), cell(ecc, d->ecc_uncorrected, 1, 0, ""),
		cell(files, d->files, 1, 0, ""));
}

static const struct smi_process *same_client(const struct smi_snapshot *before,
					     const struct smi_process *p)
{
	size_t i;

	for (i = 0; before && i < before->process_count; i++)
		if (before->processes[i].device == p->device &&
		    before->processes[i].client == p->client)
			return &before->processes[i];
	return NULL;
}

/* Share of the time since the last output that the process kept the chip busy. */
static const char *share(char buffer[32], const struct smi_process *p,
			 const struct smi_process *before, double seconds)
{
	uint64_t ns;

	if (!before || seconds <= 0 || p->busy_ns < before->busy_ns)
		return "-";
	ns = p->busy_ns - before->busy_ns;
	snprintf(buffer, 32, "%.0f%%", (double)ns / seconds / 1e7);
	return buffer;
}

/* A process names itself: nothing of it may reach the terminal but characters. */
static const char *printable(char buffer[32], const char *name)
{
	size_t i;

	for (i = 0; name[i] && i < 31; i++)
		buffer[i] = name[i] < 0x20 || name[i] == 0x7f ? '?' : name[i];
	buffer[i] = '\0';
	return buffer;
}

static void print_process(FILE *out, const struct smi_process *p, const struct smi_process *before,
			  double seconds)
{
	char busy[32], memory[32], host[32], pinned[32], percent[32], name[32];

	fprintf(out, "%5u %8d  %-16.16s %-7s %8s %6s %9s %9s %9s %7" PRIu64 "\n", p->device,
		(int)p->pid, printable(name, p->command), state_name(p->context_state),
		cell(busy, p->busy_ns, 1000000000, 2, " s"), share(percent, p, before, seconds),
		cell(memory, p->device_bytes, 1 << 20, 1, ""),
		cell(host, p->host_bytes, 1 << 20, 1, ""),
		cell(pinned, p->pinned_bytes, 1 << 20, 1, ""), p->streams);
}

void smi_print_table(FILE *out, const struct smi_snapshot *now, const struct smi_snapshot *before,
		     double seconds)
{
	size_t i;

	fprintf(out, "%5s  %-12s  %-5s %-9s %21s %7s %8s %6s %6s\n", "accel", "address", "arch",
		"health", "device memory      ", "temp", "power", "ecc", "files");
	for (i = 0; i < now->device_count; i++)
		print_device(out, &now->devices[i]);
	if (!now->process_count)
		return;
	fprintf(out, "\n%5s %8s  %-16s %-7s %8s %6s %9s %9s %9s %7s\n", "accel", "pid", "command",
		"context", "busy", "busy%", "dev MiB", "host MiB", "pin MiB", "streams");
	for (i = 0; i < now->process_count; i++)
		print_process(out, &now->processes[i], same_client(before, &now->processes[i]),
			      seconds);
}

/* ---- JSON ---- */

void smi_json_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)	/* names of processes are bytes, not UTF-8 */
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void member(FILE *out, const char *name, uint64_t value)
{
	if (value == SMI_NO_NUMBER)
		fprintf(out, ",\"%s\":null", name);
	else
		fprintf(out, ",\"%s\":%" PRIu64, name, value);
}

static void text_member(FILE *out, const char *name, const char *text)
{
	fprintf(out, ",\"%s\":", name);
	smi_json_string(out, text);
}

static void json_process(FILE *out, const struct smi_process *p)
{
	fprintf(out, "{\"pid\":%d", (int)p->pid);
	text_member(out, "command", p->command);
	member(out, "client_id", p->client);
	text_member(out, "context", state_name(p->context_state));
	member(out, "busy_ns", p->busy_ns);
	member(out, "device_bytes", p->device_bytes);
	member(out, "host_bytes", p->host_bytes);
	member(out, "pinned_bytes", p->pinned_bytes);
	member(out, "streams", p->streams);
	fputc('}', out);
}

static void json_processes(FILE *out, const struct smi_snapshot *now, uint32_t device)
{
	const char *separator = "";
	size_t i;

	fputs(",\"processes\":[", out);
	for (i = 0; i < now->process_count; i++) {
		if (now->processes[i].device != device)
			continue;
		fputs(separator, out);
		json_process(out, &now->processes[i]);
		separator = ",";
	}
	fputc(']', out);
}

static void json_device(FILE *out, const struct smi_snapshot *now, const struct smi_device *d)
{
	fprintf(out, "{\"accel\":%u", d->number);
	text_member(out, "address", d->address);
	text_member(out, "arch", d->arch);
	text_member(out, "health", d->health);
	text_member(out, "hw_version", d->hw_version);
	member(out, "clusters", d->clusters);
	member(out, "memory_total_bytes", d->memory_total);
	member(out, "memory_used_bytes", d->memory_used);
	member(out, "temperature_millicelsius", d->temperature_mc);
	member(out, "power_milliwatts", d->power_mw);
	member(out, "ecc_corrected", d->ecc_corrected);
	member(out, "ecc_uncorrected", d->ecc_uncorrected);
	member(out, "files", d->files);
	member(out, "contexts", d->contexts);
	member(out, "streams", d->streams);
	member(out, "generation", d->generation);
	member(out, "resets", d->resets);
	json_processes(out, now, d->number);
	fputc('}', out);
}

void smi_print_json(FILE *out, const struct smi_snapshot *now)
{
	size_t i;

	fprintf(out, "{\"schema_version\":%d,\"devices\":[", SMI_SCHEMA_VERSION);
	for (i = 0; i < now->device_count; i++) {
		fputs(i ? "," : "", out);
		json_device(out, now, &now->devices[i]);
	}
	fputs("]}\n", out);
}
