# SPDX-License-Identifier: MIT
"""One BlockInCore task whose blocks share the rows."""
import pypto.language as pl

ROWS, COLS, BLOCKS, BAND = 256, 32, 8, 16
TOLERANCE = 1e-6


@pl.program
class BlockSpmd:
    @pl.function(type=pl.FunctionType.BlockInCore)
    def scale(self, x: pl.Tensor[[ROWS, COLS], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
              blockdim: pl.Scalar[pl.INT32], block_id: pl.Scalar[pl.INT32]) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        rows = ROWS // blockdim
        for i in pl.range(0, rows, BAND):
            first = block_id * rows + i
            t = pl.load(x, [first, 0], [BAND, COLS])
            y = pl.store(pl.add(pl.mul(t, 2.0), 1.0), [first, 0], [BAND, COLS], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[ROWS, COLS], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]]
             ) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        y = self.scale(x, y, blockdim=BLOCKS)
        return y


def case(random):
    x = random.uniform(-4, 4, (ROWS, COLS)).astype("float32")
    return [x, x * 0], [x.astype("float64") * 2 + 1]
