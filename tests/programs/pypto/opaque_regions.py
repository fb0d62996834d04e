# SPDX-License-Identifier: MIT
"""The requirement's example of an anonymous region, with tensor arithmetic before and behind it."""
import pypto.language as pl

TOLERANCE = 1e-5


@pl.program
class OpaqueRegions:
    @pl.function
    def main(self, x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
        y = x + 1
        with pl.incore():
            tile = pl.load(y, [0], [64])
            tile_sq = pl.mul(tile, tile)
            result = pl.store(tile_sq, [0], [64], x)
        z = result + 2
        return z


def case(random):
    x = random.uniform(-4, 4, (64,)).astype("float32")
    return [x], [(x.astype("float64") + 1) ** 2 + 2]
