"""The process that Graphviz has to itself: it may take for ever or break down without harm to its parent.

In, through stdin: a JSON list of graphs in the DOT language. Out, on stdout: for each, as soon as it is laid out, a line of JSON
with the positions as Graphviz writes them. This file is run by its path and needs nothing of Libra, so that it starts at once.
"""

from __future__ import annotations

import json
import sys


def main() -> None:
    """Lay out what stdin asks for."""
    from pygraphviz import AGraph

    for text in json.load(sys.stdin):
        graph = AGraph(string=text)
        graph.layout("dot")
        edges = graph.edges_iter(keys=True)
        found = {
            "box": graph.graph_attr["bb"],
            "nodes": {str(node): node.attr["pos"] for node in graph.nodes_iter()},
            "edges": {edge[2]: [graph.get_edge(*edge).attr[name] or "" for name in ("pos", "lp")] for edge in edges},
        }
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
