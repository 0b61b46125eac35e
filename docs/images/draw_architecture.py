"""Draw docs/images/architecture.svg, the walk of one command through the folders; run it from the root."""

from __future__ import annotations

from pathlib import Path

# Lanes from top to bottom; in each the folders that a clustering passes through, from left to right, with its steps.
LANES = (
    ("read", (("apps/cli/", "1-2"), ("graph/", "3-4"), ("graph/groups/", "5"))),
    ("solve", (("base.py", "6"), ("community/", "7"), ("search/", "7"))),
    ("score", (("base.py", "8"), ("results/", "9"), ("metrics/", "9"))),
    ("write", (("results/", "10"), ("apps/report/", "11"), ("apps/cli/", "11"))),
)
PASSED = (
    "EDGES, --groups",
    "Graph: CSR, names, groups",
    "labels in node order",
    "ClusteringResult",
    "out/report.html",
)
WIDTH, BOX, HIGH, GAP, LEFT = 760, 190, 46, 92, 110


def _text(
    x: float, y: float, words: str, size: int = 14, anchor: str = "middle", colour: str = "#222"
) -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1} {y1} L{x2} {y2}" stroke="#666" stroke-width="1.5" marker-end="url(#end)"/>'


def draw() -> str:
    height = 40 + len(LANES) * GAP + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        '<defs><marker id="end" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#666"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    middle = LEFT + 1.5 * (BOX + 20) - 10
    for row, (lane, boxes) in enumerate(LANES):
        y = 40 + row * GAP
        parts += [
            _text(middle, y - 12, PASSED[row], 12, colour="#555"),
            _text(16, y + 29, lane, 15, "start", "#0072b2"),
        ]
        for place, (name, steps) in enumerate(boxes):
            x = LEFT + place * (BOX + 20)
            parts.append(
                f'<rect x="{x}" y="{y}" width="{BOX}" height="{HIGH}" rx="6" fill="#eef4fa" stroke="#0072b2"/>'
            )
            parts += [
                _text(x + BOX / 2, y + 20, name),
                _text(
                    x + BOX / 2,
                    y + 38,
                    f"steps {steps}" if "-" in steps else f"step {steps}",
                    12,
                    colour="#555",
                ),
            ]
            if place:
                parts.append(_arrow(x - 20, y + HIGH / 2, x - 1, y + HIGH / 2))
        last = LEFT + 2 * (BOX + 20) + BOX / 2
        if row + 1 < len(LANES):
            turn = y + HIGH + 14
            parts.append(
                f'<path d="M{last} {y + HIGH} V{turn} H{LEFT + BOX / 2} V{y + GAP - 1}" fill="none" stroke="#666" '
                'stroke-width="1.5" marker-end="url(#end)"/>'
            )
    parts += [_text(middle, 40 + (len(LANES) - 1) * GAP + HIGH + 24, PASSED[-1], 12, colour="#555"), "</svg>"]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    Path("docs/images/architecture.svg").write_text(draw())
