"""Everywhere that a seat is named it is called after its table or booth, in each language; a row stays a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

import msgspec
import numpy as np
import pypdfium2
import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest

from app.bridge.ticket_pdf import Stock, drawn
from app.core.best_blocks import BlockWish
from app.core.find_seat import SeatIndex
from app.core.picking import BestShown, OfferKind, SeatOffer
from app.core.plan_draft import DraftRow, DraftSeat, DraftSection, DraftTable
from app.core.plan_work import empty_plan
from app.core.sale import Pick, Sale, SaleId, SaleState
from app.core.store import ConsoleStore, Notice, NoticeCode
from app.devices.ticket_printer import TicketFace, TicketSheet
from app.i18n import use_language
from app.models.place_words import grouped_seats, seat_names, short_seats
from app.models.plan_scene import plan_scene
from app.screens.inbox_page import row_of
from app.screens.item_words import item_seats
from app.screens.map_words import SeatWords, map_texts
from app.screens.notice_words import notice_words
from app.screens.order_page import OrderPage
from app.screens.parked_list import _which
from app.screens.picking_words import best_spoken, found_words, noise_words, offer_words
from app.screens.plan_refusals import RefusalList
from app.screens.refund_dialog import RefundDialog
from app.screens.seat_detail_words import known_face
from app.screens.seat_words import line_faces
from app.screens.words import advice_for_error
from app.showcase import TheatreHouse
from backend_client.plan_names import BOOTH, TABLE, row_kinds, seat_ref
from backend_client.wire import (
    EventId,
    HeldPlaces,
    Hold,
    HoldId,
    HoldStatus,
    ItemId,
    ItemState,
    OrderId,
    PlanTable,
    ReconciliationItem,
    RefundableTicket,
    SeatRef,
    Ticket,
    TicketId,
    TicketStatus,
)
from tests.gui.conftest import QLoop, counter_of, rest, until
from tests.gui.picking_hands import screen_of
from widgets.seat_map import PlaceInView
from widgets.seat_map.place_in_view import place_in_view
from widgets.theme import Theme

ROW, TABLE_ROW, BOOTH_ROW, NAMED_BOOTH_ROW = 20, 21, 22, 23
NOW: Final = datetime(2027, 3, 5, 20, 0, tzinfo=UTC)
PARTS: Final = {
    "en": {"row": "Row {}", "table": "Table {}", "booth": "Booth {}", "seat": "Seat {}"},
    "ar": {"row": "الصف {}", "table": "الطاولة {}", "booth": "المقصورة {}", "seat": "المقعد {}"},
    "ja": {"row": "{}列", "table": "テーブル {}", "booth": "ボックス席 {}", "seat": "{}番"},
    "pt": {"row": "Fila {}", "table": "Mesa {}", "booth": "Camarote {}", "seat": "Lugar {}"},
}
CAPTIONS: Final = {
    "en": {"row": "Row", "table": "Table", "booth": "Booth"},
    "ja": {"row": "列", "table": "テーブル", "booth": "ボックス席"},
    "pt": {"row": "Fila", "table": "Mesa", "booth": "Camarote"},
}
PLACES: Final = {
    "row": (("row", "E"), ("seat", "1")),
    "table": (("table", "T2"), ("seat", "1")),
    "booth": (("booth", "B7"),),
    "named-booth": (("booth", "B9"), ("seat", "1")),
}
"""What of its name must be read for the first seat of each of the four rows, beside its section."""


def cabaret() -> TheatreHouse:
    """The theatre with a table and two booths; the first is called by its one seat, as seats.io has it."""
    made = TheatreHouse()
    rows, numbers = list(made.plan.rows), list(made.plan.seats.number)
    for row_no, label in ((TABLE_ROW, "T2"), (BOOTH_ROW, ""), (NAMED_BOOTH_ROW, "B9")):
        rows[row_no] = msgspec.structs.replace(rows[row_no], label=label)
    numbers[rows[BOOTH_ROW].first_seat] = "B7"
    kinds = ((TABLE_ROW, TABLE), (BOOTH_ROW, BOOTH), (NAMED_BOOTH_ROW, BOOTH))
    made.plan = msgspec.structs.replace(
        made.plan, rows=tuple(rows), seats=msgspec.structs.replace(made.plan.seats, number=tuple(numbers)),
        tables=tuple(PlanTable(row_no=row_no, kind=kind, shape="circle", x=9.0, y=9.0, width=9.0, height=9.0)
                     for row_no, kind in kinds),
    )  # fmt: skip
    for row_no in PLACES_AT.values():
        made.states[rows[row_no].first_seat] = 0
    return made


PLACES_AT: Final = dict(zip(PLACES, (ROW, TABLE_ROW, BOOTH_ROW, NAMED_BOOTH_ROW), strict=True))


def said(place: str, code: str) -> list[str]:
    return [PARTS[code][part].format(label) for part, label in PLACES[place]]


def hold_of(*seats: SeatRef, places: tuple[HeldPlaces, ...] = ()) -> Hold:
    return Hold(
        hold_id=HoldId(UUID(int=1)), event_id=EventId(1), status=HoldStatus.HELD, seats=seats, grace_used=False,
        expires_at=NOW + timedelta(minutes=5), created_at=NOW, server_time=NOW, places=places,
    )  # fmt: skip


def sale_of(seat: SeatRef, *, held: bool) -> Sale:
    picks = (Pick(seat.seat_no, 0, 1, 8_900),)
    hold = hold_of(seat) if held else None
    return Sale(
        sale_id=SaleId(UUID(int=2)), event_id=EventId(1), currency="EUR", state=SaleState.HELD, picks=picks, hold=hold
    )


def ticket_of(seat: SeatRef) -> RefundableTicket:
    ticket = Ticket(
        ticket_id=TicketId(UUID(int=3)), order_id=OrderId(UUID(int=4)), seat=seat, price_type_name="Adult",
        amount_minor=8_900, currency="EUR", code="T-4Q7Z", status=TicketStatus.ISSUED,
    )  # fmt: skip
    return RefundableTicket(ticket=ticket)


def line_found(store: ConsoleStore, seat: SeatRef) -> str:
    """The line of the list when somebody types the seat's name as it is shown."""
    assert store.plan is not None
    typed = " ".join((seat.section, *said(place_of(seat), "en")))
    found = SeatIndex(store.plan, noise_words()).search(typed)
    return found_words(next(one for one in found if one.seat_no == seat.seat_no), store)


