"""The work of benches/law.rs done by NumPy: steps a second of processor time, the best of seven runs, by name.

counts: the tokens of a million lines of 40 steps, one binomial variate each. sequence: four million steps of 3 or 4.
"""

import time

import numpy

WEIGHT = 3.51 - 3


def rate(steps, work):
    best = float("inf")
    for _ in range(7):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return steps / best


random = numpy.random.default_rng(1)
print("counts", rate(40e6, lambda: 120 + random.binomial(40, WEIGHT, 1_000_000)))
print("sequence", rate(4e6, lambda: 3 + (random.random(4_000_000) < WEIGHT).astype(numpy.uint32)))
