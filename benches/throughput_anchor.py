"""The closed loop of benches/throughput.rs as a plain event simulation in Python: request-steps a second, and tokens a second.

One event is one step: admit, prefill, step time, one draw for the whole batch, emit, retire. Nothing is skipped.
"""

import random
import sys
import time

A, B, C, P1 = 0.012, 6e-6, 2e-8, 2e-5
DRAFTS, LENGTH = 4, 3.51


def simulate(concurrency, seconds, seed=1):
    draw = random.Random(seed)

    def request():
        return [draw.randint(500, 1500), draw.randint(500, 1500)]

    queue = [request() for _ in range(concurrency)]
    left, context = [], []
    now, tokens, request_steps = 0.0, 0, 0
    while queue or left:
        taken = 0
        while queue and (taken == 0 or taken + queue[0][0] <= 8192):
            prompt, output = queue.pop(0)
            taken += prompt
            left.append(output - 1)
            context.append(prompt)
            tokens += 1
        if taken:
            now += P1 * taken
            continue
        running = len(left)
        now += A + B * running * (DRAFTS + 1) + C * sum(context)
        accepted = 4 if draw.random() < LENGTH - 3 else 3
        request_steps += running
        kept_left, kept_context = [], []
        for rest, held in zip(left, context):
            emitted = min(accepted, rest)
            tokens += emitted
            if rest > emitted:
                kept_left.append(rest - emitted)
                kept_context.append(held + emitted)
            elif now < seconds:
                queue.append(request())
        left, context = kept_left, kept_context
    return request_steps, tokens / now


if __name__ == "__main__":
    concurrency, seconds = int(sys.argv[1]), float(sys.argv[2])
    start = time.perf_counter()
    request_steps, tps = simulate(concurrency, seconds)
    print(request_steps / (time.perf_counter() - start), tps)
