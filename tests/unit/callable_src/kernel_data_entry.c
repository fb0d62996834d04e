/* SPDX-License-Identifier: MIT */
/* The symbol of the entry is a variable. */
int kernel_entry = 1;
