# SPDX-License-Identifier: MIT
"""PyPTO: a language for tile kernels and their orchestration, and its compiler."""
