"""The certificate: what is promised of a released file, as a document that people can read and anyone can check.

Nothing here sees an original log. `document` writes and reads it, `schema.json` says what it looks like, `verify` checks it
against the file and against itself, `page` and `html` put it on one page.
"""
