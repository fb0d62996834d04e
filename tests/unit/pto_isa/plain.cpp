// SPDX-License-Identifier: MIT
/* Kernels as plain functions: pipes between threads, hooks of the program (pto-isa §3.9, §5). */
#include <pthread.h>

#include "check.hpp"

using namespace check;

namespace {

constexpr int TILES = 50;
using Pipe = TPipe<1, Direction::DIR_C2V, 16 * 16 * 4, 2>;
using Whole =
	Tile<TileType::Acc, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 1024>;
using Half = Tile<TileType::Vec, float, 8, 16>;

constexpr auto SPLIT = TileSplitAxis::TILE_UP_DOWN;

/* A lane's end: how many elements were not what the cube wrote. */
struct lane {
	uint32_t number;
	int wrong;
	pthread_t thread;
};

void *consume(void *arg)
{
	lane *l = static_cast<lane *>(arg);
	Pipe pipe(static_cast<void *>(nullptr), 0, 0);

	cpu_sim::set_execution_context(0, l->number, 2);
	for (int n = 0; n < TILES; n++) {
		Half t;

		TPOP<Pipe, Half, SPLIT>(pipe, t);
		for (int r = 0; r < 8; r++)
			for (int c = 0; c < 16; c++)
				l->wrong += t.GetElement(r, c) !=
					    float(1000 * n + 16 * (r + 8 * int(l->number)) + c);
		TFREE<Pipe, SPLIT>(pipe);
	}
	return nullptr;
}

void *produce(void *)
{
	Pipe pipe(static_cast<void *>(nullptr), 0, 0);
	Whole t;

	cpu_sim::set_execution_context(0, 0, 1);
	TASSIGN(t, 0);
	for (int n = 0; n < TILES; n++) {
		for (int r = 0; r < 16; r++)
			for (int c = 0; c < 16; c++)
				t.SetElement(r, c, float(1000 * n + 16 * r + c));
		TPUSH<Pipe, Whole, SPLIT>(pipe, t);
	}
	return nullptr;
}

/* More tiles than slots through a pipe to two lanes; all three ends wait for one another. */
int transfer()
{
	lane lanes[2] = {{0, 0, {}}, {1, 0, {}}};
	pthread_t cube;

	pthread_create(&cube, nullptr, produce, nullptr);
	for (lane &l : lanes)
		pthread_create(&l.thread, nullptr, consume, &l);
	pthread_join(cube, nullptr);
	for (lane &l : lanes)
		pthread_join(l.thread, nullptr);
	return lanes[0].wrong + lanes[1].wrong;
}

alignas(64) uint8_t provided[64 << 10];
uint64_t asked_key;
size_t asked_bytes;

void *state_of_the_program(uint64_t key, size_t bytes)
{
	/* relaxed, no partner: all ends of the one pipe ask for the same */
	__atomic_store_n(&asked_key, key, __ATOMIC_RELAXED);
	__atomic_store_n(&asked_bytes, bytes, __ATOMIC_RELAXED);
	return provided;
}

uint32_t lane_of_the_program() { return 7; }

CHECK(a_pipe_of_two_slots_carries_fifty_tiles_to_both_lanes)
{
	t.expect(transfer() == 0, "every element arrives");
}

CHECK(pipe_state_comes_from_the_program_when_it_has_a_function_for_it)
{
	cpu_sim::register_hooks(nullptr, state_of_the_program);
	t.expect(transfer() == 0, "every element arrives");
	cpu_sim::register_hooks(nullptr, nullptr);
	t.expect(asked_key == (uint64_t(1) << 56 | uint64_t(1) << 48 | uint64_t(2) << 40 |
			       uint64_t(2) << 32 | (1024 + sizeof(PipeSlotHeader))),
		 "the key says flag, direction, slots and their size");
	t.expect(asked_bytes > 2 * 1024 && asked_bytes <= sizeof(provided), "size of the state");
}

CHECK(the_lane_is_what_the_program_says)
{
	cpu_sim::set_execution_context(3, 1, 2, 5);
	t.expect(get_subblockid() == 1 && get_block_idx() == 3 && get_subblockdim() == 2 &&
			 get_block_num() == 5,
		 "as set");
	cpu_sim::register_hooks(lane_of_the_program, nullptr);
	t.expect(get_subblockid() == 7, "as the function says");
	cpu_sim::register_hooks(nullptr, nullptr);
	cpu_sim::set_execution_context(0, 0, 1);
}

} // namespace

#include "exports.hpp"
