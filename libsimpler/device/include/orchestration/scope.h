/* SPDX-License-Identifier: MIT */
/*
 * Scopes: the life of intermediate tensors.  PTO2_SCOPE() and PTO2_SCOPE_GUARD()
 * end on any way out of the block, also by break, return and exception.
 *
 * Spec: chip-runtime §7.3, §8.2, §12.
 */
#ifndef PTO_ORCHESTRATION_SCOPE_H
#define PTO_ORCHESTRATION_SCOPE_H

#include "runtime.h"

/* Scope that lasts as long as the object; the position is kept for scope statistics. */
class PTO2ScopeGuard {
public:
	explicit PTO2ScopeGuard(PTO2ScopeMode mode = PTO2ScopeMode::AUTO,
				const char *file = __builtin_FILE(),
				int line = __builtin_LINE()) noexcept
		: PTO2ScopeGuard(pto_orch::runtime(), mode, file, line)
	{
	}

	explicit PTO2ScopeGuard(PTO2Runtime *rt, PTO2ScopeMode mode = PTO2ScopeMode::AUTO,
				const char *file = __builtin_FILE(),
				int line = __builtin_LINE()) noexcept
		: rt_(rt)
	{
		if (rt_->ops->scope_set_site)
			rt_->ops->scope_set_site(rt_, file, line);
		rt_->ops->scope_begin(rt_, static_cast<int>(mode));
	}

	~PTO2ScopeGuard() { rt_->ops->scope_end(rt_); }

	PTO2ScopeGuard(const PTO2ScopeGuard &) = delete;
	PTO2ScopeGuard &operator=(const PTO2ScopeGuard &) = delete;

private:
	PTO2Runtime *rt_;
};

#define PTO_JOIN_(a, b) a##b
#define PTO_JOIN(a, b) PTO_JOIN_(a, b)

/*
 * PTO2_SCOPE() { ... }, PTO2_SCOPE(PTO2ScopeMode::MANUAL) { ... } and the older
 * PTO2_SCOPE(rt) { ... }.  An `if`, not a loop, so that break and continue
 * reach the loop around it.
 */
#define PTO2_SCOPE(...)                                                                       \
	if (::PTO2ScopeGuard PTO_JOIN(pto_scope_, __LINE__){ __VA_ARGS__ }; true)

/* The rest of the enclosing block is a scope. */
#define PTO2_SCOPE_GUARD(...) ::PTO2ScopeGuard PTO_JOIN(pto_scope_, __LINE__){ __VA_ARGS__ }

/**
 * rt_scope_begin() - open a scope by hand
 * @mode: MANUAL switches off all inferred dependences of its tasks
 *
 * Each needs its rt_scope_end().  AUTO inside MANUAL ends the run with
 * INVALID_ARGS.
 */
inline void rt_scope_begin(PTO2ScopeMode mode = PTO2ScopeMode::AUTO)
{
	pto_orch::runtime()->ops->scope_begin(pto_orch::runtime(), static_cast<int>(mode));
}

inline void rt_scope_end()
{
	pto_orch::runtime()->ops->scope_end(pto_orch::runtime());
}

inline void pto2_rt_scope_begin(PTO2Runtime *rt, PTO2ScopeMode mode = PTO2ScopeMode::AUTO)
{
	rt->ops->scope_begin(rt, static_cast<int>(mode));
}

inline void pto2_rt_scope_end(PTO2Runtime *rt)
{
	rt->ops->scope_end(rt);
}

#endif /* PTO_ORCHESTRATION_SCOPE_H */