def place_of(seat: SeatRef) -> str:
    return {"E": "row", "T2": "table", "": "booth", "B9": "named-booth"}[seat.row]


def item_at(seat: SeatRef) -> ReconciliationItem:
    return ReconciliationItem(
        item_id=ItemId(UUID(int=5)), kind="no-result", state=ItemState.OPEN, version=1, opened_at=NOW, seats=(seat,)
    )


def canvas_seat(seat: SeatRef) -> str:
    """What the plan editor calls it."""
    table = DraftTable(seat.row_kind, "circle", 0.0, 0.0, 9.0, 9.0) if seat.row_kind else None
    row = DraftRow(1, 1, seat.row, (DraftSeat("g", seat.number, 0.0, 0.0, 1),), table=table)
    draft = replace(empty_plan(), sections=(DraftSection(1, "Stalls"),), rows=(row,))
    return plan_scene(draft, ()).rows[0].seats[0].name


SURFACES: Final[dict[str, Callable[[ConsoleStore, SeatRef], str]]] = {
    "tooltip of the map": lambda store, seat: SeatWords(store).tooltip(seat.seat_no),
    "seat for a screen reader": lambda store, seat: SeatWords(store).spoken(seat.seat_no),
    "why a seat cannot be picked": lambda store, seat: SeatWords(store).standing(seat.seat_no),
    "line of the basket": lambda store, seat: line_faces(sale_of(seat, held=False), store)[0].name,
    "line of a hold": lambda store, seat: line_faces(sale_of(seat, held=True), store)[0].name,
    "a line's buttons": lambda store, seat: line_faces(sale_of(seat, held=True), store)[0].spoken_drop,
    "parked sale": lambda _store, seat: _which(sale_of(seat, held=True), "Europe/Madrid"),
    "seat details at once": lambda store, seat: known_face(store, seat.seat_no).name,
    "found by name": line_found,
    "best available": lambda store, seat: best_spoken(BestShown(BlockWish(1), (seat.seat_no,), 1, 1), store),
    "taken just now": lambda store, seat: offer_words(SeatOffer(OfferKind.LOST, (seat.seat_no,)), store)[0],
    "lost to somebody": lambda _store, seat: notice_words(Notice(NoticeCode.SEATS_LOST, seats=(seat,))).detail,
    "refusal": lambda _store, seat: advice_for_error(SimpleNamespace(code="seats-taken", seats=(seat,))).detail,
    "tickets of an order": lambda _store, seat: OrderPage._ticket_row(ticket_of(seat)).cells[0].text,
    "money back": lambda _store, seat: RefundDialog._words(SimpleNamespace(_refund=True), ticket_of(seat)),  # type: ignore[arg-type]
    "item of the inbox": lambda _store, seat: item_seats(item_at(seat)),
    "searched in the inbox": lambda _store, seat: row_of(item_at(seat)).searched,
    "seats of an item": lambda _store, seat: grouped_seats((seat,)),
    "seat in the plan editor": lambda _store, seat: canvas_seat(seat),
    "seat in the way of a plan": lambda _store, seat: RefusalList._taken_words(seat, is_lost=True),
}


