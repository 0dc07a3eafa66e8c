"""One identity for each seat, or a report of why there is none (cases I3, I4).

A seat keeps its `guid` over all versions of its plan, so that a renamed seat keeps its sale. Files break this in two
ways: a guid is missing, or it comes twice. Where every seat also carries a `uuid` of its own, that is a sound identity
and is taken for the whole plan, and reported. Otherwise the plan is refused, unless identities may be made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.repairs import Repair
from booking.domain.seating_plan.sayings import Says

_NAMESPACE = UUID("5f0d4a0e-6a5b-5c3e-9a2d-7c1f5f2b9e10")


@dataclass(frozen=True, slots=True)
class SeatIdentity:
    """What a file says about who a seat is; `name` is its (section, row, number), `guid` empty when missing."""

    pointer: str
    guid: str
    uuid: str
    name: tuple[str, str, str]


def settle_identities(
    findings: Findings, seats: Sequence[SeatIdentity], *, member: str, word: str, optional: bool = False
) -> list[str]:
    """The guid of each seat, in order. With faults reported the answer is of no use.

    `member` leads from a seat's pointer to its guid, `word` is what the format calls it. `optional`: files without
    any identity are usual in this format; they get made ones without a remark.
    """
    missing = [seat for seat in seats if not seat.guid]
    repeats = _repeats(seats)
    if not missing and not repeats:
        return [seat.guid for seat in seats]
    if optional and len(missing) == len(seats):
        return _made_guids(seats)
    make = findings.may(Repair.MAKE_GUIDS)
    if _uuids_identify(seats) and (make or (repeats and findings.may(Repair.UUID_FOR_GUID))):
        return _take_uuids(findings, seats, missing, repeats, _Words(member, word))
    if make:
        return _fill_in(findings, seats, repeats, member=member)
    _refuse(findings, missing, repeats, _Words(member, word))
    return [seat.guid for seat in seats]


@dataclass(frozen=True, slots=True)
class _Words:
    member: str
    word: str


def _repeats(seats: Sequence[SeatIdentity]) -> dict[str, str]:
    """Pointer of each seat whose guid an earlier seat has → pointer of that seat."""
    first: dict[str, str] = {}
    repeats: dict[str, str] = {}
    for seat in seats:
        if seat.guid and first.setdefault(seat.guid, seat.pointer) != seat.pointer:
            repeats[seat.pointer] = first[seat.guid]
    return repeats


def _uuids_identify(seats: Sequence[SeatIdentity]) -> bool:
    uuids = {seat.uuid for seat in seats}
    return "" not in uuids and len(uuids) == len(seats)


def _take_uuids(
    findings: Findings,
    seats: Sequence[SeatIdentity],
    missing: Sequence[SeatIdentity],
    repeats: dict[str, str],
    words: _Words,
) -> list[str]:
    for seat in missing:
        message = Says.IDENTITY_MISSING.of(name=words.word)
        if findings.may(Repair.MAKE_GUIDS):
            findings.warn(seat.pointer + words.member, FindingCode.GUID_MISSING, message)
        else:
            findings.fault(seat.pointer + words.member, FindingCode.GUID_MISSING, message, repair=Repair.MAKE_GUIDS)
    for pointer, first in repeats.items():
        message = Says.IDENTITY_REPEATS.of(place=first)
        findings.warn(pointer + words.member, FindingCode.GUID_REPEATS, message)
    distinct = len({seat.guid for seat in seats if seat.guid})
    message = Says.IDENTITIES_FROM_UUIDS.of(count=len(seats), distinct=distinct, name=words.word)
    findings.repaired("", FindingCode.GUID_FROM_UUID, message, repair=Repair.UUID_FOR_GUID)
    return [seat.uuid for seat in seats]


def _made_guids(seats: Sequence[SeatIdentity]) -> list[str]:
    names: Counter[tuple[str, str, str]] = Counter()
    guids = []
    for seat in seats:
        names[seat.name] += 1
        guids.append(_made_guid(seat.name, names[seat.name]))
    return guids


def _made_guid(name: tuple[str, str, str], count: int) -> str:
    """The same for the same seat at every reading; `count` tells seats of one name apart."""
    return str(uuid5(_NAMESPACE, "\x1f".join((*name, str(count)))))


def _fill_in(findings: Findings, seats: Sequence[SeatIdentity], repeats: dict[str, str], *, member: str) -> list[str]:
    taken = {seat.guid for seat in seats}
    uuids = Counter(seat.uuid for seat in seats)
    names: Counter[tuple[str, str, str]] = Counter()
    guids: list[str] = []
    for seat in seats:
        names[seat.name] += 1
        if seat.guid and seat.pointer not in repeats:
            guids.append(seat.guid)
            continue
        if seat.uuid and uuids[seat.uuid] == 1 and seat.uuid not in taken:
            guid, code = seat.uuid, FindingCode.GUID_FROM_UUID
            says = Says.IDENTITY_FROM_UUID_ANEW if seat.guid else Says.IDENTITY_FROM_UUID
        else:
            guid = _made_guid(seat.name, names[seat.name])
            code = FindingCode.GUID_GENERATED
            says = Says.IDENTITY_MADE_ANEW if seat.guid else Says.IDENTITY_MADE
        taken.add(guid)
        findings.repaired(seat.pointer + member, code, says.of(text=guid), repair=Repair.MAKE_GUIDS)
        guids.append(guid)
    return guids


def _refuse(findings: Findings, missing: Sequence[SeatIdentity], repeats: dict[str, str], words: _Words) -> None:
    for seat in missing:
        message = Says.IDENTITY_MISSING_MEND.of(name=words.word)
        findings.fault(seat.pointer + words.member, FindingCode.GUID_MISSING, message, repair=Repair.MAKE_GUIDS)
    for pointer, first in repeats.items():
        message = Says.IDENTITY_REPEATS_MEND.of(place=first)
        findings.fault(pointer + words.member, FindingCode.GUID_REPEATS, message, repair=Repair.MAKE_GUIDS)
