"""Reports: what was protected and what was lost, on one page.

Data flow one way: logs and a certificate become facts (`facts`), facts become charts (`drawn`) and words (`said`, `promise`), and
all of them one page (`page`, `build`). A public page is built without the original.
"""
