"""The fans' page as it is served: fenced in, kept for ever by its digest, small, the same in every language."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import httpx
import pytest
from starlette.routing import Router

from booking.domain.currencies import EXPONENTS
from booking.domain.errors import InvalidRequestError
from booking.room.page_files import PageFiles, PageSettings, content_security_policy
from tests.room.room_process import room_running
from tests.server.web_process import running

BOOKING = "https://booking.example"
LANGUAGES = ("en", "ar", "ja", "pt")
_ENTRY = re.compile(r'(?:^|\s)(?:"([a-z0-9.-]+)"|(\w+)): (\{[^{}]*(?:\{\w+\}[^{}]*)*\}|"(?:[^"\\]|\\.)*"),?')
_SAID = re.compile(r'\bsay\(\s*"([^"]+)"')
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def source(name: str) -> str:
    return (files("booking.room.page") / name).read_text(encoding="utf-8")


def words_of(language: str) -> dict[str, str]:
    """Each name with its text, all forms of a number together."""
    return {quoted or plain: text for quoted, plain, text in _ENTRY.findall(source(f"words_{language}.js"))}


def test_the_page_is_small_and_loads_nothing_from_elsewhere() -> None:
    """All of it travels in less than 60 kB; one visitor loads one language."""
    sizes = PageFiles(PageSettings(BOOKING, "sandbox")).sizes
    assert sum(sizes.values()) < 60_000
    for name in sizes:
        text = source(name)
        assert not re.search(r"""(?:src|href|url\(|import)[^\n]*["'(]https?://""", text), name
        assert "innerHTML" not in text, name
        assert "eval(" not in text, name
        code = [line for line in text.splitlines() if not line.lstrip().startswith("//")]
        assert not [line for line in code if line.count("`") % 2], f"{name}: a text over lines may look like a comment"


def test_the_policy_names_booking_and_nobody_else() -> None:
    policy = dict(rule.split(" ", 1) for rule in content_security_policy(PageSettings(BOOKING)).split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["img-src"] == "'self'"
    assert policy["connect-src"] == f"'self' {BOOKING} wss://booking.example"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert "connect-src 'self';" in content_security_policy(PageSettings())


def test_only_a_widget_that_was_named_may_come_from_elsewhere() -> None:
    policy = content_security_policy(PageSettings(widget_url="https://check.example/v0/api.js?x=1", site_key="k"))
    assert "script-src 'self' https://check.example;" in policy
    assert "frame-src https://check.example;" in policy


STRIPE_KEY = "pk_test_51Abc"
POLICIES = {
    "challenges.cloudflare.com/turnstile/v0/api.js": {
        "script-src": "'self' https://challenges.cloudflare.com", "frame-src": "https://challenges.cloudflare.com",
        "connect-src": "'self'", "style-src": "'self'",
    },
    "js.hcaptcha.com/1/api.js": dict.fromkeys(
        ("script-src", "connect-src", "style-src"), "'self' https://hcaptcha.com https://*.hcaptcha.com"
    ) | {"frame-src": "https://hcaptcha.com https://*.hcaptcha.com"},
    "www.google.com/recaptcha/api.js": {
        "script-src": "'self' https://www.google.com/recaptcha/ https://www.gstatic.com/recaptcha/",
        "frame-src": "https://www.google.com/recaptcha/ https://recaptcha.google.com/recaptcha/",
        "connect-src": "'self' https://www.google.com/recaptcha/", "style-src": "'self'",
    },
    "nothcaptcha.com/api.js": {"script-src": "'self' https://nothcaptcha.com", "connect-src": "'self'"},
}  # fmt: skip


@pytest.mark.parametrize("widget", POLICIES)
def test_each_bot_check_may_load_what_its_maker_documents_and_no_more(widget: str) -> None:
    policy = policy_of(PageSettings(widget_url=f"https://{widget}?render=explicit", site_key="k"))
    assert {name: policy[name] for name in POLICIES[widget]} == POLICIES[widget]
    assert policy["default-src"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"


def test_stripe_may_load_what_it_documents_when_it_is_paid_with_and_never_else() -> None:
    policy = policy_of(PageSettings(BOOKING, "stripe", stripe_key=STRIPE_KEY))
    assert policy["script-src"] == "'self' https://js.stripe.com https://*.js.stripe.com"
    assert policy["frame-src"] == "https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com"
    assert policy["connect-src"] == f"'self' {BOOKING} wss://booking.example https://api.stripe.com"
    assert policy["style-src"] == policy["img-src"] == policy["worker-src"] == "'self'"
    assert policy["form-action"] == policy["base-uri"] == "'none'"
    assert "stripe" not in content_security_policy(PageSettings(BOOKING, "sandbox"))


@pytest.mark.parametrize(
    ("payments", "key"),
    [("stripe", ""), ("sandbox", STRIPE_KEY), ("stripe", "sk_live_51Abc"), ("stripe", "pk_test_"), ("stripe", "x")],
)
def test_a_key_that_is_not_for_the_public_is_refused(payments: str, key: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        PageSettings(payments=payments, stripe_key=key)
    assert refused.value.fields[0].pointer == "/stripe_key"
    assert key == "" or key not in refused.value.detail


def policy_of(settings: PageSettings) -> dict[str, str]:
    return dict(rule.split(" ", 1) for rule in content_security_policy(settings).split("; "))


@pytest.mark.parametrize(
    "url", ["booking.example", "javascript:alert(1)", "https://a b", "https://x;script-src *", "*"]
)
def test_addresses_that_are_none_are_refused(url: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        PageSettings(url)
    assert refused.value.fields[0].pointer == "/booking_url"


async def test_settings_stand_in_the_document_as_text() -> None:
    files_of_page = PageFiles(PageSettings(BOOKING, "sandbox", "https://check.example/a.js", '"><script>'))
    transport = httpx.ASGITransport(Router(files_of_page.routes()))
    async with httpx.AsyncClient(transport=transport, base_url="http://page") as client:
        document = (await client.get("/")).text
    assert '"><script>' not in document
    assert "&quot;&gt;&lt;script&gt;" in document


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_every_language_has_the_words_of_english(language: str) -> None:
    english, other = words_of("en"), words_of(language)
    assert len(english) > 150
    assert other.keys() == english.keys()
    for name, text in english.items():
        # A form for "one" or "two" may say the number in words.
        missing = set(_PLACEHOLDER.findall(text)) - set(_PLACEHOLDER.findall(other[name])) - {"count"}
        assert not missing, f"{language}: {name} lacks {missing}"
        assert set(_PLACEHOLDER.findall(other[name])) <= set(_PLACEHOLDER.findall(text)), name


def test_numbers_have_the_forms_of_their_language() -> None:
    """CLDR: Arabic has six plural forms; a form that is missing would be told as the general one."""
    forms = {"en": {"one", "other"}, "pt": {"one", "other"}, "ja": {"other"},
             "ar": {"zero", "one", "two", "few", "many", "other"}}  # fmt: skip
    counted = {name for name, text in words_of("en").items() if text.startswith("{")}
    assert counted
    for language, wanted in forms.items():
        for name in counted:
            assert set(re.findall(r"(\w+): \"", words_of(language)[name])) == wanted, f"{language}: {name}"


def test_every_word_that_is_said_is_there() -> None:
    said = {
        name for one in PageFiles(PageSettings()).sizes if one.endswith(".js") for name in _SAID.findall(source(one))
    }
    assert len(said) > 90
    assert said - words_of("en").keys() == set()


def test_minor_units_are_those_of_the_booking_system() -> None:
    """Browsers' own tables differ; an amount would be wrong by a factor of a hundred (P20)."""
    text = source("words.js")
    tables = {name: set(codes.split()) for name, codes in re.findall(r'(\w+)_DECIMALS = new Set\("([A-Z ]+)"', text)}
    assert tables["NO"] == {code for code, digits in EXPONENTS.items() if digits == 0}
    assert tables["THREE"] == {code for code, digits in EXPONENTS.items() if digits == 3}
    assert set(EXPONENTS.values()) == {0, 2, 3}


async def test_the_room_serves_the_page_with_its_fence(tmp_path: Path) -> None:
    async with room_running(tmp_path / "data", "--booking-url", BOOKING, "--payments", "sandbox") as room:
        page = await room.client.get("/")
        assert page.status_code == 200
        assert page.headers["Content-Type"] == "text/html; charset=utf-8"
        assert page.headers["Content-Encoding"] == "gzip"
        assert page.headers["Cache-Control"] == "no-cache"
        assert page.headers["X-Frame-Options"] == "DENY"
        assert page.headers["Referrer-Policy"] == "no-referrer"
        assert page.headers["Content-Security-Policy"] == content_security_policy(PageSettings(BOOKING))
        assert "set-cookie" not in page.headers
        same = await room.client.get("/events/7", headers={"If-None-Match": page.headers["ETag"]})
        assert same.status_code == 304
        assert (await room.client.get("/events/7", headers={"Accept-Encoding": "identity"})).text == page.text
        assert (await room.client.get("/events/nothing")).status_code == 404
        assert (await room.client.get("/page/0123456789abcdef/app.js")).status_code == 404
        for path in re.findall(r'(?:src|href)="(/page/[^"]+)"', page.text):
            asset = await room.client.get(path)
            assert asset.status_code == 200, path
            assert asset.headers["Cache-Control"] == "public, max-age=31536000, immutable"
            assert asset.headers["X-Content-Type-Options"] == "nosniff"


async def test_a_room_without_a_page_and_one_that_is_told_nonsense(tmp_path: Path) -> None:
    async with room_running(tmp_path / "data", "--no-page") as room:
        assert (await room.client.get("/")).status_code == 404
    with pytest.raises(AssertionError, match=r"is no address for browsers"):
        async with running("room", "--data", str(tmp_path), "--booking-url", "nonsense", folder=tmp_path / "logs"):
            raise AssertionError("it must not start")
