"""The process that Graphviz has to itself, so that it may hang or crash without harm to its parent.

It reads graphs in the DOT language from stdin as JSON and writes one line of JSON for each layout. It is run by its path and
imports next to nothing of Libra, so that it starts at once.
"""

from __future__ import annotations

import json
import signal
import sys

from libra._system.workers import end_with_parent


def main() -> None:
    """Lay out what stdin asks for."""
    asked = json.load(sys.stdin)
    end_with_parent(asked["parent"])
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, asked["seconds"])  # which ends the process, even one that Graphviz is busy in
        signal.setitimer(signal.ITIMER_REAL, asked["patience"])
    from pygraphviz import AGraph

    for text in asked["graphs"]:
        graph = AGraph(string=text)
        graph.layout("dot")
        edges = (edge for edge in graph.edges_iter(keys=True) if edge[2])
        found = {
            "box": graph.graph_attr["bb"],
            "nodes": {str(node): node.attr["pos"] for node in graph.nodes_iter()},
            "edges": {edge[2]: [graph.get_edge(*edge).attr[name] or "" for name in ("pos", "lp")] for edge in edges},
        }
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
