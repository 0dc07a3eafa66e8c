"""The page on which a buyer answers a 3-D Secure challenge of the sandbox."""

from __future__ import annotations

from html import escape
from urllib.parse import parse_qs

from booking.payments.sandbox_ledger import Operation, Status

CHALLENGES = "/challenges"

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Payment sandbox</title>
<style>body{{font:16px sans-serif;max-width:28rem;margin:10vh auto;padding:0 1rem}}
button{{font:inherit;padding:.6rem 1.2rem;margin-right:1rem}}</style>
<h1>Payment sandbox</h1>
{content}
</html>
"""
_QUESTION = """<p>Your bank asks: do you pay <strong>{amount} {currency}</strong> (in minor units)?</p>
<form method="post"><button name="answer" value="approve">Approve</button>
<button name="answer" value="refuse">Refuse</button></form>"""


def challenge_page(operation: Operation | None) -> str:
    """HTML: the question, or what became of it; None for an operation that is not known."""
    if operation is None:
        content = "<p>There is no such payment.</p>"
    elif operation.status is Status.ACTION_REQUIRED:
        request = operation.request
        content = _QUESTION.format(amount=request.amount, currency=escape(request.currency))
    elif operation.status is Status.SUCCEEDED:
        content = "<p>Approved. You can close this page.</p>"
    else:
        content = "<p>Refused. You can close this page.</p>"
    return _PAGE.format(content=content)


def read_answer(form: bytes) -> bool:
    """Whether the buyer approves. Raises ValueError for any other form than that of the page."""
    answers = parse_qs(form.decode("utf-8", "strict")).get("answer", [])
    if answers not in (["approve"], ["refuse"]):
        raise ValueError("answer must be approve or refuse")
    return answers == ["approve"]
