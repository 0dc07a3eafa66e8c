"""The habits of a crowd that buys, for those who send one and those who predict what it will meet (R21)."""

from __future__ import annotations

from typing import Final

SIZES: Final = (1, 2, 3, 4, 5, 6)
SIZE_WEIGHTS: Final = (10, 45, 15, 20, 4, 6)
"""How many seats somebody wants, and how often."""

FRIENDS: Final = (2, 3, 4)
MEAN_FRIENDS: Final = sum(FRIENDS) / len(FRIENDS)

ELSEWHERE_TRIES: Final = 2
FAN_ELSEWHERE_TRIES: Final = 3
"""How often somebody who has lost a race tries other seats; a fan who has waited for his turn once more."""

ELSEWHERE_AFTER_S: Final = (0.3, 1.5)
FAN_PATIENT_TRIES: Final = 5
"""How often a fan comes again who is told to, if he is patient."""

RELEASES: Final = 0.1
RELEASE_AFTER_S: Final = (0.5, 2.0)
FORM_S: Final = (0.1, 1.0)
DECLINES: Final = 0.05
LOCKED_SHARE: Final = 0.9
"""Of the seats, from the front, whose rows a forgotten transaction locks."""
