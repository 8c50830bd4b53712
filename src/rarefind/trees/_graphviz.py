"""A tree of trees in DOT, the language of Graphviz."""

from __future__ import annotations

from rarefind._core.types import Bools, Floats
from rarefind.trees.graph import MetaTree
from rarefind.trees.layout import Box, boxes_and_ends
from rarefind.trees.svg import COLOURS, box_colour


def to_graphviz(
    tree: MetaTree, score: Floats, names: list[str], has_missing: Bools | None = None
) -> str:
    """Write the tree in DOT, with the same content as the SVG.

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

    Returns
    -------
    str
    """
    boxes, ends = boxes_and_ends(tree, score, names, has_missing)
    lines = [
        "digraph tree {",
        '  node [shape=box, style="rounded,filled", fontname="Helvetica"];',
    ]
    lines += [f"  {number} [{_attributes(box)}];" for number, box in enumerate(boxes)]
    leaves = " ".join(f"{number};" for number in range(len(ends), len(boxes)))
    lines.append(f"  {{ rank=sink; {leaves} }}")
    for number, (yes, no) in enumerate(ends):
        if yes == no:
            lines.append(f'  {number} -> {yes} [color="{COLOURS[None]}"];')
            continue
        lines.append(f'  {number} -> {yes} [color="{COLOURS[True]}"];')
        lines.append(f'  {number} -> {no} [color="{COLOURS[False]}", style=dashed];')
    return "\n".join([*lines, "}"]) + "\n"


def _attributes(box: Box) -> str:
    label = r"\n".join(map(_escape, box.lines))
    return f'label="{label}", tooltip="{_escape(box.tip)}", fillcolor="{box_colour(box)}"'


def _escape(text: str) -> str:
    """Text within quotes, where a backslash starts an escape."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    # Graphviz reads entities of HTML in labels.
    return text.replace("\\", "\\\\").replace('"', r"\"").replace("&", "&amp;")
