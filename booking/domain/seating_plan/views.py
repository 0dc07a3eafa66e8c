"""What people see from a seat: images that a plan carries, for single seats or for a whole section.

They come with the plan, embedded in our own format or as files beside it, and are never fetched from anywhere. They
are bounded, because the plan is read by every console: JPEG, PNG or WebP, each of at most `MAX_VIEW_BYTES`, together at
most `MAX_VIEWS_BYTES`.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable, Mapping
from typing import Any

from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.members import Members
from booking.domain.seating_plan.model import SeatingPlan, SeatView
from booking.domain.seating_plan.sayings import Says

MAX_VIEWS = 200
MAX_VIEW_BYTES = 256 * 1024
MAX_VIEWS_BYTES = 8 * 1024 * 1024
MAX_SEATS_OF_VIEW = 10_000
IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp"})
_VIEW = frozenset({"section", "seats", "image"})


class ViewBook:
    """Gathers the views of one plan and reports what is wrong with each at its place."""

    def __init__(self, findings: Findings, sections: Iterable[str], guids: Iterable[str]) -> None:
        self._findings = findings
        self._sections, self._guids = frozenset(sections), frozenset(guids)
        self._views: list[SeatView] = []
        self._taken: set[tuple[str, str]] = set()
        self._bytes = 0

    @property
    def views(self) -> tuple[SeatView, ...]:
        return tuple(self._views)

    def add(self, pointer: str, image: bytes, section: str, guids: tuple[str, ...]) -> None:
        """One more view, of these seats or, without any, of the section."""
        media_type = media_type_of(image)
        whose = [("seat", guid) for guid in guids] or [("section", section)]
        nobody = [name for kind, name in whose if name not in (self._guids if kind == "seat" else self._sections)]
        again = [name for one in whose if one in self._taken for name in one[1:]]
        self._bytes += len(image)
        self._taken.update(whose)
        if len(image) > MAX_VIEW_BYTES or self._bytes > MAX_VIEWS_BYTES:
            message = Says.VIEW_TOO_LARGE.of(most=MAX_VIEW_BYTES, total=MAX_VIEWS_BYTES)
            self._findings.fault(pointer, FindingCode.FILE_TOO_LARGE, message)
        elif not media_type:
            self._findings.fault(pointer, FindingCode.UNKNOWN_VALUE, Says.VIEW_OF_ANOTHER_KIND.of())
        elif nobody:
            message = Says.VIEW_OF_NOBODY.of(name=nobody[0])
            self._findings.fault(pointer, FindingCode.UNKNOWN_VALUE, message)
        elif again:
            self._findings.fault(pointer, FindingCode.MEMBER_REPEATS, Says.VIEW_REPEATS.of(name=again[0]))
        else:
            self._views.append(SeatView(media_type, image, "" if guids else section, guids))


def media_type_of(image: bytes) -> str:
    """By the first bytes of the file; empty for every other kind."""
    if image.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if image.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    return "image/webp" if image[:4] == b"RIFF" and image[8:12] == b"WEBP" else ""


def read_views(
    plan: Members, findings: Findings, sections: Iterable[str], guids: Iterable[str], member: str = "views"
) -> tuple[SeatView, ...]:
    """The member `views` of our own format: `section` or `seats` (their ids), and `image` in base64."""
    book = ViewBook(findings, sections, guids)
    for index, value in enumerate(plan.items(member, limit=MAX_VIEWS, required=False)):
        view = Members(findings, value, f"{plan.at(member)}/{index}")
        view.warn_about_others(_VIEW)
        text = view.text("image", limit=MAX_VIEW_BYTES * 2)
        seats = view.texts("seats", limit=MAX_SEATS_OF_VIEW)
        section = view.text("section", required=not seats) or ""
        if text is None or not (seats or section):
            continue
        try:
            image = b64decode(text, validate=True)
        except (Base64Error, ValueError):
            findings.fault(view.at("image"), FindingCode.UNKNOWN_VALUE, Says.VIEW_NOT_BASE64.of())
            continue
        book.add(view.pointer, image, section, seats)
    return book.views


def views_of_files(plan: SeatingPlan, files: Mapping[str, bytes], findings: Findings) -> tuple[SeatView, ...]:
    """Images that lie beside a plan: each is named as its section, or as the id of its seat (names without suffix)."""
    guids = frozenset(seat.guid for seat in plan.seats())
    book = ViewBook(findings, (section.name for section in plan.sections), guids)
    if len(files) > MAX_VIEWS:
        findings.fault("", FindingCode.TOO_MANY, Says.VIEWS_TOO_MANY.of(count=len(files), most=MAX_VIEWS))
        return ()
    for name, image in sorted(files.items()):
        stem = name.rpartition(".")[0]
        book.add(name, image, stem, (stem,) if stem in guids else ())
    return book.views


def view_body(view: SeatView) -> dict[str, Any]:  # Any: a JSON value of our own making (see document.py)
    """As the wire writes it."""
    body: dict[str, Any] = {"media_type": view.media_type, "image": b64encode(view.image).decode()}
    return body | ({"guids": list(view.guids)} if view.guids else {"section": view.section})


def view_of_body(body: dict[str, Any]) -> SeatView:
    """The other way."""
    image = b64decode(body["image"])
    return SeatView(body["media_type"], image, body.get("section", ""), tuple(body.get("guids", ())))


def view_object(view: SeatView) -> dict[str, Any]:
    """As our own format writes it."""
    body: dict[str, Any] = {"seats": list(view.guids)} if view.guids else {"section": view.section}
    return body | {"image": b64encode(view.image).decode()}
