"""The page of a certificate as HTML: one file without anything from elsewhere, made to be printed on A4.

The promise: whatever stands in the certificate is shown as text. Nothing in it can become markup, a link or a script.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from libra.certificate.page import Page, Section

STYLE = """
@page { size: A4; margin: 12mm 14mm }
* { box-sizing: border-box }
body { font: 8.6pt/1.32 "Helvetica Neue", Helvetica, Arial, sans-serif; color: #1a1a1a }
body { max-width: 182mm; margin: 8mm auto; padding: 0 4mm }
@media print { body { margin: 0; padding: 0; max-width: none } }
h1 { font-size: 16pt; font-weight: 600; margin: 0 }
h2 { font-size: 9.4pt; margin: 2.6mm 0 .6mm; border-bottom: .2mm solid #999; break-after: avoid }
p { margin: .5mm 0 }
ul { margin: .3mm 0; padding-left: 4mm }
.issued { color: #555; margin-bottom: 2mm }
.signature { font-weight: 600; margin-bottom: 2mm }
.sentence { font-size: 11.5pt; line-height: 1.36; border-left: 1mm solid #2f5d8a; padding: .5mm 3mm; margin: 2mm 0 }
.warning { border: .5mm solid #b00020; color: #b00020; padding: 1.5mm 3mm; margin: 2mm 0; font-weight: 600 }
table { border-collapse: collapse; margin: .6mm 0 }
td { padding: .15mm 5mm .15mm 0; vertical-align: top; overflow-wrap: anywhere }
td:first-child { white-space: nowrap }
.bar { width: 62mm }
.bar i { display: block; height: 2.4mm; background: #2f5d8a; print-color-adjust: exact; -webkit-print-color-adjust: exact }
.figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
code { font: 8.6pt Menlo, Consolas, monospace; background: #f0f0f0; padding: .2mm 1mm; overflow-wrap: anywhere }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def html_of(page: Page) -> str:
    """The page as one HTML document.

    Example:
        >>> made = html_of(Page("Certificate", "Issued <today>", (), "Nothing is promised.", ()))
        >>> "Issued &lt;today&gt;" in made, made.startswith("<!DOCTYPE html>")
        (True, True)
    """
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(page.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
    )
    lines = [f"<h1>{escape(page.title)}</h1>", f'<p class="issued">{escape(page.issued)}</p>']
    if page.signature:
        lines.append(f'<p class="signature">{escape(page.signature)}</p>')
    if page.warnings:
        told = "".join(f"<p>{escape(warning)}</p>" for warning in page.warnings)
        lines.append(f'<div class="warning"><p>{escape(page.verdict)}</p>{told}</div>')
    lines.append(f'<p class="sentence">{escape(page.sentence)}</p>')
    lines += [line for section in page.sections for line in _section(section)]
    return head + "\n".join(lines) + "\n</body>\n</html>\n"


def _section(section: Section) -> Iterator[str]:
    yield f"<h2>{escape(section.title)}</h2>"
    if section.table:
        yield f"<table>{''.join(_rows(section.table))}</table>"
    if section.bars:
        yield f"<table>{''.join(_bars(section.bars))}</table>"
    for paragraph in section.text:
        yield f"<p>{escape(paragraph)}</p>"
    if section.points:
        yield f"<ul>{''.join(f'<li>{escape(point)}</li>' for point in section.points)}</ul>"
    if section.command:
        yield f"<p><code>{escape(section.command)}</code></p>"


def _rows(table: tuple[tuple[str, ...], ...]) -> Iterator[str]:
    for row in table:
        yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"


def _bars(bars: tuple[tuple[str, float], ...]) -> Iterator[str]:
    for name, share in bars:
        percent = 100 * min(max(share, 0.0), 1.0)
        yield (
            f'<tr><td>{escape(name)}</td><td class="figure">{100 * share:.1f} %</td>'
            f'<td class="bar"><i style="width: {percent:.1f}%"></i></td></tr>'
        )
