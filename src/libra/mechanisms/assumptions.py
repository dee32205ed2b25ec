"""What proved guarantees assume, in sentences that mechanisms share: what is public, what is compared, whose case is whose."""

from __future__ import annotations

from libra.privacy.guarantee import NAMES_PUBLIC as LABELS_PUBLIC

__all__ = ["AS_READ", "LABELS_LISTED", "LABELS_PRIVATE", "LABELS_PUBLIC", "NOTHING_ELSE", "individuals"]
LABELS_PRIVATE = (
    "No activity name is taken as public: the names that are released were chosen privately, and events with other names are "
    "left out."
)
LABELS_LISTED = (
    "The labels are those of a list that was given and does not come from this log; events of all others are left out."
)
NOTHING_ELSE = (
    "The parameters, the time zone and the code are public. Neither they nor this release, among several, were chosen by what "
    "they give on this log. Nothing else of the log is public: not its size, not its time range."
)
AS_READ = (
    "The logs that are compared are logs as read. Which column is what, encoding, delimiter, the order of day and month, the "
    "unit of epochs and whether times have a zone are settled from the file, where no description and no flag names them, and "
    "taken as public."
)
INDIVIDUALS = (
    "Which case is whose is as the custodian's column says; a case without an entry there is somebody's only one. Of each "
    "individual, {} counted, drawn at random; all others are left out."
)


def individuals(counted: str) -> str:
    """What is assumed where individuals are protected; `counted` says how many cases of each counted.

    Example:
        >>> individuals("one case").endswith("Of each individual, one case counted, drawn at random; all others are left out.")
        True
    """
    return INDIVIDUALS.format(counted)
