"""What a change of admission would do, in words: what changes, and what comes of it if all stays as it is now."""

from __future__ import annotations

from app.core.ops_draft import NUMBERS, AdmissionDraft, NumberTextError, numbers_of
from app.i18n import _, figures
from app.screens.ops_words import from_to, mode_words
from backend_client.wire import AdmissionPreview, AdmissionSettings


def preview_words(preview: AdmissionPreview) -> str:
    """One line: the rate it comes to, when all who wait would be in, how many would be inside."""
    last = preview.rates[-1] if preview.rates else None
    parts = []
    if last is None:
        parts.append(_("{rate} a minute").format(rate=figures().rough(preview.per_minute)))
    else:
        rate = figures().rough(last.per_minute)
        parts.append(_("{rate} a minute in {time}").format(rate=rate, time=figures().age(last.after_s)))
    parts.append(waiting_words(preview))
    if preview.shoppers_inside is not None:
        parts.append(_("about {count} inside").format(count=figures().rough(preview.shoppers_inside)))
    return figures().joined(parts)


def waiting_words(preview: AdmissionPreview) -> str:
    """When the last of those who wait now would be in."""
    count = figures().number(preview.waiting)
    if preview.waiting == 0:
        return _("nobody waits")
    if preview.all_in_after_s is None:
        return _("{count} waiting: not all in within a day").format(count=count)
    time = figures().age(preview.all_in_after_s)
    return _("{count} waiting: all in after {time}").format(count=count, time=time)


def change_words(draft: AdmissionDraft, settings: AdmissionSettings) -> list[tuple[str, str]]:
    """(name, `800 → 1,200`) of everything that would be another one."""
    found = []
    if draft.mode is not None:
        found.append((_("Mode"), from_to(mode_words(settings.mode), mode_words(draft.mode))))
    try:
        numbers = numbers_of(draft, settings)
    except NumberTextError:
        numbers = {}
    for name in NUMBERS:
        if name in numbers:
            was, now = figures().number(getattr(settings, name)), figures().number(numbers[name])
            found.append((number_name(name), from_to(was, now)))
    return found


def difference_words(draft: AdmissionDraft, theirs: AdmissionSettings) -> list[str]:
    """What somebody else has set where something else is typed here: `Cap: 1,500, here 2,000`."""
    found = []
    if draft.mode is not None:
        pair = _("{name}: {theirs}, here {mine}")
        found.append(pair.format(name=_("Mode"), theirs=mode_words(theirs.mode), mine=mode_words(draft.mode)))
    for name, text in draft.texts:
        value = figures().number(getattr(theirs, name))
        found.append(_("{name}: {theirs}, here {mine}").format(name=number_name(name), theirs=value, mine=text))
    return found


def number_name(name: str) -> str:
    """What an operator of a waiting room calls a setting."""
    return {
        "manual_per_minute": _("By hand"), "cap_per_minute": _("Cap"), "least_per_minute": _("At least"),
        "total_active_users": _("Inside at most"),
    }[name]  # fmt: skip
