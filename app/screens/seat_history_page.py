"""The history of a seat as a page of rich text: one piece that can be read, selected and copied as a whole."""

from __future__ import annotations

from html import escape

from PySide6.QtGui import QFontMetrics

from app.i18n import _
from app.screens.seat_detail_words import SeatFace
from widgets.theme import Theme


def history_html(face: SeatFace, theme: Theme, *, mirrored: bool) -> str:
    """Newest first, under the day of each; texts come from people, so nothing of them is read as markup."""
    widths = QFontMetrics(theme.font("body"))
    time_px = max((widths.horizontalAdvance(one.time) for one in face.history), default=0) + theme.space("medium")
    muted, direction = theme.color("text_muted").name(), "rtl" if mirrored else "ltr"
    tight, gap = theme.space("tight"), theme.space("small")
    inner, side = ("left", "right") if mirrored else ("right", "left")
    parts, day = [], ""
    for one in face.history:
        if one.day != day:
            day = one.day
            style = f"color:{muted}; padding-top:{tight}px"
            parts.append(f'<tr><td colspan="2" align="{side}" style="{style}">{escape(day)}</td></tr>')
        more = f'<br><span style="color:{muted}">{escape(one.more)}</span>' if one.more else ""
        cells = [
            f'<td width="{time_px}" style="color:{muted}; padding-{inner}:{gap}px">{escape(one.time)}</td>',
            f'<td align="{side}" style="padding-bottom:{tight}px"><b>{escape(one.what)}</b>{more}</td>',
        ]
        # Qt lays tables out from the left, whatever the direction of their texts.
        parts.append(f"<tr>{''.join(reversed(cells) if mirrored else cells)}</tr>")
    table = f'<table width="100%" cellspacing="0" cellpadding="1">{"".join(parts)}</table>'
    older = _("Older entries are left out.")
    cut = f'<p align="{side}" style="color:{muted}">{escape(older)}</p>' if face.is_cut else ""
    return f'<div dir="{direction}">{table}{cut}</div>'
