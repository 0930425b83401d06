"""The values of the data: made from formulas and seeded noise, the same on every machine with the same NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Shape = tuple[int, int, int]
SLAB = 16


def weather(shape: Shape) -> npt.NDArray[np.float32]:
    """float32 like a temperature: gradient, season, travelling waves, and noise, in steps of 1/64 K as packed data has them."""
    out = np.empty(shape, np.float32)
    latitude = np.linspace(-np.pi / 2, np.pi / 2, shape[1], dtype=np.float32)[:, None]
    longitude = np.linspace(0, 2 * np.pi, shape[2], endpoint=False, dtype=np.float32)[None, :]
    for start in range(0, shape[0], SLAB):
        noise = np.random.default_rng([20, start])
        for day in range(start, min(start + SLAB, shape[0])):
            plane = 250 + 45 * np.cos(latitude) + 8 * np.sin(latitude) * np.float32(np.sin(day * 2 * np.pi / 365.25))
            for number, speed, height in ((2, 0.11, 4.0), (5, 0.37, 2.5), (9, 0.71, 1.0), (14, 1.13, 0.5)):
                crest = np.sin(number * longitude - np.float32(speed * day + number))
                plane = plane + np.float32(height) * crest * np.cos(latitude * np.float32(number))
            plane = plane + np.float32(0.1) * noise.standard_normal(plane.shape, dtype=np.float32)
            out[day] = np.round(plane * 64) / 64
    return out


def _between(length: int, knots: int) -> npt.NDArray[np.float32]:
    """The matrix that draws straight lines between evenly spaced knots."""
    at = np.linspace(0, knots - 1, length)
    low = np.minimum(at.astype(int), knots - 2)
    matrix = np.zeros((length, knots), np.float32)
    rows = np.arange(length)
    matrix[rows, low + 1] = at - low
    matrix[rows, low] = 1 - (at - low)
    return matrix


def cells(shape: Shape, empty: bool = True) -> npt.NDArray[np.uint16]:
    """uint16 like a light-sheet volume: soft bright bodies on a dark ground, shot noise, 12 bits. With `empty`, nothing was
    recorded in a corner (1/16 of the volume): zeros, so that whole chunks are absent."""
    knots = tuple(max(length // 12, 3) for length in shape)
    bodies = np.random.default_rng(31).gamma(0.6, 220, knots).astype(np.float32)
    along = [_between(length, count) for length, count in zip(shape, knots, strict=True)]
    out = np.empty(shape, np.uint16)
    for start in range(0, shape[0], SLAB):
        noise = np.random.default_rng([32, start])
        for z in range(start, min(start + SLAB, shape[0])):
            light = 105 + along[1] @ np.tensordot(along[0][z], bodies, 1) @ along[2].T
            light += np.sqrt(light) * np.float32(0.7) * noise.standard_normal(light.shape, dtype=np.float32)
            out[z] = np.clip(np.round(light), 0, 4095)
    if empty:
        out[: shape[0] // 2, : shape[1] // 2, : shape[2] // 4] = 0
    return out
