"""Headless Chromium over the WebDriver protocol (W3C), spoken as plain HTTP: what a person can do and see."""

from __future__ import annotations

import asyncio
import base64
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--no-default-browser-check", "--disable-extensions", "--no-proxy-server", "--hide-scrollbars",
)  # fmt: skip
_STARTED = re.compile(r"started successfully on port (\d+)")
_DIRECTIONS = re.compile("[\u2066-\u2069]")
WITHIN_S = 60.0


def need_chromium() -> None:
    """Skip where there is no Chromium; a machine that checks changes must have one."""
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if not missing:
        return
    words = f"{' and '.join(missing)} not found (Debian: chromium, chromium-driver)"
    if os.environ.get("CI"):
        pytest.fail(words)
    pytest.skip(words)


class WebDriverError(AssertionError):
    """The driver said no; `code` is its error code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


@dataclass
class Browser:
    """One browser with a profile of its own. Elements are found by CSS selector."""

    http: httpx.AsyncClient
    session: str

    async def command(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """One command of the session."""
        sent = body if body is not None else ({} if method == "POST" else None)
        answer = await self.http.request(method, f"/session/{self.session}{path}", json=sent)
        value = answer.json()["value"]
        if answer.status_code >= 400:
            raise WebDriverError(value["error"], value["message"].split("\n")[0])
        return value

    async def open(self, url: str) -> None:
        await self.command("POST", "/url", {"url": url})

    async def reload(self) -> None:
        await self.command("POST", "/refresh")

    async def back(self) -> None:
        await self.command("POST", "/back")

    async def address(self) -> str:
        found: str = await self.command("GET", "/url")
        return found

    async def run(self, script: str, *arguments: Any) -> Any:
        """The value of a function's body."""
        return await self.command("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    async def text(self, selector: str) -> str:
        """The text of the first element without marks of direction; empty when there is none."""
        text = str(await self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector))
        return _DIRECTIONS.sub("", text)

    async def shows(self, selector: str) -> bool:
        """Whether such an element can be seen."""
        script = "const e = document.querySelector(arguments[0]); return !!e && e.getClientRects().length > 0"
        return bool(await self.run(script, selector))

    async def until(self, condition: Callable[[], Awaitable[bool]], what: str, within_s: float = WITHIN_S) -> None:
        """Ask until it holds; a page on its way out is asked again."""
        deadline = asyncio.get_running_loop().time() + within_s
        while True:
            with suppress(WebDriverError):
                if await condition():
                    return
            if asyncio.get_running_loop().time() > deadline:
                seen = await self.run("return document.body.innerText")
                logged = await self.console()
                raise AssertionError(f"not within {within_s:g} s: {what}\n{seen}\n{logged}")
            await asyncio.sleep(0.05)

    async def until_shown(self, selector: str, within_s: float = WITHIN_S) -> None:
        await self.until(lambda: self.shows(selector), f"{selector} is shown", within_s)

    async def until_view(self, name: str, within_s: float = WITHIN_S) -> None:
        """Until the page shows this view of its own."""
        await self.until_shown(f'main[data-view="{name}"]', within_s)

    async def until_text(self, selector: str, part: str, within_s: float = WITHIN_S) -> None:
        async def has() -> bool:
            return part in await self.text(selector)

        await self.until(has, f"{part!r} in {selector}", within_s)

    async def click(self, selector: str) -> None:
        """A person's click: in the middle of what is really there; fails when something lies over it."""
        await self.until_shown(selector)
        await self.command("POST", f"/element/{await self._element(selector)}/click")

    async def click_at(self, selector: str, x: float, y: float) -> None:
        """A click at a point of an element, in px from its corner."""
        box = await self.run(
            "const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center'});"
            "const r = e.getBoundingClientRect(); return [r.x, r.y]", selector,
        )  # fmt: skip
        move = {"type": "pointerMove", "duration": 0, "x": round(box[0] + x), "y": round(box[1] + y)}
        actions = [move, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        source = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}
        await self.command("POST", "/actions", {"actions": [source]})

    async def type(self, selector: str, text: str) -> None:
        await self.until_shown(selector)
        await self.command("POST", f"/element/{await self._element(selector)}/value", {"text": text})

    async def press(self, *keys: str) -> None:
        """Keys of the keyboard, one after another."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        await self.command("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    async def choose(self, selector: str, value: str) -> None:
        """Choose an option of a select, as a person does: its change is told."""
        await self.until_shown(selector)
        script = (
            "const e = document.querySelector(arguments[0]); e.value = arguments[1];"
            "e.dispatchEvent(new Event('change', {bubbles: true})); return e.value"
        )
        assert await self.run(script, selector, value) == value

    async def tab_to(self, selector: str, most: int = 80) -> None:
        """The Tab key until the focus is there, as somebody without a mouse does."""
        await self.until_shown(selector)
        for _ in range(most):
            await self.press("\ue004")
            if await self.run("return document.activeElement.matches(arguments[0])", selector):
                return
        raise AssertionError(f"the Tab key does not reach {selector}")

    async def tabs(self) -> list[str]:
        found: list[str] = await self.command("GET", "/window/handles")
        return found

    async def new_tab(self) -> str:
        handle: str = (await self.command("POST", "/window/new", {"type": "tab"}))["handle"]
        await self.show_tab(handle)
        return handle

    async def show_tab(self, handle: str) -> None:
        await self.command("POST", "/window", {"handle": handle})

    async def picture(self, path: Path | None = None) -> bytes:
        """The view as a PNG."""
        data = base64.b64decode(await self.command("GET", "/screenshot"))
        if path is not None:
            path.write_bytes(data)
        return data

    async def devtools(self, name: str, **parameters: Any) -> Any:
        """A command of Chromium's own protocol."""
        return await self.command("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    async def screen(self, width: int, height: int, *, dark: bool = False, mobile: bool = False) -> None:
        """A view of this size in CSS px, light or dark."""
        await self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile
        )
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.devtools("Emulation.setEmulatedMedia", features=[feature])

    async def network(self, *, offline: bool) -> None:
        """Cut the browser's network, or mend it."""
        await self.devtools("Network.enable")
        await self.devtools(
            "Network.emulateNetworkConditions", offline=offline, latency=0, downloadThroughput=-1, uploadThroughput=-1
        )

    async def forget(self) -> None:
        """As never used: one empty tab, nothing stored, the network mended."""
        first, *others = await self.tabs()
        for handle in others:
            await self.show_tab(handle)
            await self.command("DELETE", "/window")
        await self.show_tab(first)
        await self.network(offline=False)
        origin = await self.run("return location.origin")
        await self.open("about:blank")
        await self.devtools("Storage.clearDataForOrigin", origin=origin, storageTypes="all")
        await self.console()

    async def console(self) -> list[str]:
        """What the page wrote to its console since the last look, warnings and worse."""
        found = await self.command("POST", "/se/log", {"type": "browser"})
        return [f"{one['level']} {one['message']}" for one in found if one["level"] in {"WARNING", "SEVERE"}]

    async def _element(self, selector: str) -> str:
        found = await self.command("POST", "/element", {"using": "css selector", "value": selector})
        element: str = found[_ELEMENT]
        return element


