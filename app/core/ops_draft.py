"""What an operator types about admission and has not sent: it outlives polls, others' changes and a lost answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from babel.numbers import get_group_symbol

from app.i18n import figures
from backend_client.wire import AdmissionMode, AdmissionPreviewRequest, AdmissionSettings, AdmissionSettingsChange

NUMBERS = ("manual_per_minute", "cap_per_minute", "least_per_minute", "total_active_users")
MOST = {"manual_per_minute": 600_000, "cap_per_minute": 600_000, "least_per_minute": 600_000,
        "total_active_users": 1_000_000}  # fmt: skip


class NumberTextError(ValueError):
    """`name` is the number that cannot be read or is out of its bounds; `least` and `most` are these."""

    code = "number-wrong"

    def __init__(self, name: str, least: int, most: int) -> None:
        super().__init__(f"{name}: a whole number from {least} to {most}")
        self.name, self.least, self.most = name, least, most


@dataclass(frozen=True, slots=True)
class AdmissionDraft:
    """Texts as typed, None: as it is set. `version` is the one they were typed over."""

    version: int | None = None
    mode: AdmissionMode | None = None
    texts: tuple[tuple[str, str], ...] = ()
    reason: str = ""

    @property
    def is_empty(self) -> bool:
        """Nothing would change; a reason alone changes nothing."""
        return self.mode is None and not self.texts

    def text(self, name: str) -> str | None:
        """What is typed for a number; None when nothing is."""
        return dict(self.texts).get(name)

    def with_text(self, name: str, text: str, settings: AdmissionSettings) -> AdmissionDraft:
        """Another text; typing what is set already types nothing."""
        kept = {one: words for one, words in self.texts if one != name}
        if text.strip() != str(getattr(settings, name)):
            kept[name] = text
        return self._on(settings, texts=tuple(sorted(kept.items())))

    def with_mode(self, mode: AdmissionMode, settings: AdmissionSettings) -> AdmissionDraft:
        """Another mode."""
        return self._on(settings, mode=None if mode is settings.mode else mode)

    def over(self, settings: AdmissionSettings) -> AdmissionDraft:
        """The same wish over what is set now: what somebody else has set in the same way meanwhile falls away."""
        draft = replace(self, version=settings.version)
        if draft.mode is settings.mode:
            draft = replace(draft, mode=None)
        kept = tuple((name, text) for name, text in draft.texts if text.strip() != str(getattr(settings, name)))
        return replace(draft, texts=kept)

    def _on(self, settings: AdmissionSettings, **members: object) -> AdmissionDraft:
        version = settings.version if self.is_empty or self.version is None else self.version
        draft = replace(self, version=version, **members)  # type: ignore[arg-type]  # members of this class
        return replace(draft, version=None) if draft.is_empty else draft


def numbers_of(draft: AdmissionDraft, settings: AdmissionSettings) -> dict[str, int]:
    """The typed numbers, read.

    Raises:
        NumberTextError: one of them is no number, or against another one: nothing goes above the cap.
    """
    found: dict[str, int] = {}
    for name in NUMBERS:
        text = draft.text(name)
        least = 1 if name == "total_active_users" else 0
        if text is not None:
            found[name] = _read(name, text, least, MOST[name])
    cap = found.get("cap_per_minute", settings.cap_per_minute)
    for name in ("manual_per_minute", "least_per_minute"):
        if found.get(name, getattr(settings, name)) > cap:
            culprit = name if name in found else "cap_per_minute"
            least = 0 if name in found else int(getattr(settings, name))
            raise NumberTextError(culprit, least, cap if name in found else MOST["cap_per_minute"])
    return found


def change_of(draft: AdmissionDraft, settings: AdmissionSettings) -> AdmissionSettingsChange:
    """The change to be sent, from the version that it was typed over. Raises NumberTextError."""
    version = settings.version if draft.version is None else draft.version
    numbers = numbers_of(draft, settings)
    return AdmissionSettingsChange(
        expected_version=version,
        reason=draft.reason.strip(),
        mode=draft.mode,
        manual_per_minute=numbers.get("manual_per_minute"),
        cap_per_minute=numbers.get("cap_per_minute"),
        least_per_minute=numbers.get("least_per_minute"),
        total_active_users=numbers.get("total_active_users"),
    )


def preview_of(draft: AdmissionDraft, settings: AdmissionSettings) -> AdmissionPreviewRequest:
    """The question what it would do. Raises NumberTextError."""
    numbers = numbers_of(draft, settings)
    return AdmissionPreviewRequest(
        mode=draft.mode,
        manual_per_minute=numbers.get("manual_per_minute"),
        cap_per_minute=numbers.get("cap_per_minute"),
        least_per_minute=numbers.get("least_per_minute"),
        total_active_users=numbers.get("total_active_users"),
    )


def _read(name: str, text: str, least: int, most: int) -> int:
    """Digits, or digits in groups of three as the language writes them; `12.5` is never 125 (D6)."""
    group = re.escape(str(get_group_symbol(figures().locale)))
    grouped = rf"\d{{1,3}}(?:(?:{group}|[ \u00a0\u202f])\d{{3}})+"
    plain = text.strip()
    if re.fullmatch(rf"\d{{1,9}}|{grouped}", plain) is None:
        raise NumberTextError(name, least, most)
    value = int("".join(letter for letter in plain if letter.isdigit()))
    if not least <= value <= most:
        raise NumberTextError(name, least, most)
    return value
