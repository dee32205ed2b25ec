"""The minimal automaton (DAFSA) of a set of variants: the log's representation on which the paper puts its noise.

In: variants as sequences of activity codes. Out: `Automaton`, the smallest deterministic acyclic automaton that accepts exactly
these sequences. Built incrementally from the sorted variants (Daciuk et al. 2000), in time linear in their total length: when a
variant leaves the path of the one before it, nothing below that point changes any more, and every state there is replaced by an
equal one that is known already.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Trace: TypeAlias = Sequence[int]
START = 0


@dataclass(frozen=True)
class Automaton:
    """The smallest automaton of some sequences.

    `steps[state]` maps a symbol to the number of a transition, and transition i leads to state `targets[i]`. The first state is
    `START`, and `final` holds the states at which a sequence may end.
    """

    steps: tuple[dict[int, int], ...]
    targets: tuple[int, ...]
    final: frozenset[int]

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return len(self.steps)

    @property
    def n_transitions(self) -> int:
        """How many transitions there are."""
        return len(self.targets)

    def path(self, trace: Trace) -> list[int]:
        """The transitions that a sequence takes; a `KeyError` where there is none. No transition comes twice."""
        state, taken = START, []
        for symbol in trace:
            transition = self.steps[state][symbol]
            taken.append(transition)
            state = self.targets[transition]
        return taken

    def accepts(self, trace: Trace) -> bool:
        """Whether the sequence is one of those the automaton was made from."""
        try:
            taken = self.path(trace)
        except KeyError:
            return False
        return (self.targets[taken[-1]] if taken else START) in self.final


def minimal_automaton(traces: Iterable[Trace]) -> Automaton:
    """The smallest automaton that accepts exactly these sequences.

    Example:
        >>> automaton = minimal_automaton([[0, 1, 2], [0, 3, 2], [0, 3]])
        >>> automaton.n_states, automaton.n_transitions
        (5, 5)
        >>> automaton.accepts([0, 3]), automaton.accepts([0, 1])
        (True, False)
    """
    children: list[dict[int, int]] = [{}]
    final: set[int] = set()
    known: dict[tuple[object, ...], int] = {}
    path = [START]  # the states along the latest sequence ...
    before: tuple[int, ...] = ()  # ... which is this

    def settle(depth: int) -> None:
        """Nothing below this depth of the latest sequence changes any more: share its states with equal ones."""
        while len(path) > depth + 1:
            state = path.pop()
            same = known.setdefault((state in final, *children[state].items()), state)
            children[path[-1]][before[len(path) - 1]] = same

    for trace in sorted({tuple(trace) for trace in traces}):
        settle(_common_prefix(before, trace))
        for symbol in trace[len(path) - 1 :]:
            children.append({})
            children[path[-1]][symbol] = len(children) - 1
            path.append(len(children) - 1)
        final.add(path[-1])
        before = trace
    settle(0)
    return _numbered(children, final)


def _common_prefix(one: Trace, other: Trace) -> int:
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += 1
    return length


def _numbered(children: Sequence[dict[int, int]], final: set[int]) -> Automaton:
    """Number the states that can still be reached, and their transitions, from the start on."""
    number = {START: 0}
    queue: list[int] = [START]
    steps: list[dict[int, int]] = []
    targets: list[int] = []
    for state in queue:
        of_state = {}
        for symbol, target in children[state].items():
            if target not in number:
                number[target] = len(number)
                queue.append(target)
            of_state[symbol] = len(targets)
            targets.append(number[target])
        steps.append(of_state)
    return Automaton(tuple(steps), tuple(targets), frozenset(number[state] for state in final if state in number))