@contextmanager
def chromedriver() -> Iterator[str]:
    """A driver process of our own on a free port; its base URL."""
    with tempfile.TemporaryDirectory(prefix="taquilla-driver-") as folder:
        process, url = _started_driver(Path(folder) / "driver.txt")
        try:
            yield url
        finally:
            process.terminate()
            process.wait(10)


def _started_driver(log: Path) -> tuple[subprocess.Popen[bytes], str]:
    """It takes a free IPv6 port and ends when somebody has the IPv4 port of that number: then another one."""
    for _ in range(10):
        with log.open("wb") as output:
            process = subprocess.Popen(["chromedriver", "--port=0"], stdout=output, stderr=output)
        deadline = time.monotonic() + WITHIN_S
        while process.poll() is None and time.monotonic() < deadline:
            found = _STARTED.search(log.read_text(errors="replace"))
            if found is not None:
                return process, f"http://127.0.0.1:{found[1]}"
            time.sleep(0.02)
        process.kill()
        process.wait(10)
    raise AssertionError(log.read_text(errors="replace"))


@dataclass
class Browsers:
    """Browsers that tests lend to each other: each one comes back as if it had never been anywhere."""

    driver: str
    flags: tuple[str, ...] = ()
    free: list[str] = field(default_factory=list)
    all: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[Browser]:
        """A browser at 1280 x 800, light."""
        async with httpx.AsyncClient(base_url=self.driver, timeout=60.0, trust_env=False) as http:
            session = self.free.pop() if self.free else await self._started(http)
            page = Browser(http, session)
            await page.screen(1280, 800)
            yield page
            await page.forget()
            self.free.append(session)

    async def _started(self, http: httpx.AsyncClient) -> str:
        options = {"args": [*_FLAGS, *self.flags, "--window-size=1280,800"], "binary": shutil.which("chromium")}
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
            "timeouts": {"script": 10_000, "pageLoad": 20_000},
        }
        answer = await http.post("/session", json={"capabilities": {"alwaysMatch": wanted}})
        assert answer.status_code == 200, answer.text
        session: str = answer.json()["value"]["sessionId"]
        self.all.append(session)
        return session


@contextmanager
def browsers(*flags: str) -> Iterator[Browsers]:
    """A driver of our own and its browsers; each gets a new profile from the driver, and ends with the context."""
    with chromedriver() as driver:
        lent = Browsers(driver, flags)
        try:
            yield lent
        finally:
            for session in lent.all:
                httpx.delete(f"{driver}/session/{session}", timeout=20.0, trust_env=False)
