"""The verb `serve`: the API in one process, granian inside our own event loop.

    python -m booking serve --dsn DSN [--host 127.0.0.1] [--port 0] [--sandbox-url URL] [--ready-file F]
        [--rate hold-per-account=10/20]… [--rate-limits off] [--trusted-proxy NETWORK]…

Plain HTTP is served on this machine's own addresses only; any other needs `--tls-certificate` and `--tls-key`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from booking import own_process
from booking.domain.errors import BookingError
from booking.figures.meter import Meter
from booking.figures.watch import open_for_figures
from booking.payments.pace import LEAST, MOST, CheckoutPace
from booking.payments.secrets import MissingSecretError, read_secret
from booking.services.choose_provider import ProviderChoice
from booking.services.migrate import MigrationError, require_own_schema
from booking.services.payment_desk import PaymentDesk
from booking.services.providers import add_provider_arguments, is_any_chosen, open_providers, webhook_endpoints
from booking.services.webhooks import Webhooks
from booking.store.connection import ANSWER_LIMITS
from booking.store.database import Database
from booking.web.application import FigureSource, create_app
from booking.web.calls import ProviderServices
from booking.web.client_address import parse_network
from booking.web.cross_origin import parse_origin
from booking.web.feed_places import MOST_FEEDS, MOST_FEEDS_OF_ADDRESS, FeedPlaces
from booking.web.listening import add_listening_arguments, check_listening, run_loop, serve_until
from booking.web.rate_limit import ALLOWANCES, RateLimits, parse_allowance

CANNOT_REACH = 3
METRICS_TOKEN = "metrics-token"


def main(arguments: Sequence[str]) -> int:
    """Serve until SIGTERM, SIGINT or the parent's end. Returns the exit code."""
    chosen = _parse(arguments)
    own_process.log_to_standard_error()
    try:
        run_loop(_serve(chosen))
    except (BookingError, MigrationError, MissingSecretError, OSError) as error:
        sys.stderr.write(f"taquilla serve: {error}\n")
        return CANNOT_REACH
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="taquilla serve", description="The booking API.")
    parser.add_argument("--dsn", default=os.environ.get("TAQUILLA_DSN"), help="default: $TAQUILLA_DSN")
    add_listening_arguments(parser)
    add_provider_arguments(parser)
    parser.add_argument(
        "--most-checkouts", type=int, default=MOST, metavar="N",
        help="how many online checkouts may run at once here while the provider is well",
    )  # fmt: skip
    parser.add_argument(
        "--page-origin", action="append", type=parse_origin, default=[], metavar="ORIGIN",
        help="a page that fans' browsers may call from, such as https://tickets.example; none by default",
    )  # fmt: skip
    parser.add_argument(
        "--metrics-token", action="store_true",
        help=f"whoever reads /metrics shows the secret {METRICS_TOKEN}; without it only this machine reads them",
    )  # fmt: skip
    parser.add_argument(
        "--most-feeds", type=int, default=MOST_FEEDS, metavar="N",
        help="how many maps fans may follow here at once, at 175 kB each; staff are not counted",
    )  # fmt: skip
    parser.add_argument(
        "--most-feeds-of-address", type=int, default=MOST_FEEDS_OF_ADDRESS, metavar="N",
        help="the same from one address",
    )  # fmt: skip
    _add_rate_arguments(parser)
    own_process.add_process_arguments(parser)
    chosen = parser.parse_args(arguments)
    if not chosen.dsn:
        parser.error("--dsn or TAQUILLA_DSN is needed")
    if chosen.most_checkouts < LEAST:
        parser.error(f"--most-checkouts is {LEAST} or more")
    if min(chosen.most_feeds, chosen.most_feeds_of_address) < 1:
        parser.error("--most-feeds and --most-feeds-of-address are 1 or more")
    check_listening(parser, chosen)
    return chosen


def _add_rate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rate-limits", choices=("on", "off"), default="on", help="off: for measurements")
    parser.add_argument(
        "--rate", action="append", type=parse_allowance, default=[], metavar="NAME=PER_S/BURST",
        help=f"another allowance; names: {', '.join(ALLOWANCES)}",
    )  # fmt: skip
    parser.add_argument(
        "--trusted-proxy", action="append", type=parse_network, default=[], metavar="NETWORK",
        help="a proxy whose X-Forwarded-For is believed; without one, the header is not read",
    )  # fmt: skip


async def _serve(chosen: argparse.Namespace) -> None:
    with own_process.ending(chosen.parent_pid) as end:
        db = await Database.open(chosen.dsn, application="taquilla serve", limits=ANSWER_LIMITS)
        try:
            await require_own_schema(db)
            rates = RateLimits(dict(chosen.rate)) if chosen.rate_limits == "on" else None
            async with _figures(chosen) as figures, _provider_services(db, chosen, figures.meter) as providers:
                app = create_app(
                    db, providers=providers, rates=rates, trusted_proxies=chosen.trusted_proxy,
                    page_origins=chosen.page_origin, figures=figures,
                    feeds=FeedPlaces(chosen.most_feeds, chosen.most_feeds_of_address),
                )  # fmt: skip
                await serve_until(end, chosen, app)
        finally:
            await db.close()


@asynccontextmanager
async def _figures(chosen: argparse.Namespace) -> AsyncIterator[FigureSource]:
    db = await open_for_figures(chosen.dsn, "taquilla serve")
    try:
        yield FigureSource(db, metrics_token=read_secret(METRICS_TOKEN) if chosen.metrics_token else "")
    finally:
        await db.close()


@asynccontextmanager
async def _provider_services(db: Database, chosen: argparse.Namespace, meter: Meter) -> AsyncIterator[ProviderServices]:
    """What takes payments to their providers at once, and takes their events; other operations wait for a worker."""
    choice, endpoints = ProviderChoice(db), webhook_endpoints(chosen)
    webhooks = Webhooks(db, endpoints) if endpoints else None
    if not is_any_chosen(chosen):
        yield ProviderServices(choice=choice)
        return
    async with open_providers(db, chosen, meter.provider_answered) as providers:
        desk = PaymentDesk(db, providers, CheckoutPace(most=chosen.most_checkouts))
        try:
            yield ProviderServices(desk, webhooks, choice)
        finally:
            await desk.close()
