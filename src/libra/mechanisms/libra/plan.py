"""The plan: how the requested guarantee is divided among releases, decided before any case is looked at.

Only public facts go in, so a plan can be shown to anyone. Parameters of libra that users write as text are read here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from libra._system.arguments import checked
from libra.engines.contract import CASE, Unit
from libra.errors import UsageError
from libra.eventlog.attributes import Attribute, by_level
from libra.eventlog.instances import SEPARATOR
from libra.eventlog.names import ACTIVITY, CASE_ID, CASE_INDEX, START_TIMESTAMP, TIMESTAMP
from libra.eventlog.notes import listed
from libra.mechanisms.libra.attributes.shares import of_levels, private_values, usual_share
from libra.mechanisms.libra.dividing import Divided, Look, divided
from libra.mechanisms.libra.tail.certain import FALSE_SHARE
from libra.mechanisms.libra.tail.release import LENGTHS, SIZE
from libra.privacy.accounting import before_subsampling, delta_of_ledger
from libra.privacy.calibration import Calibration, Choice
from libra.privacy.gate import geometric_entry
from libra.privacy.guarantee import NAMES_PUBLIC, RELEASE_ONCE, suited
from libra.privacy.ledger import (
    LABEL_SELECTION,
    ROUNDED_GAUSSIAN,
    TRUNCATED_GEOMETRIC,
    VALUE_SELECTION,
    VARIANT_SELECTION,
    Entry,
    Ledger,
)

Tail: TypeAlias = Literal["model", "nearest", "drop"]
Edges: TypeAlias = Literal["certain", "all"]
Labels: TypeAlias = Literal["private", "public", "listed"]
TAILS: tuple[Tail, ...] = ("model", "nearest", "drop")
EDGES: tuple[Edges, ...] = ("certain", "all")
STANDS_OUT = 3.0  # standard deviations of a count that is not mistaken for noise
ONE_IN = f"1 in {1 / FALSE_SHARE:.0f}"  # of the edges that are taken may be false, where they have to be certain
PRIVATE, PUBLIC = "private", "public"
WAYS = "Say it as control=0.55,times=0.45, or with attributes as control=0.46,times=0.34,attributes=0.2"
# What times get beside attributes, of what they would: errors of counts grow with the noise, those of durations less.
BESIDE_ATTRIBUTES = 17 / 18
MOST_ATTRIBUTES = 200
OF_EVERY_LOG = (CASE_ID, CASE_INDEX, ACTIVITY, TIMESTAMP, START_TIMESTAMP)


@dataclass(frozen=True)
class Budget:
    """Shares of what is spent (of mu^2): for control flow, for times, and for attributes. They add up to 1."""

    control: float = 0.55
    times: float = 0.45
    attributes: float = 0.0

    def to_dict(self) -> dict[str, float]:
        """The shares by name; that of attributes only where there is one."""
        return {name: share for name, share in vars(self).items() if share}

    def with_attributes(self, share: float) -> Budget:
        """The same, with this share for attributes, where they have none yet."""
        if not share or self.attributes:
            return self
        times = round(self.times * (1 - share) * BESIDE_ATTRIBUTES, 12)
        return Budget(round(1 - share - times, 12), times, share)


DEFAULT_BUDGET = Budget()


@dataclass(frozen=True)
class Plan:
    """How a guarantee is spent."""

    epsilon: float  # what is promised of everything together
    delta: float  # likewise
    rate: float  # the probability with which a case takes part in a run
    runs: int  # how many runs there are, each on a subsample of its own
    calibration: Calibration  # of one run
    mu_second: float  # for the second look at kept variants, and as much for the tail, the choice of its labels included
    mu_times: float  # for the times
    tail: Tail  # what happens to rare cases
    unit: Unit = CASE  # who is protected
    edges: Edges = "certain"  # which steps of rare cases are taken: those that stand out in two looks, or all that may be there
    labels: Labels = "private"  # which may be released: those chosen privately, all ("public"), or those of a list
    attributes: tuple[Attribute, ...] = ()  # which are released
    mu_attributes: float = 0.0  # for these
    look: Look | None = None  # at the number of rare cases, where there is one
    instead: tuple[tuple[float, Plan], ...] = ()  # what is done if it finds at most so many, in ascending order

    @property
    def choices(self) -> dict[int, Choice]:
        """How the values of attributes are chosen, by the number of the attribute."""
        return dict(zip(private_values(self.attributes), self.calibration.value_choices, strict=True))

    @property
    def mu_of_cases(self) -> float:
        """For all attributes of cases."""
        return self.mu_attributes * math.sqrt(of_levels(self.attributes)[0])

    @property
    def mu_of_events(self) -> float:
        """For each attribute of events."""
        return self.mu_attributes * math.sqrt(of_levels(self.attributes)[1])

    @property
    def mu_tail(self) -> float:
        """For the tail after its labels are chosen."""
        return math.sqrt(self.mu_second**2 - self.calibration.mu_labels**2)

    def spent(self) -> Ledger:
        """The ledger of a run that spends all it may, for the accountant."""
        noise = self.calibration
        entries = [] if self.look is None else [Entry("rare cases", ROUNDED_GAUSSIAN, self.look.mu, 1.0)]
        if noise.geometric is None:
            entries.append(Entry("variants", VARIANT_SELECTION, noise.mu_variants, 1.0, shows=noise.variant_shows))
        else:
            entries.append(geometric_entry(*noise.geometric))
        for number, each in enumerate(noise.label_rounds):
            entries.append(Entry("labels", LABEL_SELECTION, each.mu, 1.0, "tail", noise.labels_show(number)))
        if self.mu_second:
            entries.append(Entry("counts", ROUNDED_GAUSSIAN, self.mu_second, 1.0, "all" if self.tail == "nearest" else "kept"))
        if self.tail == "model":
            entries.append(Entry("tail", ROUNDED_GAUSSIAN, self.mu_tail, 1.0, "tail"))
        entries.append(Entry("times", ROUNDED_GAUSSIAN, self.mu_times, 1.0))
        for number, choice in enumerate(noise.value_choices):
            entries.append(Entry("values", VALUE_SELECTION, choice.mu, 1.0, shows=noise.values_show(number)))
        if self.attributes:
            chosen = math.hypot(*(choice.mu for choice in noise.value_choices))
            entries.append(Entry("attributes", ROUNDED_GAUSSIAN, math.sqrt(self.mu_attributes**2 - chosen**2), 1.0))
        otherwise = tuple(plan.spent().entries for _, plan in self.instead)
        return Ledger(tuple(entries), self.rate, self.runs, noise.cases, otherwise=otherwise)

    def after(self, rare: float) -> Plan:
        """What is done after a look that found so many rare cases."""
        return next((plan for limit, plan in self.instead if rare <= limit), self)

    def taken(self, entries: Sequence[Entry]) -> tuple[Plan, tuple[tuple[Entry, ...], ...]]:
        """Which plan wrote these entries after a look, and all that the others would have released."""
        courses = [(self, self.spent().entries[1:]), *((plan, plan.spent().entries) for _, plan in self.instead)]
        told = _told_apart(entries)
        number = next((number for number, (_, spent) in enumerate(courses) if _told_apart(spent) == told), 0)
        return courses[number][0], tuple(spent for other, (_, spent) in enumerate(courses) if other != number and self.instead)

    @property
    def noise_of_counts(self) -> float:
        """The standard deviation of the counts of kept variants in a run, from all looks at them."""
        if self.tail == "nearest":
            return 1 / self.mu_second
        return Divided(self.calibration, self.mu_second, self.mu_times).noise_of_counts

    def of_counts(self) -> tuple[str, str]:
        """How many cases a variant needs to be kept, and the noise of the counts of those that are."""
        in_log = 1 / (self.rate * math.sqrt(self.runs))  # from the noise of a run to that of the log
        needed = _cases(f"{self.calibration.least_count / self.rate:,.0f}")
        return needed, _cases(_rounded(self.noise_of_counts * in_log))

    def survives(self) -> str:
        """What a variant needs to be kept, in a sentence."""
        return f"A variant needs about {self.of_counts()[0]} to be kept."

    def explain(self) -> Iterator[str]:
        """What will be released, with what noise, and what survives it, in sentences."""
        noise = self.calibration
        in_log = 1 / (self.rate * math.sqrt(self.runs))  # from the noise of a run to that of the log
        yield f"Everything together is ({self.epsilon:g}, {self.delta:g})-differentially private for {self.unit.statement()}."
        if self.rate < 1 or self.runs > 1:
            runs = "One run" if self.runs == 1 else f"{self.runs:,} runs, each"
            cases = f"a subsample with {100 * self.rate:.3g} % of the cases" if self.rate < 1 else "all cases"
            yield f"{runs} on {cases}; a run by itself is ({noise.epsilon:.3g}, {noise.delta:.2g})-differentially private."
        if self.look is not None:
            of_plans = [(limit, *plan.of_counts()) for limit, plan in self.instead]
            few, enough, noise_of_few = of_plans[0]
            yield (
                f"First, a noisy count tells how many cases have variants of fewer than about {enough}. If these are at most "
                f"{_cases(f'{few / self.rate:,.0f}')}, {enough} are enough for a variant, counts have noise of {noise_of_few}, "
                "and all other cases are left out."
            )
            for some, enough, noise_of_some in of_plans[1:]:
                yield (
                    f"If they are at most {_cases(f'{some / self.rate:,.0f}')}, {enough} are enough, counts have noise of "
                    f"{noise_of_some}, and the other cases are modelled with more noise."
                )
            yield "If they are more:"
        yield self.survives()
        if noise.label_rounds:
            needed = noise.label_rounds[-1].threshold / noise.scale / self.rate
            yield (
                "Activity names are private. Those in kept variants are released with them; any other needs about "
                f"{_cases(f'{needed:,.0f}')}, more where a case has several such names."
            )
        elif self.labels == "private":
            yield "Activity names are private. Those in kept variants are released, all others are left out."
        elif self.labels == "public":
            yield f"{NAMES_PUBLIC} The guarantee is about everything else."
        else:
            yield "Activity names are those of the list that was given. Events with other names are left out."
        yield f"Counts of kept variants have noise of about {self.of_counts()[1]} (one standard deviation)."
        if self.tail == "model":
            size, length = (1 / (self.mu_tail * math.sqrt(share)) for share in (SIZE, LENGTHS))
            yield (
                "All other cases go through a model of traces, from their number "
                f"(noise {_rounded(size * in_log)}), their lengths ({_rounded(length * in_log)} for each), and their "
                "directly-follows edges, repetitions and continuations; fewer than about "
                f"{_rounded(STANDS_OUT * size / self.rate)} of them are lost in the noise."
            )
            if self.edges == "certain":
                yield f"Edges are taken only if they stand out from the noise: about {ONE_IN} of them may be false."
                yield "If rare cases are many, it is also counted which activities occur together in them."
            else:
                yield "Edges are taken even if they hardly stand out from the noise: some of the rare ones are false."
        elif self.tail == "nearest":
            yield "Every other case counts for the most similar kept variant; no variant is invented."
        else:
            yield "All other cases are left out."
        yield (
            f"Times get {_rounded(100 * self.mu_times**2 / noise.mu**2)} % of the budget: starts by year, block of four weeks "
            "and week, hours and days of the week, durations of cases and of steps."
        )
        if self.attributes:
            names = (", ".join(f'"{attribute.name}"' for attribute in level) for level in by_level(self.attributes))
            how = "and how they go together and with what happens in a case", "by activity and by the value before in the case"
            said = " and ".join(f"the values of {some}, {with_what}" for some, with_what in zip(names, how, strict=True) if some)
            yield f"Attributes get {100 * self.mu_attributes**2 / noise.mu**2:.0f} % of the budget: {said}."
            least: dict[str, list[str]] = {}
            for number, choice in self.choices.items():
                count = _cases(f"{choice.threshold / noise.scale / self.rate:,.0f}")
                least.setdefault(count, []).append(self.attributes[number].name)
            if least:
                said = "; ".join(f"about {count} for {listed(names)}" for count, names in least.items())
                more = ", more where a case has several values" if any(noise.several) else ""
                yield f"Values that are not declared are released if enough cases have them{more}: {said}. Others are grouped."
        yield suited(self.delta, self.unit)
        yield RELEASE_ONCE


def make_plan(
    epsilon: float,
    delta: float,
    budget: Budget = DEFAULT_BUDGET,
    *,
    tail: Tail = "model",
    edges: Edges = "certain",
    labels: Labels = "private",
    rate: float = 1.0,
    runs: int = 1,
    unit: Unit = CASE,
    attributes: Sequence[Attribute] = (),
) -> Plan:
    """The plan for a guarantee."""
    budget, asked = budget.with_attributes(usual_share(attributes)), tuple(attributes)
    aimed = delta
    while True:
        inside = before_subsampling(epsilon, aimed, rate, runs)
        found, look = divided(*inside, budget, tail, labels, unit, runs, asked)

        def plan_of(found: Divided, tail: Tail, look: Look | None = None) -> Plan:
            of = Plan(epsilon, delta, rate, runs, *found[:3], tail, unit, edges, labels, asked, found.mu_attributes)
            if look is None:
                return of
            some = () if look.some is None else ((look.limits[1], plan_of(look.some, tail)),)
            return replace(of, look=look, instead=((look.limits[0], plan_of(look.simple, "drop")), *some))

        plan = plan_of(found, tail, look)
        spent = delta_of_ledger(plan.spent(), epsilon)
        if spent <= delta:
            return plan
        aimed *= min(0.99, delta / spent)  # floats, where several runs are composed, and what it costs that a look decides


def _told_apart(entries: Sequence[Entry]) -> tuple[list[int | None], bool]:
    """What tells one course of events from another: counts with geometric noise, and whether there is a tail."""
    bounds = [entry.bound for entry in entries if entry.mechanism == TRUNCATED_GEOMETRIC]
    return bounds, any(entry.group == "tail" for entry in entries)


def _rounded(figure: float) -> str:
    return f"{figure:.2g}" if figure < 10 else f"{figure:,.0f}"


def _cases(figure: str) -> str:
    return f"{figure} case{'' if figure == '1' else 's'}"


def checked_budget(said: Budget | Mapping[str, float] | str, usual: float = 0.0) -> Budget:
    """Shares of control flow, times and attributes, all above 0; those left out share the rest.

    `usual` is what attributes get where nothing is said of them, 0 where none is asked for.
    """
    if isinstance(said, Budget):
        said = said.to_dict()
    if not isinstance(said, Mapping | str):
        raise UsageError(f"The budget is text or a mapping, not {said!r}. {WAYS}.")
    parts = [part.partition("=") for part in said.split(",")] if isinstance(said, str) else []
    named: dict[str, object] = {name.strip(): value for name, _, value in parts} if isinstance(said, str) else dict(said)
    if not all(sign and name.strip() for name, sign, _ in parts) or (parts and len(named) < len(parts)):
        raise UsageError(f'The budget "{said}" cannot be read. {WAYS}.')
    if not named:
        raise UsageError(f"The shares of the budget have to add up to 1. {WAYS}.")
    for name in named:
        if name not in ("control", "times", "attributes"):
            raise UsageError(f'There is no share of the budget called "{name}". {WAYS}.')
    if not usual and named.get("attributes"):
        raise UsageError("The budget has a share for attributes, and none is asked for. Name some with --attribute.")
    shares = {name: _share(name, value) for name, value in named.items() if name != "attributes" or usual}
    if usual and "attributes" not in shares:
        if sum(shares.values()) > 1 - 1e-9:  # as without attributes: these take their usual share of it
            return checked_budget(shares).with_attributes(usual)
        shares["attributes"] = usual if len(shares) < 2 else 1 - sum(shares.values())
    if [*shares] == ["attributes"]:
        return DEFAULT_BUDGET.with_attributes(shares["attributes"])
    left = 1 - sum(shares.values())
    lacking = [name for name in ("control", "times") if name not in shares]
    usual = sum(getattr(DEFAULT_BUDGET, name) for name in lacking)
    shares |= {name: left * getattr(DEFAULT_BUDGET, name) / usual for name in lacking}
    if min(shares.values()) <= 0 or abs(sum(shares.values()) - 1) > 1e-9:
        taken = "" if "attributes" in named or "attributes" not in shares else f", with {shares['attributes']:g} for attributes"
        raise UsageError(f"The shares of the budget have to add up to 1{taken}. {WAYS}.")
    control, rest = round(shares["control"], 12), round(shares.get("attributes", 0.0), 12)
    return Budget(control=control, times=round(1 - control - rest, 12), attributes=rest)


def _share(name: str, value: object) -> float:
    try:
        number = float(value) if isinstance(value, str) else value
    except ValueError:
        number = value
    what, bounds = f"the share of {name}", "above 0 and below 1"
    return checked(what, number, lambda share: 0 < share < 1, bounds)  # type: ignore[arg-type]  # it checks that


def checked_labels(said: str | Sequence[str]) -> str | tuple[str, ...]:
    """Which labels are public: none, all of the log's, or those of a list, which comes back sorted."""
    if isinstance(said, str) and said in (PRIVATE, PUBLIC):
        return said
    if isinstance(said, str) or not isinstance(said, Sequence) or not all(isinstance(label, str) for label in said):
        raise UsageError(f'labels is "{PRIVATE}", "{PUBLIC}" or a list of names, not {said!r}.')
    if not all(label.strip() for label in said) or not said:
        raise UsageError("The list of labels is empty or has an empty name. List the names of activities.")
    if any(SEPARATOR in label for label in said):
        raise UsageError("The list of labels has a name with the control character U+001F, which no name may hold.")
    return tuple(sorted(set(said)))


