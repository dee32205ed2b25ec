"""What people look at: reports, process maps, and the pages, tables and plots of a comparison.

Data flow one way. Logs become `facts`; facts become `words` (tables and `charts` too) and `maps`; with the `promise` of a
certificate they become one `page` (`build`). A public page is built without the original. `comparison_page`, `comparison_files`
and `curves` show a comparison. Text from a log goes through `text`, figures through `numbers`, looks through `drawing`.
"""
