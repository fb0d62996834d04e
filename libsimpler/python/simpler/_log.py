# SPDX-License-Identifier: MIT
"""The Python logger "simpler", whose level Worker.init() hands to the library if it was set."""
import logging

TIMING = 25
NUL = 60
DEFAULT_THRESHOLD = TIMING

logging.addLevelName(TIMING, "TIMING")
logging.addLevelName(NUL, "NUL")


def get_logger():
    """The logger "simpler". Without a level of its own the library's stays: SIMPLER_LOG_LEVEL, or TIMING."""
    return logging.getLogger("simpler")


def get_current_config():
    """The threshold of the library's log."""
    from ._task_interface import log_threshold

    return log_threshold()


def snapshot():
    """Hand the logger's own level to the library."""
    level = get_logger().level
    if level != logging.NOTSET:
        from ._task_interface import log_set_threshold

        log_set_threshold(min(level, NUL))
