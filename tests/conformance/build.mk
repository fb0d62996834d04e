# SPDX-License-Identifier: MIT

# Every numbered case has a test or a reason, see tests/conformance/cases.txt.
lint_STEPS += lint-cases
lint-cases:
	scripts/check-cases
