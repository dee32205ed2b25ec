"""Labels of unknown origin as text for people, no two of them alike.

In: labels. Out: for each what is shown of it. Where two labels would be shown alike, since they differ in what is cut off or
cannot be seen, each gets a number behind its text. The promise: different labels are shown differently, whatever they are; the
order in which they come does not matter; and the work grows with the number of labels, also where all of them clash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from libra.charts.text import shown


def shown_apart(labels: Iterable[str], most: int = 60) -> dict[str, str]:
    """What is shown of each label: at most so many characters, and behind them a number where others would look the same.

    Example:
        >>> shown_apart(["Blood test, first", "Blood test, second", "Leave"], most=10)
        {'Blood test, first': 'Blood tes… (1)', 'Blood test, second': 'Blood tes… (2)', 'Leave': 'Leave'}
    """
    texts = {label: shown(label, most) for label in labels}
    numbers = numbers_behind({label: (text,) for label, text in texts.items()})
    return {label: text + numbers[label] for label, text in texts.items()}


def numbers_behind(forms: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """What to put behind all the forms of a label: a number where its last form, the shortest, is that of others too, or nothing.

    Labels that agree in any of their forms have to agree in the last one. Numbers go by the order of the alphabet, and pass over
    those with which a form would be that of another label.

    Example:
        >>> numbers_behind({"Triage": ("Triage",), "Triage ": ("Triage",), "Triage (1)": ("Triage (1)",)})
        {'Triage': ' (2)', 'Triage ': ' (3)', 'Triage (1)': ''}
    """
    often = Counter(of[-1] for of in forms.values())
    taken = {form for of in forms.values() for form in of}
    last: Counter[str] = Counter()
    behind = {}
    for label in sorted(forms):
        of = forms[label]
        number = ""
        while often[of[-1]] > 1 and (not number or any(form + number in taken for form in of)):
            last[of[-1]] += 1
            number = f" ({last[of[-1]]})"
        behind[label] = number
    return {label: behind[label] for label in forms}
