"""The price categories of a file: how seats find theirs, and what happens when they name one that is not there."""

from __future__ import annotations

from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.model import MAX_CATEGORIES, Category
from booking.domain.seating_plan.plan_checks import check_confusable
from booking.domain.seating_plan.repairs import Repair
from booking.domain.seating_plan.sayings import Says, Thing

PALETTE = ("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#17becf", "#bcbd22")
UNNAMED = "General"


def palette_color(number: int) -> str:
    """A colour for the category of that number in a file that gives none."""
    return PALETTE[number % len(PALETTE)]


class CategoryBook:
    """Categories by the key that seats use: their name, or in seats.io charts a number.

    `grows` for formats without a list of categories: each is made when a seat first names it.
    """

    def __init__(self, findings: Findings, *, grows: bool = False) -> None:
        self._findings = findings
        self._grows = grows
        self._categories: list[Category] = []
        self._pointers: list[str] = []
        self._numbers: dict[str, int] = {}
        self._labels: list[tuple[str, str]] = []
        self._used: set[int] = set()
        self._too_many = False
        self.is_broken = False  # the list itself was reported; seats are not to be reported for it as well

    @property
    def categories(self) -> list[Category]:
        return self._categories

    def list_category(self, pointer: str, name_at: str, key: str | None, name: str | None, color: str) -> None:
        """One category of the file's own list; None for what was missing and reported."""
        number = len(self._categories)
        if name is not None:
            self._labels.append((name_at, name))
            if any(other == name for _, other in self._labels[:-1]):
                self._findings.fault(name_at, FindingCode.CATEGORY_REPEATS, Says.CATEGORY_REPEATS.of(name=name))
        if key is not None:
            self._numbers.setdefault(key, number)
        self._categories.append(Category((name or "").strip(), color))
        self._pointers.append(pointer)

    def number_of(self, key: str | None, pointer: str) -> int:
        """The category of a seat; 0 after a fault was reported. None: the seat names none."""
        if key is None:
            return self._number_of_none(pointer)
        number = self._numbers.get(key)
        if number is None:
            return 0 if self.is_broken else self._unknown(key, pointer)
        self._used.add(number)
        return number

    def check(self) -> None:
        """Report categories that look alike."""
        check_confusable(self._findings, self._labels, what=Thing.CATEGORY)

    def unused(self) -> list[str]:
        """Pointers of the categories that nothing is of."""
        return [pointer for number, pointer in enumerate(self._pointers) if number not in self._used]

    def _number_of_none(self, pointer: str) -> int:
        if self._grows:
            return self._add(UNNAMED, pointer)
        if self._findings.may(Repair.ADD_CATEGORIES):
            message = Says.CATEGORY_GIVEN.of(name=UNNAMED)
            self._findings.repaired(pointer, FindingCode.CATEGORY_ADDED, message, repair=Repair.ADD_CATEGORIES)
            return self._add(UNNAMED, pointer)
        message = Says.CATEGORY_MISSING.of()
        self._findings.fault(pointer, FindingCode.CATEGORY_MISSING, message, repair=Repair.ADD_CATEGORIES)
        return 0

    def _unknown(self, key: str, pointer: str) -> int:
        if self._grows:
            return self._add(key, pointer)
        if self._findings.may(Repair.ADD_CATEGORIES):
            message = Says.CATEGORY_ADDED.of(name=key)
            self._findings.repaired(pointer, FindingCode.CATEGORY_ADDED, message, repair=Repair.ADD_CATEGORIES)
            return self._add(key, pointer)
        known = ", ".join(f'"{item}"' for item in list(self._numbers)[:8])
        message = Says.CATEGORY_UNKNOWN.of(name=key, known=known) if known else Says.CATEGORY_OF_NO_LIST.of(name=key)
        self._findings.fault(pointer, FindingCode.CATEGORY_UNKNOWN, message, repair=Repair.ADD_CATEGORIES)
        return 0

    def _add(self, key: str, pointer: str) -> int:
        number = self._numbers.get(key)
        if number is None and len(self._categories) >= MAX_CATEGORIES:
            if not self._too_many:
                message = Says.CATEGORIES_TOO_MANY.of(most=MAX_CATEGORIES)
                self._findings.fault(pointer, FindingCode.TOO_MANY, message)
            self._too_many = True
            return 0
        if number is None:
            number = self._numbers[key] = len(self._categories)
            self._labels.append((pointer, key))
            self._categories.append(Category(key.strip(), palette_color(number)))
            self._pointers.append(pointer)
        self._used.add(number)
        return number
