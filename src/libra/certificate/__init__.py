"""The certificate: what is promised of a released file, as a document that people can read and anyone can check.

Nothing here sees an original log. `document` writes and reads it, `verify` checks it, `page` shows it.
"""
