"""The cases from the field about money have the tests that they are said to have; those that had none are here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from app.actions.pay_cash import pay_cash
from app.actions.print_tickets import print_tickets
from app.core.sale import SaleState
from app.devices.ticket_printer import PrintState
from booking.services.orders import order_as_it_stands
from tests.matrix.cases import PROOFS
from tests.matrix.cells_of_providers import play
from tests.matrix.cells_of_tills import open_till_house
from tests.matrix.counters import BEFORE, TOTAL, begin, close, order_at
from tests.matrix.house import open_house
from tests.matrix.table import Fault, Operation
from tests.matrix.ways import WAYS
from tests.server.box_office import count
from tests.unit.counter import FakePrinter

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("case", PROOFS)
def test_each_case_has_its_tests(case: str) -> None:
    for place in PROOFS[case]:
        file, name = place.split("::")
        tree = ast.parse((ROOT / file).read_text("utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        found = [node for node in functions if node.name == name]
        assert len(found) == 1, place
        checks = [node for node in ast.walk(found[0]) if isinstance(node, ast.Assert | ast.With | ast.AsyncWith)]
        assert checks, f"{place} checks nothing"


@pytest.mark.parametrize(("currency", "there"), [("JPY", 8_000), ("KRW", 8_000), ("VND", 8_000), ("CLP", 8_000),
                                                 ("XAF", 8_000), ("KWD", 8_000), ("EUR", 8_000)])  # fmt: skip
async def test_p20_the_provider_itself_has_the_amount_in_its_books(
    dsn: str, tmp_path: Path, currency: str, there: int
) -> None:
    """Not by a round trip: read from the provider's own file."""
    async with open_house(dsn, tmp_path, anew=False) as house:
        await house.db.fetch("UPDATE events SET currency = $1", currency)
        case = await WAYS[Operation.AUTHORIZE].prepare(house)
        await house.post(house.api, case.path, case.body, case.token)
        (charge,) = house.sandbox.books().charges.values()
        assert (charge.amount, charge.captured, charge.currency) == (there, there, currency)


async def test_b14_an_api_that_dies_after_the_capture_leaves_tickets_or_a_refund(dsn: str, tmp_path: Path) -> None:
    async with open_house(dsn, tmp_path, anew=False) as house:
        await play(house, Operation.CAPTURE, Fault.API_DIES_RECORDED)
        assert await count(house.db, "SELECT count(*) FROM tickets WHERE status = 'ISSUED'") == 2


async def test_b15_a_printer_that_fails_costs_no_sale_and_is_seen_and_tried_again(dsn: str, tmp_path: Path) -> None:
    """What follows a confirmation fails: sold, the tickets are there, the trouble is shown, the next try is good."""
    async with open_till_house(dsn, tmp_path, anew=False) as house:
        await house.start_api()
        desk = house.desk()
        printer = desk.printer
        assert isinstance(printer, FakePrinter)
        printer.state = PrintState.FAILED
        try:
            await begin(desk, house.event_id)
            await BEFORE[Operation.CASH](desk)
            await pay_cash(desk, TOTAL)
            await house.issue()
            after = await print_tickets(desk)
            assert after.state is SaleState.PAID
            assert desk.printer_trouble
            assert (await order_as_it_stands(house.db, order_at(desk))).status == "CONFIRMED"
            assert await count(house.db, "SELECT count(*) FROM tickets WHERE status = 'ISSUED'") == 2
            printer.state = PrintState.CONFIRMED
            assert (await print_tickets(desk)).state is SaleState.DONE
            assert desk.printer_trouble == ""
            assert [len(sheet.tickets) for sheet in printer.sheets] == [2, 2]
        finally:
            await close(desk)
