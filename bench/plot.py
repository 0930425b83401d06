"""A line plot as SVG text, both axes logarithmic: enough for curves that should be flat."""

from __future__ import annotations

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 70, 50, 34, 130
COLOURS = ("#0b6e4f", "#c8553d", "#3d5a98", "#8a6d1d", "#6b4c9a", "#444444")

Points = list[tuple[float, float]]


def _ticks(low: float, high: float) -> list[float]:
    return [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def _label(value: float) -> str:
    return f"{value:g}" if 0.001 <= value < 10000 else f"10^{math.log10(value):.0f}"


def svg(title: str, across: str, up: str, lines: dict[str, Points]) -> str:
    """The picture of some lines; points at or below zero cannot be drawn and are left out."""
    lines = {name: [(x, y) for x, y in points if x > 0 and y > 0] for name, points in lines.items()}
    lines = {name: points for name, points in lines.items() if points}
    every = [point for points in lines.values() for point in points]
    if not every:
        nothing = f'<text x="8" y="24">{escape(title)}: nothing was measured</text>'
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="40">{nothing}</svg>\n'
    xs, ys = (_ticks(min(values), max(values)) for values in zip(*every, strict=True))

    def at(value: float, ticks: list[float], start: float, length: float) -> float:
        low, high = math.log10(ticks[0]), math.log10(ticks[-1])
        return start + (math.log10(value) - low) / max(high - low, 1e-9) * length

    def x_of(value: float) -> float:
        return at(value, xs, LEFT, WIDTH - LEFT - RIGHT)

    def y_of(value: float) -> float:
        return at(value, ys, HEIGHT - BOTTOM, -(HEIGHT - BOTTOM - TOP))

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"',
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(across)}</text>',
        f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">{escape(up)}</text>',
    ]
    for tick in xs:
        parts.append(f'<path d="M{x_of(tick):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        parts.append(f'<text x="{x_of(tick):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{_label(tick)}</text>')
    for tick in ys:
        parts.append(f'<path d="M{LEFT} {y_of(tick):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y_of(tick) + 4:.1f}" text-anchor="end">{_label(tick)}</text>')
    for n, (name, points) in enumerate(lines.items()):
        colour, path = COLOURS[n % len(COLOURS)], " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in sorted(points))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        parts.append(f'<text x="{WIDTH - RIGHT + 10}" y="{TOP + 14 + 18 * n}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])