@pytest.mark.parametrize("code", PARTS)
def test_a_seat_is_called_after_its_row_table_or_booth_wherever_it_is_named(
    qloop: QLoop, theme: Theme, tmp_path: Path, code: str
) -> None:
    async def scene() -> None:
        house = cabaret()
        async with counter_of(tmp_path, house=house) as showcase:
            await rest(showcase)
            use_language(code)
            store = showcase.console.desk.store
            assert store.plan is not None
            for place, row_no in PLACES_AT.items():
                seat = seat_ref(store.plan, house.plan.rows[row_no].first_seat)
                for surface, words in SURFACES.items():
                    text = words(store, seat)
                    others = {PARTS[code][part].format(label) for part, label in (("row", seat.row), ("seat", "B7"))}
                    wanted = [part.casefold() for part in said(place, code)]
                    assert all(part in text.casefold() for part in wanted), (surface, place, text)
                    assert not [other for other in others - set(said(place, code)) if other in text], (surface, text)

    qloop.run(scene())


def test_tables_and_booths_have_their_names_on_the_map_and_for_who_listens_to_it(
    qloop: QLoop, theme: Theme, tmp_path: Path
) -> None:
    async def scene() -> None:
        house = cabaret()
        async with counter_of(tmp_path, house=house) as showcase:
            await rest(showcase)
            screen, rows = screen_of(showcase), house.plan.rows
            spoken: dict[str, str] = {}
            tree = QAccessible.queryAccessibleInterface(screen.map)
            for section in (tree.child(number) for number in range(tree.childCount())):
                for row in (section.child(number) for number in range(section.childCount())):
                    name = row.text(QAccessible.Text.Name)
                    spoken[name.split(",")[0]] = name
            assert {"Table T2", "Booth B7", "Booth B9", "Row E"} <= set(spoken)
            assert spoken["Table T2"].endswith("free")
            search = screen.picking.bar.search
            search.setFocus()
            QTest.keyClicks(search, "Table T2 Seat 1")
            await until(lambda: search.results, "what was found")
            assert search.results[0].startswith("Stalls centre · Table T2 · Seat 1")
            search.clear()
            QTest.keyClicks(search, "booth b7")
            await until(lambda: search.results, "the booth")
            assert [line for line in search.results if line.startswith("Stalls centre · Booth B7")]

            def in_view(first: int, last: int) -> str:
                seats = np.arange(rows[first].first_seat, rows[last].first_seat + 1)
                place = place_in_view(screen.map.plan, seats)
                assert place is not None
                return map_texts(showcase.console.desk.store).write_place(place)

            assert in_view(TABLE_ROW, TABLE_ROW) == "Stalls centre · Table T2"
            assert in_view(BOOTH_ROW, NAMED_BOOTH_ROW) == "Stalls centre · Booths B7 – B9"
            assert in_view(ROW, TABLE_ROW) == "Stalls centre · Row E – Table T2"
            assert in_view(ROW - 1, ROW) == "Stalls centre · Rows D – E"
            tables = PlaceInView("Floor", "T1", "T9", TABLE, TABLE)
            assert map_texts(showcase.console.desk.store).write_place(tables) == "Floor · Tables T1 – T9"

    qloop.run(scene())


