"""Draws a second of PyTorch, by the statements of SGLang's sampler: match-expected, then multinomial."""

import time

import torch

DRAWS = 20_000
TARGET = 3.51
LARGEST = 6


def match_expected():
    low = int(TARGET)
    weight = TARGET - low
    weights = torch.tensor([1 - weight, weight], dtype=torch.float32)
    return low + torch.multinomial(weights, num_samples=1).item()


def multinomial():
    value = torch.normal(mean=TARGET, std=1.0, size=(1,), device="cpu")
    return int(torch.clamp(value, min=1.0, max=float(LARGEST)).round().item())


torch.set_num_threads(1)
for draw in (match_expected, multinomial):
    torch.manual_seed(320846001)
    for _ in range(1000):
        draw()
    began = time.perf_counter()
    for _ in range(DRAWS):
        draw()
    print(DRAWS / (time.perf_counter() - began))
