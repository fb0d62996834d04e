/* SPDX-License-Identifier: MIT */
/* Which calls each function of the sources makes. */
#ifndef ORCH_HEADERS_EXPECTED_H
#define ORCH_HEADERS_EXPECTED_H

static const struct expectation expectations[] = {
	{ "generated", "aicpu_orchestration_entry",
	  "submit -1/0/-1 in:1000 in:2000 lazy:0\n"
	  "submit -1/1/-1 in:100000 3f000000 out:3000\n"
	  "{\n"
	  "{\n"
	  "}\n"
	  "}\n"
	  "{\n"
	  "{\n"
	  "}\n"
	  "}\n"
	  "{\n"
	  "{\n"
	  "submit 2/-1/-1 inout:1000 7\n"
	  "}\n"
	  "}\n"
	  "{\n"
	  "{\n"
	  "}\n"
	  "}\n" },
	{ "older", "kernel_arguments_follow_the_parameters",
	  "submit -1/4/-1 in:1000 7 out:2000 3\n" },
	{ "older", "parameters_may_be_braced",
	  "submit 0/-1/-1 inout:1000 5\n"
	  "submit 0/-1/-1 in:1000 6\n" },
	{ "older", "only_cube_workers_are_cube_kernels",
	  "submit 1/-1/-1 0\n"
	  "submit -1/2/-1 0\n"
	  "submit -1/3/-1 0\n"
	  "submit -1/4/-1 0\n" },
	{ "older", "outputs_get_their_memory_at_the_submit",
	  "submit -1/0/-1 lazy:0\n"
	  "submit -1/1/-1 in:100000 out:100000\n" },
	{ "older", "inputs_without_memory_are_invalid",
	  "invalid make_input_param: the tensor has no memory yet: no task has written it\n"
	  "invalid make_inout_param: the tensor has no memory yet: no task has written it\n" },
	{ "older", "parameters_without_tensor_are_invalid",
	  "submit -1/0/-1 error: a parameter has no tensor, or a pipe or cluster where none "
	  "belongs\n"
	  "submit -1/0/-1 error: the number of parameters is negative, or there are none\n"
	  "submit -1/0/-1 error: the number of parameters is negative, or there are none\n" },
	{ "older", "a_task_has_32_tensors_and_16_scalars",
	  "submit -1/0/-1 in:1000 1 in:1000 in:1000 4 in:1000 in:1000 7 in:1000 in:1000 a "
	  "in:1000 in:1000 d in:1000 in:1000 10 in:1000 in:1000 13 in:1000 in:1000 16 in:1000 "
	  "in:1000 19 in:1000 in:1000 1c in:1000 in:1000 1f in:1000 in:1000 22 in:1000 in:1000 "
	  "25 in:1000 in:1000 28 in:1000 in:1000 2b in:1000 in:1000 2e in:1000\n" },
	{ "older", "a_33rd_tensor_is_too_many",
	  "submit -1/0/-1 in:1000 in:1000 in:1000 in:1000 in:1000 in:1000 in:1000 in:1000 "
	  "in:1000 in:1000 in:1000 in:1000 in:1000 in:1000 in:1000 in:1000 in:1000 in:1000 "
	  "in:1000 in:1000 in:1000 in:1000 in:1000 in:1000 in:1000 in:1000 in:1000 in:1000 "
	  "in:1000 in:1000 in:1000 in:1000 error: Too many tensor args (max 32)\n" },
	{ "older", "a_17th_scalar_is_too_many",
	  "submit -1/0/-1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 error: Too many scalar args (max 16)\n" },
	{ "older", "a_source_may_have_its_own_float_to_u64",
	  "submit -1/0/-1 800000003f800000\n" },
	{ "older", "break_and_continue_end_scopes",
	  "{\n"
	  "}\n"
	  "{\n"
	  "{\n"
	  "info break_and_continue_end_scopes: i=1\n"
	  "}\n"
	  "}\n" },
	{ "older", "return_ends_scopes",
	  "{\n"
	  "{\n"
	  "}\n"
	  "}\n"
	  "info return_ends_scopes: left 1\n" },
	{ "older", "exceptions_end_scopes",
	  "{\n"
	  "{\n"
	  "}\n"
	  "}\n"
	  "warn exceptions_end_scopes: caught x\n" },
	{ "older", "scopes_can_be_opened_by_hand",
	  "{\n"
	  "{manual\n"
	  "}\n"
	  "}\n"
	  "{manual\n"
	  "}\n"
	  "done\n" },
	{ "older", "scopes_tell_where_they_stand",
	  "site older.cpp with line\n"
	  "{\n"
	  "}\n" },
	{ "older", "a_view_gives_a_declared_tensor_its_memory",
	  "{\n"
	  "{\n"
	  "materialize depth 1 scope 1 size 256\n"
	  "materialize depth 2 scope 2 size 16\n"
	  "submit -1/0/-1 out:100000 in:100000 out:101000 in:101000\n"
	  "}\n"
	  "}\n" },
	{ "older", "elements_are_read_and_written",
	  "get 4 bytes of 2000+0 shape 32,64 strides 64,1 extent 2048 packed at 3,4\n"
	  "set 4 bytes of 2000+0 shape 32,64 strides 64,1 extent 2048 packed at 1,2 = 3f800000\n"
	  "info elements_are_read_and_written: nan is itself: 0\n" },
	{ "older", "messages_carry_level_and_function",
	  "error messages_carry_level_and_function: e\n"
	  "warn messages_carry_level_and_function: w\n"
	  "timing messages_carry_level_and_function: t\n"
	  "info messages_carry_level_and_function: i 1\n"
	  "debug messages_carry_level_and_function: d x 2\n"
	  "timing messages_carry_level_and_function: a\n"
	  "info messages_carry_level_and_function: 3 words\n"
	  "fatal 9 messages_carry_level_and_function: stop 1\n" },
	{ "older", "cluster_groups_use_clusters_and_pipes",
	  "allocate 4\n"
	  "submit 0/-1/-1 cluster:4 in:1000 pipe-out:1 9 pipe-in:2 blocks=4\n"
	  "submit -1/1/-1 cluster:4 pipe-in:1 pipe-out:2 out:2000 blocks=4\n" },
	{ "older", "one_cluster_is_the_default",
	  "allocate 1\n"
	  "submit 0/-1/-1 cluster:1\n"
	  "invalid allocate_cluster: 0 clusters, must be 1 or more\n" },
	{ "older", "pipes_and_clusters_are_no_tensors",
	  "invalid make_input_param: a pipe or cluster has a parameter function of its own\n"
	  "invalid make_pipe_in_param: the argument is not a result of make_pipe\n"
	  "invalid make_cluster_param: the argument is not a result of pto2_rt_allocate_cluster\n"
	  "submit 0/-1/-1 error: a parameter has no tensor, or a pipe or cluster where none "
	  "belongs\n"
	  "invalid view: a pipe has no memory to make a view of\n" },
	{ "older", "a_block_task_has_at_least_one_block",
	  "invalid set_block_num: block_num is 0, must be 1 or more\n"
	  "submit -1/0/-1 0 blocks=0\n" },
	{ "older", "earliest_tensors_have_a_byte_size",
	  "get 1 bytes of 0+0 shape 1024 strides 1 extent 1024 packed at \n"
	  "get 1 bytes of 1000+0 shape 256 strides 1 extent 256 packed at \n" },
	{ "older", "the_fifth_argument_may_be_a_version",
	  "info the_fifth_argument_may_be_a_version: 3 4 5, manual 0 1\n" },
	{ "older", "a_default_tensor_is_assigned_later",
	  "submit -1/0/-1 in:3000\n" },
	{ "collector", "collected_arguments_keep_their_order",
	  "submit -1/3/-1 in:1000 in:2000 3f800000 lazy:0 inout:2000 ffffffff 2\n"
	  "submit 4/-1/-1 in:1000 in:2000 3f800000 lazy:100000 inout:2000 ffffffff 2\n" },
	{ "collector", "mixed_kernels_share_collected_arguments",
	  "submit 1/2/3 in:1000\n"
	  "invalid rt_submit_task: no kernel is given; a task without one is submitted with "
	  "rt_submit_dummy_task\n" },
	{ "collector", "no_arguments_are_possible",
	  "submit -1/0/-1\n" },
	{ "collector", "copies_do_not_share_arguments",
	  "submit -1/0/-1 in:1000 1\n"
	  "submit -1/1/-1\n"
	  "submit -1/2/-1 in:1000 out:2000\n"
	  "submit -1/3/-1 in:1000 1\n"
	  "submit -1/4/-1 in:1000 out:2000\n" },
	{ "collector", "too_much_is_said_at_the_submit",
	  "submit -1/0/-1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 in:1000 error: Too many scalar args "
	  "(max 16)\n" },
	{ "collector", "arrays_of_parameters_still_work",
	  "submit -1/0/-1 in:1000 40000000\n"
	  "submit 0/-1/-1 in:1000 40000000\n"
	  "submit 0/1/-1 in:1000 40000000\n" },
	{ "collector", "current_arguments_are_taken_too",
	  "submit -1/0/-1 in:1000 1\n"
	  "submit 0/-1/-1 in:1000 1\n"
	  "submit 0/1/-1 in:1000 1\n" },
	{ "collector", "collected_clusters_and_pipes",
	  "allocate 1\n"
	  "submit -1/0/-1 cluster:1 pipe-in:1 pipe-out:2\n" },
	{ "current", "entry_arguments_are_numbered_by_kind",
	  "submit -1/5/-1 in:2000 3f800000 40000000\n" },
	{ "current", "entry_arguments_out_of_range_are_invalid",
	  "invalid tensor: tensor 3 of 3\n"
	  "info entry_arguments_out_of_range_are_invalid: 0 dims\n"
	  "invalid scalar: scalar 2 of 2\n"
	  "info entry_arguments_out_of_range_are_invalid: scalar 0\n" },
	{ "current", "storage_task_args_are_the_same",
	  "get 4 bytes of 3000+0 shape 32,64 strides 64,1 extent 2048 packed at \n" },
	{ "current", "tensors_of_every_kind",
	  "submit 1/2/3 in:1000 in:2000 inout:2000 nodep:1000 out:2000 new:4,5/3 "
	  "new:6/0=3f800000 3\n"
	  "submit 5/-1/-1 in:100000 in:101000\n"
	  "info tensors_of_every_kind: size 2 empty 0 task 0 shape 6 bytes 40\n" },
	{ "current", "scalars_are_zero_extended",
	  "submit -1/0/-1 3f800000 ffffffff 3ff0000000000000 1 ff ff 8000000000000000 ffffffff "
	  "2 ffffffffffffffff\n"
	  "submit -1/0/-1 ffffffff 3ff0000000000000\n"
	  "submit -1/0/-1 ffffffff 3ff0000000000000 error: copy_scalars_from: range outside "
	  "the source's scalars\n"
	  "info scalars_are_zero_extended: -3 1 1\n" },
	{ "current", "a_tensor_after_a_scalar_is_an_error",
	  "submit -1/0/-1 1 error: all tensors must be added before any scalars\n"
	  "info a_tensor_after_a_scalar_is_an_error: 1 all tensors must be added before any "
	  "scalars\n" },
	{ "current", "too_many_arguments_are_errors",
	  "info too_many_arguments_are_errors: Too many tensor args (max 32), Too many scalar "
	  "args (max 16), Too many tensor args (max 2)\n"
	  "info too_many_arguments_are_errors: 32 16\n" },
	{ "current", "an_error_surfaces_at_the_submit",
	  "dummy error: first\n"
	  "info an_error_surfaces_at_the_submit: 0\n" },
	{ "current", "arguments_can_be_reused_after_clear",
	  "submit -1/0/-1 in:1000\n"
	  "submit -1/0/-1\n" },
	{ "current", "launch_specification",
	  "submit -1/0/-1 blocks=4 sync early slot=15\n"
	  "info launch_specification: 4 4 1\n"
	  "submit -1/0/-1 early slot=15\n"
	  "invalid set_block_num: block_num is 0, must be 1 or more\n" },
	{ "current", "timing_slots_are_0_to_15",
	  "submit -1/0/-1 slot=0 error: task_timing_slot out of range (valid: 0..15)\n"
	  "info timing_slots_are_0_to_15: task_timing_slot out of range (valid: 0..15)\n" },
	{ "current", "explicit_dependencies",
	  "dummy dep=1/3 dep=100000002/3\n"
	  "dummy dep=1/1 dep=100000002/3\n"
	  "submit -1/0/-1 dep=1/3 dep=100000002/3 dep=9/1\n"
	  "submit 7/-1/-1 dep=1/1\n"
	  "info explicit_dependencies: 1 2 1 1\n" },
	{ "current", "wrong_dependencies_are_errors",
	  "info wrong_dependencies_are_errors: set_dependencies: n is negative, or ids is null "
	  "and n is not 0\n"
	  "info wrong_dependencies_are_errors: set_dependencies: dependencies are already set\n"
	  "info wrong_dependencies_are_errors: set_dependencies: n is negative, or ids is null "
	  "and n is not 0\n"
	  "info wrong_dependencies_are_errors: Too many dependencies (max 2)\n"
	  "info wrong_dependencies_are_errors: add_dep: set_dependencies was used before\n"
	  "dummy error: set_dependencies: n is negative, or ids is null and n is not 0\n" },
	{ "current", "predicates_are_copied",
	  "submit -1/0/-1 if [1,2] of 3000 op 6 -5\n"
	  "submit -1/0/-1\n" },
	{ "current", "a_task_without_kernel_is_invalid",
	  "invalid rt_submit_task: no kernel is given; a task without one is submitted with "
	  "rt_submit_dummy_task\n"
	  "info a_task_without_kernel_is_invalid: 1\n" },
	{ "current", "buffers_are_allocated",
	  "alloc new:2/0\n"
	  "alloc new:2/0 new:3/0\n"
	  "alloc new:4/0 new:5/0\n"
	  "info buffers_are_allocated: 1 2 2\n"
	  "info buffers_are_allocated: 5 4\n" },
	{ "current", "only_buffers_are_allocated",
	  "invalid alloc_tensors: takes one or more TensorCreateInfos and no scalars\n"
	  "invalid alloc_tensors: takes one or more TensorCreateInfos and no scalars\n"
	  "invalid alloc_tensors: takes one or more TensorCreateInfos and no scalars\n" },
	{ "current", "results_out_of_range_are_invalid",
	  "submit -1/0/-1\n"
	  "invalid get_ref: tensor 0 of 0\n"
	  "info results_out_of_range_are_invalid: 0 0\n" },
	{ "current", "outputs_without_memory_are_lazy",
	  "submit -1/0/-1 lazy:0 out:1000\n"
	  "submit -1/0/-1 out:100000\n" },
	{ "current", "scopes_of_both_modes",
	  "{\n"
	  "{manual\n"
	  "{\n"
	  "{manual\n"
	  "}\n"
	  "}\n"
	  "}\n"
	  "}\n"
	  "{\n"
	  "{manual\n"
	  "}\n"
	  "}\n" },
	{ "current", "current_scopes_tell_where_they_stand",
	  "site current.cpp with line\n"
	  "{\n"
	  "}\n" },
	{ "current", "fatal_errors_are_reported",
	  "info fatal_errors_are_reported: 0\n"
	  "fatal 9 fatal_errors_are_reported: gave up after 3\n"
	  "info fatal_errors_are_reported: 1\n"
	  "debug fatal_errors_are_reported: plain\n"
	  "done\n" },
	{ "current", "the_device_has_a_width",
	  "info the_device_has_a_width: 8 clusters, 16 vector cores\n" },
	{ "current", "elements_keep_their_value",
	  "get 4 bytes of 40+0 shape 4 strides 1 extent 4 packed at 3\n"
	  "info elements_keep_their_value: -2\n"
	  "get 4 bytes of 40+0 shape 4 strides 1 extent 4 packed at 3\n"
	  "info elements_keep_their_value: 4294967294\n"
	  "get 4 bytes of 40+0 shape 4 strides 1 extent 4 packed at 3\n"
	  "info elements_keep_their_value: fffffffe\n"
	  "set 4 bytes of 40+0 shape 4 strides 1 extent 4 packed at 3 = fffffffe\n"
	  "set 4 bytes of 40+0 shape 4 strides 1 extent 4 packed at 3 = 3f800000\n"
	  "invalid get_tensor_data: a value of 8 bytes for element type 2 of 4 bytes; name the "
	  "type that matches, as in get_tensor_data<float>\n"
	  "invalid set_tensor_data: a value of 8 bytes for element type 10 of 4 bytes; name "
	  "the type that matches, as in get_tensor_data<float>\n"
	  "invalid get_tensor_data: 6 dimensions, at most 5 are possible\n" },
	{ "current", "views_of_views",
	  "get 4 bytes of 1000+1024 shape 16,16 strides 64,1 extent 976 at \n"
	  "get 4 bytes of 1000+1584 shape 8,8 strides 64,1 extent 456 manual at \n"
	  "get 4 bytes of 1000+192 shape 1,64 strides 64,1 extent 64 packed at \n"
	  "get 4 bytes of 1000+0 shape 0,64 strides 64,1 extent 0 packed at \n"
	  "get 4 bytes of 1000+0 shape 64,32 strides 1,64 extent 2048 at \n"
	  "get 4 bytes of 1000+0 shape 64,32 strides 1,64 extent 2048 at \n"
	  "get 4 bytes of 1000+64 shape 3,64 strides 192,1 extent 448 at \n"
	  "get 4 bytes of 1000+0 shape 2,16,64 strides 1024,64,1 extent 2048 packed at \n"
	  "get 4 bytes of 1000+0 shape 0,64 strides 64,1 extent 0 packed at \n" },
	{ "current", "wrong_views_are_invalid",
	  "invalid view: dimension 0: offset 17 + shape 16 exceed the tensor's 32\n"
	  "invalid view: shape list has 1 values, 2 are needed\n"
	  "invalid view: shape[0] is -1, not in 0..4294967295\n"
	  "invalid transpose: dimension 2 of a tensor of 2\n"
	  "invalid permute: order[1] = 1: not a permutation of 2 dimensions\n"
	  "invalid slice: dimension 2 of a tensor of 2\n"
	  "invalid slice: 8..4 step 1 of a dimension with extent 32\n"
	  "invalid slice: 0..33 step 1 of a dimension with extent 32\n"
	  "invalid slice: 0..8 step 0 of a dimension with extent 32\n"
	  "invalid reshape: the shape does not have the tensor's 2048 elements\n"
	  "invalid reshape: the tensor is not contiguous\n"
	  "invalid view: dimension 0: offset 0 + shape 33 exceed the tensor's 32\n"
	  "info wrong_views_are_invalid: 0\n" },
	{ "current", "shapes_of_any_integer_type",
	  "get 1 bytes of 40+0 shape 3,4 strides 4,1 extent 12 packed at \n"
	  "get 1 bytes of 40+0 shape 3,4 strides 4,1 extent 12 packed at \n"
	  "get 1 bytes of 40+0 shape 3,4 strides 4,1 extent 12 packed at \n"
	  "get 1 bytes of 40+0 shape 3,4 strides 4,1 extent 12 packed at \n"
	  "get 1 bytes of 40+0 shape  strides  extent 1 packed at \n"
	  "get 1 bytes of 40+0 shape 3,4 strides 1,3 extent 12 at \n"
	  "invalid make_tensor_external: shape list has 0 values, 1 are needed\n"
	  "invalid make_tensor_external: 6 dimensions, at most 5 are possible\n"
	  "invalid make_tensor_external: shape[0] is 1099511627776, not in 0..4294967295\n"
	  "invalid make_tensor_external: the shape has too many elements: a stride needs more "
	  "than 32 bits\n"
	  "invalid make_tensor_external: element type 99 is unknown\n"
	  "invalid make_tensor_strided: stride[1] is 0\n"
	  "invalid TensorCreateInfo: shape[0] is -2, not in 0..4294967295\n" },
	{ "current", "tensor_accessors",
	  "info tensor_accessors: 6 elements, 24 bytes, extent 67\n"
	  "info tensor_accessors: first 1114, last at 135\n"
	  "info tensor_accessors: device 0, address 1000\n" },
	{ "current", "clusters_and_pipes",
	  "allocate 2\n"
	  "submit 0/-1/-1 cluster:2 pipe-out:1 in:1000 blocks=2\n"
	  "submit -1/1/-1 cluster:2 pipe-in:1\n"
	  "info clusters_and_pipes: a cluster or pipe is added with add_cluster, add_pipe_in "
	  "or add_pipe_out\n"
	  "info clusters_and_pipes: add_pipe_in takes a result of make_pipe\n"
	  "info clusters_and_pipes: add_cluster takes a result of rt_allocate_cluster\n" },
	{ "current", "arguments_are_marked_for_the_dump",
	  "submit -1/0/-1 in:1000 in:2000 new:1/0 1 dump=100000006\n"
	  "info arguments_are_marked_for_the_dump: dump: the tensor is not an argument\n" },
	{ "current", "constructing_arguments_touches_only_the_header",
	  "info constructing_arguments_touches_only_the_header: 0\n" },
	{ "current", "graphs_submit_their_tasks",
	  "submit -1/3/-1 in:1000 out:2000 7 10 3f000000\n"
	  "info graphs_submit_their_tasks: 1\n"
	  "submit -1/3/-1 in:1000 out:2000 7 20 3f800000\n"
	  "info operator(): 2\n" },
	{ "current", "wrong_graph_arguments_are_invalid",
	  "invalid rt_submit_graph: a graph has at least one tensor\n"
	  "invalid rt_submit_graph: all tensors must be added before any scalars\n"
	  "info wrong_graph_arguments_are_invalid: Too many scalar args (max 64)\n"
	  "info wrong_graph_arguments_are_invalid: Too many tensor args (max 128)\n"
	  "fatal 9 wrong_graph_arguments_are_invalid: stop\n"
	  "info wrong_graph_arguments_are_invalid: 1\n" },
};

#endif /* ORCH_HEADERS_EXPECTED_H */
