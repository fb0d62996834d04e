# SPDX-License-Identifier: MIT
"""Platform names."""

_PLATFORMS = {
    "a2a3": ("a2a3", "onboard"),
    "a2a3sim": ("a2a3", "sim"),
    "a5": ("a5", "onboard"),
    "a5sim": ("a5", "sim"),
}


def parse_platform(platform):
    """("a2a3", "sim") for "a2a3sim", ("a5", "onboard") for "a5"; ValueError for an unknown name."""
    try:
        return _PLATFORMS[platform]
    except (KeyError, TypeError):
        raise ValueError(f"unknown platform {platform!r}; known: {', '.join(_PLATFORMS)}") from None
