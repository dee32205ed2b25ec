"""The paper's tables, computed again: `folder` finds the logs, `run` computes, `page` writes Markdown.

`paper` holds what was printed, `settings` the readings of the paper that are compared with it.
"""