def checked_rate_of(gamma: float | None, subsamples: int | None) -> float:
    """The rate of the subsamples: as said, or such that as many cases are drawn as there are, or all."""
    if gamma is None:
        return 1.0 if subsamples is None else 1 / subsamples
    return checked("gamma", gamma, lambda rate: 1e-6 <= rate <= 1, "above 0 (from 1e-6) and at most 1")


def checked_time_zone(said: str) -> str:
    """The name of a time zone that is known, or an offset."""
    import polars as pl

    try:
        if not isinstance(said, str) or not said:
            raise ValueError("no name")
        pl.Series([0]).cast(pl.Datetime("us", "UTC")).dt.convert_time_zone(said)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        remedy = "Use a name such as Europe/Amsterdam, or an offset such as +01:00."
        raise UsageError(f'There is no time zone "{said}". {remedy}') from error
    return said


def checked_attributes(said: object) -> tuple[Attribute, ...]:
    """Attributes as they are declared, each of them once, those of cases first."""
    if isinstance(said, str) or not isinstance(said, Sequence):
        raise UsageError(f"attributes has to be a list of names, not {said!r}.")
    found: list[Attribute] = []
    for one in said:
        one = Attribute.from_dict(one) if isinstance(one, Mapping) else one
        if not isinstance(one, Attribute):
            remedy = "Describe the log with libra describe and pass the file as --description, or as description="
            raise UsageError(f"Nothing says what the attribute {one!r} is. {remedy}.")
        if not one.release:
            raise UsageError(f'"{one.name}" is declared with release = false. Leave it out, or declare otherwise.')
        if one.name in OF_EVERY_LOG:
            raise UsageError(f'"{one.name}" has a role in every log, and is no attribute. Leave it out.')
        found.append(one)
    if len(found) > MOST_ATTRIBUTES:
        raise UsageError(f"At most {MOST_ATTRIBUTES} attributes can be released together. Name those that are needed.")
    names = [one.name for one in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f'The attribute "{twice[0]}" is asked for twice. Name it once.')
    return tuple(sorted(found, key=lambda one: one.level == "event"))
