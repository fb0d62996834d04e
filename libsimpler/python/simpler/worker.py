# SPDX-License-Identifier: MIT
"""Worker and RunHandle."""
from . import _log
from ._task_interface import RunHandle
from ._task_interface import Worker as _Worker

__all__ = ["RunHandle", "Worker"]


class Worker(_Worker):
    __doc__ = _Worker.__doc__

    def init(self, prewarm_config=None, *, borrowed_context_generation=None):
        """Open the chip and install the registered callables."""
        _log.snapshot()
        super().init(prewarm_config, borrowed_context_generation=borrowed_context_generation)