def test_several_seats_are_named_by_row_and_booths_one_after_another() -> None:
    def at(row: str, number: str, kind: str = "", section: str = "Floor") -> SeatRef:
        return SeatRef(seat_no=0, section=section, row=row, number=number, row_kind=kind)

    booths = (at("", "B1", BOOTH), at("", "B2", BOOTH))
    table = (at("T2", "3", TABLE), at("T2", "4", TABLE))
    assert short_seats(booths) == "Booth B1, B2"
    assert short_seats(table) == "Table T2 · Seat 3, 4"
    assert short_seats((*table, *booths)) == "Table T2 · Seat 3, 4…"
    assert short_seats((at("A", "1"), at("A", "2", section="Balcony"))) == "Row A · Seat 1…"
    mixed = grouped_seats((table[0], at("T2", "9"), table[1], *booths))
    assert mixed.split("\n") == ["Floor · Table T2 · Seat 3, 4", "Floor · Row T2 · Seat 9", "Floor · Booth B1, B2"]
    assert seat_names((booths[0], table[0])) == "Floor · Booth B1 and Floor · Table T2 · Seat 3"
    assert seat_names((at("T2", "3", "sofa"),)) == "Floor · Row T2 · Seat 3"
    assert (short_seats((SeatRef(seat_no=6),)), seat_names((SeatRef(seat_no=6),))) == ("Seat 7", "Seat 7")
    assert seat_names((SeatRef(seat_no=-1, section="Pit"),)) == "Pit"


def test_a_table_of_a_later_version_is_named_and_drawn_as_one_where_its_row_goes_on() -> None:
    plan = cabaret().plan
    tables = (msgspec.structs.replace(plan.tables[0], more_rows=(ROW,)), *plan.tables[1:])
    grown = msgspec.structs.replace(plan, tables=tables)
    assert row_kinds(grown) == {ROW: TABLE, TABLE_ROW: TABLE, BOOTH_ROW: BOOTH, NAMED_BOOTH_ROW: BOOTH}
    assert seat_ref(grown, plan.rows[ROW].first_seat).row_kind == TABLE


@pytest.mark.parametrize("code", CAPTIONS)
@pytest.mark.parametrize("place", PLACES)
def test_a_ticket_says_table_or_booth_where_it_would_say_row(theme: Theme, code: str, place: str) -> None:
    names = {
        "row": ("", "E", "1"), "table": (TABLE, "T2", "1"), "booth": (BOOTH, "", "B7"),
        "named-booth": (BOOTH, "B9", "1"),
    }  # fmt: skip
    kind, row, number = names[place]
    face = TicketFace("t", "Floor", row, number, "Adult", 4550, "EUR", "T-4Q7Z90AM3KX", kind)
    sheet = TicketSheet("0198a1", "TQ-000123", "La Traviata", "Sala", NOW, "Europe/Madrid", code, (face,))
    text = words_of(drawn(sheet, Stock(), 203))
    wanted, unwanted = place.removeprefix("named-"), {"row", "table", "booth"} - {place.removeprefix("named-")}
    assert CAPTIONS[code][wanted] in text
    assert not [one for one in unwanted if CAPTIONS[code][one] in text], text
    assert "–" not in text


@pytest.mark.parametrize("section", ["Floor", "Balcony left"])
def test_a_long_name_of_a_booth_stands_whole_on_its_ticket_beside_its_captions(theme: Theme, section: str) -> None:
    face = TicketFace("t", section, "Camarote presidencial", "1", "Adult", 4550, "EUR", "T-4Q7Z90AM3KX", BOOTH)
    sheet = TicketSheet("0198a1", "TQ-000123", "La Traviata", "Sala", NOW, "Europe/Madrid", "en", (face,))
    text = words_of(drawn(sheet, Stock(), 203))
    assert "Camarotepresidencial" in text
    assert "…" not in text
    assert all(part in text for part in ("Section", "Booth", "Seat", section.replace(" ", "")))


def test_a_ticket_without_a_number_keeps_the_words_of_its_area(theme: Theme) -> None:
    face = TicketFace("t", "Pit", "", "", "Adult", 4550, "EUR", "T-4Q7Z90AM3KX")
    sheet = TicketSheet("0198a1", "TQ-000123", "La Traviata", "Sala", NOW, "Europe/Madrid", "en", (face,))
    text = words_of(drawn(sheet, Stock(), 203))
    assert "Areawithoutnumberedseats" in text
    assert not [word for word in ("Row", "Table", "Booth", "Seat") if word in text]


def words_of(pdf: bytes) -> str:
    """All letters of a ticket, without the blanks between them: Qt places each by itself."""
    document = pypdfium2.PdfDocument(pdf)
    try:
        words: Any = document[0].get_textpage().get_text_range()
        return "".join(str(words).split())
    finally:
        document.close()
