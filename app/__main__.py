"""`python -m app`: the console; with `--tour` it is driven by a plan, with `--shift` it joins a rush.

`screenshots` takes a picture of every screen.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

if TYPE_CHECKING:
    from app.main import Options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the console. Exit codes: 0 done, 1 found something wrong, 2 wrong use, 3 cannot reach what it needs."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["screenshots"]:
        return _screenshots(words[1:])
    options = _console_parser().parse_args(words)
    _check_drivers(options)
    credentials = _credentials_from_stdin() if options.sign_in_from_stdin else None
    if options.tour or options.shift:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    # Late: Qt and all that hangs on it would make `--help` wait.
    from app.main import Options, run_console
    from app.screens.bindings import Credentials

    signed = Credentials(*credentials) if credentials is not None else None
    wanted = Options(
        data=options.data, server=options.server, terminal=options.terminal, language=options.language,
        theme=options.theme, size=options.size, credentials=signed, parent_pid=options.parent_pid,
    )  # fmt: skip
    if options.shift:
        return _work_a_shift(options, wanted)
    if not options.tour:
        return run_console(wanted)
    from app.tour import Tour
    from app.tour_plan import PlanError, read_plan

    try:
        plan = read_plan(options.tour)
    except PlanError as error:
        _console_parser().error(str(error))
    return run_console(wanted, Tour(plan, signed, options.pictures, options.report).drive)


def _check_drivers(options: argparse.Namespace) -> None:
    """Whoever drives the windows needs a place for what it tells."""
    error = _console_parser().error
    if options.tour and options.shift:
        error("--tour or --shift, not both")
    if options.tour and not (options.pictures and options.report):
        error("--tour needs --pictures and --report")
    if options.shift and not (options.join and options.report):
        error("--shift needs --join and --report")
    if options.shift in ("operations", "wall") and not options.pictures:
        error(f"--shift {options.shift} needs --pictures")


def _work_a_shift(options: argparse.Namespace, wanted: Options) -> int:
    from app.main import run_console
    from app.shift.counter import ClerkShift
    from app.shift.joining import JoinError, JoinFile
    from app.shift.operations import AT_DESK, AT_WALL, OpsShift
    from app.shift.shift import Shift

    at_counter = options.shift == "counter"
    join = JoinFile(options.join, "clerk" if at_counter else "ops")
    try:
        server = join.read().api_url
    except JoinError as error:
        sys.stderr.write(f"taquilla console: {error}\n")
        return 3
    looks = AT_WALL if options.shift == "wall" else AT_DESK
    shift: Shift = (
        ClerkShift(join, options.report) if at_counter else OpsShift(join, options.report, options.pictures, looks)
    )
    return run_console(replace(wanted, server=server), shift.drive)


def _console_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="taquilla console", description="The box-office console.")
    _add_common(parser)
    parser.add_argument("--server", default="", metavar="URL", help="address of the booking system")
    parser.add_argument("--data", type=Path, default=Path(platformdirs.user_data_dir("taquilla")) / "console",
                        help="folder of this counter: journal, settings, tickets")  # fmt: skip
    parser.add_argument("--terminal", default="", metavar="HOST:PORT", help="card terminal (ZVT over TCP)")
    parser.add_argument("--sign-in-from-stdin", action="store_true",
                        help='read one line {"name": …, "password": …} from standard input')  # fmt: skip
    parser.add_argument(
        "--tour", default="", metavar="PLAN", help="drive the windows: card:3,cash:2,decline:1,unknown:2,resume"
    )
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="where the tour saves a picture of each step")
    parser.add_argument("--report", type=Path, metavar="FILE", help="where the tour writes its report (JSON)")
    parser.add_argument("--shift", choices=("counter", "operations", "wall"), help="drive the windows beside a "
                        "rush: sell for cash again and again, or watch the figures and take pictures")  # fmt: skip
    parser.add_argument("--join", type=Path, metavar="FILE", help="where a rush says how to join it")
    parser.add_argument("--parent-pid", type=int, metavar="PID", help="end when this process has ended")
    return parser


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--language", default="", choices=("", "en", "ar", "ja", "pt"), help="language of the console")
    parser.add_argument("--theme", default="", choices=("", "system", "light", "dark"), help="colours of the console")
    parser.add_argument("--size", type=_size, default=(0, 0), metavar="WxH", help="size of the window")


def _size(text: str) -> tuple[int, int]:
    width, _x, height = text.partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise argparse.ArgumentTypeError(f"a size is written 1280x800, not {text}")
    return int(width), int(height)


def _credentials_from_stdin() -> tuple[str, str]:
    """Name and password from standard input: command lines and environments can be read by others."""
    try:
        line = json.loads(sys.stdin.readline())
        return str(line["name"]), str(line["password"])
    except (ValueError, KeyError, TypeError):
        sys.stderr.write('taquilla console: expected {"name": …, "password": …} on standard input\n')
        raise SystemExit(2) from None


def _screenshots(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="taquilla screenshots", description="A picture of every screen.")
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument(
        "--fake", action="store_true", help="said for clarity: troubles are pictured too, so it is always a fake system"
    )
    parser.add_argument(
        "--maps", nargs="*", type=Path, metavar="PLAN", help="the map alone: of these plan files of any format, or of "
        "a theatre and a 'bowl' of 60,000 seats; at every level, in every state, and as colour-blind people see it"
    )  # fmt: skip
    _add_common(parser)
    options = parser.parse_args(words)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    language, theme = options.language or "en", options.theme or "light"
    size = options.size if all(options.size) else (1280, 800)
    for path in _pictures(options.folder, options.maps, language, theme, size):
        print(path)
    return 0


def _pictures(folder: Path, maps: list[Path] | None, language: str, theme: str, size: tuple[int, int]) -> list[Path]:
    """Of every screen, or of the map alone."""
    if maps is None:
        from app.screenshots import take_screenshots

        return take_screenshots(folder, language=language, theme=theme, size=size)
    from app.map_pictures import take_map_pictures
    from app.showcase_maps import UnreadablePlanError

    try:
        return take_map_pictures(folder, maps, language=language, theme=theme, size=size)
    except UnreadablePlanError as error:
        sys.stderr.write(f"taquilla screenshots: {error}\n")
        raise SystemExit(2) from None


if __name__ == "__main__":
    sys.exit(main())
