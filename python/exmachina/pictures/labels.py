"""Where labels go next to points, so that none covers another, a point, or the edge of the picture."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["place_labels"]

Floats = npt.NDArray[np.float64]

DIRECTIONS = 16
REACHES = (1.0, 1.8, 3.0, 4.5, 6.5)
"""Distances that are tried, in the gap between a point and a label beside it."""
PASSES = 4
EDGE, LABEL, POINT = 20.0, 10.0, 4.0
"""What it costs to stick out, or to cover a label or a point, per unit of area."""
LINE, AWAY = 1.5, 0.3
"""What it costs to cover a dot of a line, or to be a unit of length away, per unit of the label's height."""


@dataclass(frozen=True)
class _Room:
    """Where labels may be, and what they should not cover."""

    frame: tuple[float, float, float, float]
    """Left, bottom, right, top."""
    marks: Floats
    """Boxes around the points, by their corners, shape (n, 2, 2)."""
    lines: Floats
    """Dots of lines, shape (m, 2)."""


def place_labels(
    points: Floats,
    sizes: Floats,
    frame: tuple[float, float, float, float],
    *,
    lines: Floats | None = None,
    gap: float = 8.0,
) -> Floats:
    """Centres of the labels of points.

    Each label in turn takes the cheapest of a number of places around its point; then each in turn again, now that
    the others are where they are.

    Args:
        points: Shape (n, 2), in any unit of length, such as dots of the screen.
        sizes: Widths and heights of the labels, shape (n, 2).
        frame: Left, bottom, right and top of the room there is.
        lines: Dots of lines that are better not covered, shape (m, 2).
        gap: Between a point and a label that is right beside it.
    """
    centres = np.full(points.shape, np.nan)
    marks = np.stack([points - gap / 2, points + gap / 2], axis=1)
    room = _Room(frame, marks, np.empty((0, 2)) if lines is None else lines)
    for _ in range(PASSES):
        before = centres.copy()
        for i, (point, size) in enumerate(zip(points, sizes, strict=True)):
            others = np.delete(np.stack([centres - sizes / 2, centres + sizes / 2], axis=1), i, axis=0)
            places = _around(point, size, gap)
            costs = [_cost(place, size, point, others, room) for place in places]
            centres[i] = places[int(np.argmin(costs))]
        if np.array_equal(before, centres):
            break
    return centres


def _around(point: Floats, size: Floats, gap: float) -> list[Floats]:
    """Places for the centre of a label: in all directions, so far out that its edge is beside the point, or further."""
    places = []
    for reach in REACHES:
        for angle in np.arange(DIRECTIONS) * (2 * np.pi / DIRECTIONS):
            direction = np.array([np.cos(angle), np.sin(angle)])
            places.append(point + direction * (size / 2 + gap * reach))
    return places


def _cost(place: Floats, size: Floats, point: Floats, others: Floats, room: _Room) -> float:
    low, high = place - size / 2, place + size / 2
    inside = _overlap(low, high, np.array([[room.frame[:2], room.frame[2:]]]))
    away = float(np.linalg.norm(np.maximum(np.abs(place - point) - size / 2, 0)))
    covered = int(np.all((room.lines > low) & (room.lines < high), axis=1).sum())
    return (
        EDGE * (float(np.prod(size)) - inside)
        + LABEL * _overlap(low, high, others)
        + POINT * _overlap(low, high, room.marks)
        + (LINE * covered + AWAY * away) * float(size[1])
    )


def _overlap(low: Floats, high: Floats, boxes: Floats) -> float:
    """Area that a box shares with others, each of which is two corners; those that are nowhere yet share none."""
    sides = np.minimum(high, boxes[:, 1]) - np.maximum(low, boxes[:, 0])
    return float(np.nansum(np.prod(np.maximum(sides, 0), axis=1)))
