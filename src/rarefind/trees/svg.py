"""A tree of trees as a picture for a browser."""

from __future__ import annotations

from xml.sax.saxutils import escape

from rarefind._core.types import Bools, Floats
from rarefind.trees.graph import MetaTree
from rarefind.trees.layout import FONT, LINE, Box, Line, ValueWords, lay_out

# Green and red that differ in lightness too; the dashes tell them apart without colour.
HOLDS, FAILS, ALWAYS = "#00795A", "#CC3311", "#1B1F24"
COLOURS = {True: HOLDS, False: FAILS, None: ALWAYS}
DASH = (5.0, 3.0)
INK, FRAME, START = "#1B1F24", "#8A9099", "#DCEAF5"
_COLD, _HOT = (0xF1, 0xF3, 0xF5), (0xF2, 0x8E, 0x3C)
_NAMES = {True: "holds", False: "fails", None: "always"}
#: Height of the line that says what colours and numbers mean.
LEGEND = 34.0
LEGEND_WIDTH = 600.0
ARROW = 7.0


def to_svg(
    tree: MetaTree,
    score: Floats,
    names: list[str],
    has_missing: Bools | None = None,
    words: ValueWords | None = None,
) -> str:
    """Draw the tree: conditions from the top down, leaves below, the first one left.

    Parameters
    ----------
    tree : MetaTree
        The tree.
    score : ndarray of shape (n_outer_nodes,)
        Score of each outer node; those of leaves are used.
    names : list of str
        Names of the features.
    has_missing : ndarray of bool, default=None
        Features whose boxes say where a missing value goes; by default only their tips do.
    words : ValueWords, default=None
        How values are written; by default as they are.

    Returns
    -------
    str
        An SVG element that needs nothing else, as wide as what it is put into and no higher than
        the window.
    """
    layout = lay_out(tree, score, names, has_missing, words)
    width, height = max(layout.width, LEGEND_WIDTH), layout.height + LEGEND
    title = f"A tree of {tree.conditions.feature.size} conditions and {tree.is_leaf.sum()} leaves"
    shift = (width - layout.width) / 2
    style = f"display: block; margin: auto; max-height: 100vh; max-width: {1.5 * width:.0f}px"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="100%" style="{style}" role="img" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="{FONT:g}" fill="{INK}">',
        f"<title>{title}</title>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#FFFFFF"/>',
        *_legend(),
        f'<g transform="translate({shift:.1f} {LEGEND:g})">',
        *map(_line, layout.lines),
        *map(_arrowhead, [line for line in layout.lines if line.arrives]),
        *map(_box, layout.boxes),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def heat_colour(heat: float) -> str:
    """Colour of a leaf, from grey for the lowest score to orange for the highest."""
    mixed = [round(cold + heat * (hot - cold)) for cold, hot in zip(_COLD, _HOT, strict=True)]
    return "#" + "".join(f"{part:02X}" for part in mixed)


def box_colour(box: Box) -> str:
    """Colour of a box: conditions where an inner tree starts are blue, others white."""
    if box.heat is not None:
        return heat_colour(box.heat)
    return START if box.starts else "#FFFFFF"


def _legend() -> list[str]:
    lines = []
    for x, holds, text in ((12, True, "the condition holds"), (172, False, "it does not")):
        lines += [
            f'<path d="M{x} 18h20" stroke="{COLOURS[holds]}"{_dash(holds)} stroke-width="1.6"/>',
            f'<path d="M{x + 28} 18l-8 -3.5v7z" fill="{COLOURS[holds]}"/>',
            f'<text x="{x + 34}" y="22">{text}</text>',
        ]
    return [
        *lines,
        f'<rect x="292" y="11" width="20" height="14" rx="3" fill="{START}" stroke="{FRAME}"/>',
        '<text x="318" y="22">an inner tree starts</text>',
        '<text x="452" y="22">(negatives, positives)</text>',
    ]


def _dash(holds: bool | None) -> str:
    return f' stroke-dasharray="{DASH[0]:g} {DASH[1]:g}"' if holds is False else ""


def _line(line: Line) -> str:
    (x0, y0), (x1, y1) = line.start, line.end
    y1 -= ARROW if line.arrives else 0
    middle = (y0 + y1) / 2
    curve = f"M{x0:.1f} {y0:.1f}C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
    run = f"v{line.run:.1f}" if line.run else ""
    return (
        f'<path class="{_NAMES[line.holds]}" d="{curve}{run}" fill="none" '
        f'stroke="{COLOURS[line.holds]}"{_dash(line.holds)} stroke-width="1.6"/>'
    )


def _arrowhead(line: Line) -> str:
    x, y = line.end
    half = ARROW / 2
    return (
        f'<path d="M{x:.1f} {y:.1f}l{-half:g} {-ARROW - 1:g}h{ARROW:g}z" '
        f'fill="{COLOURS[line.holds]}"/>'
    )


def _box(box: Box) -> str:
    left, top = box.x - box.width / 2, box.y - box.height / 2
    kind = "condition" if box.heat is None else "leaf"
    fill = box_colour(box)
    radius = 4 if box.heat is None else 10
    texts = "".join(
        f'<text x="{box.x:.1f}" y="{top + 5 + LINE * (i + 0.75):.1f}" text-anchor="middle"'
        f"{_face(box, i)}>{_escape(text)}</text>"
        for i, text in enumerate(box.lines)
    )
    return (
        f'<g class="{kind}"><title>{_escape(box.tip)}</title>'
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="{radius}" fill="{fill}" stroke="{FRAME}"/>{texts}</g>'
    )


def _face(box: Box, line: int) -> str:
    """The counts are quieter than the rest, the name of a leaf and its score louder."""
    if line == len(box.lines) - 1:
        return ' fill="#4A5058"'
    return "" if box.heat is None else ' font-weight="bold"'


def _escape(text: str) -> str:
    """Text for XML, which has no room for control characters."""
    return escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))
