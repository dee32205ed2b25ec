"""What people look at: reports, process maps, and the pages, tables and plots of a comparison.

Data flow one way. Logs become `facts`; facts become charts (`drawn`, from `charts` and `bars`), maps and `words`; with the
`promise` of a certificate they become one `page` (`build`). A public page is built without the original. The `comparison_*`
modules and `curves` show a comparison. Text from a log goes through `text`, figures through `numbers`, looks through `style`.
"""
