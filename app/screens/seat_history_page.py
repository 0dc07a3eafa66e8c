"""The history of a seat as a page of rich text: one piece that can be read, selected and copied as a whole."""

from __future__ import annotations

from html import escape

from app.i18n import _
from app.screens.seat_detail_words import SeatFace
from widgets.theme import Theme


def history_html(face: SeatFace, theme: Theme, *, mirrored: bool) -> str:
    """Newest first, under the day of each; texts come from people, so nothing of them is read as markup."""
    muted, direction = theme.color("text_muted").name(), "rtl" if mirrored else "ltr"
    parts, day = [], ""
    for one in face.history:
        if one.day != day:
            day = one.day
            above = theme.space("tight")
            style = f"color:{muted}; padding-top:{above}px"
            parts.append(f'<tr><td colspan="2" style="{style}">{escape(day)}</td></tr>')
        more = f'<br><span style="color:{muted}">{escape(one.more)}</span>' if one.more else ""
        after = f"padding-{'left' if mirrored else 'right'}:{theme.space('small')}px"
        parts.append(
            f'<tr><td style="color:{muted}; {after}">{escape(one.time)}</td>'
            f'<td style="padding-bottom:{theme.space("tight")}px"><b>{escape(one.what)}</b>{more}</td></tr>'
        )
    older = _("Older entries are left out.")
    cut = f'<p style="color:{muted}">{escape(older)}</p>' if face.is_cut else ""
    table = f'<table dir="{direction}" cellspacing="0" cellpadding="1">{"".join(parts)}</table>'
    return f'<div dir="{direction}">{table}{cut}</div>'
