"""When two labels look the same to a person: padding, width forms, and letters of other alphabets (case I3).

A clerk who reads "A" cannot tell a Latin A from a Cyrillic А; a plan with both in one section sells the wrong row.
"""

from __future__ import annotations

import unicodedata

# Letters of the Cyrillic and Greek alphabets whose common shapes are those of Latin letters.
_LOOKALIKES = str.maketrans(
    "АВЕЗКМНОРСТУХІЈЅԚԜаеорсухіјѕԛԝһӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧοονι",
    "ABE3KMHOPCTYXIJSQWaeopcyxijsqwhlABEZHIKMNOPTYXoovi",
)


def skeleton(label: str) -> str:
    """The label as it looks: compatibility forms folded, invisible signs and outer or repeated spaces dropped."""
    folded = unicodedata.normalize("NFKC", label).translate(_LOOKALIKES)
    visible = "".join(sign for sign in folded if unicodedata.category(sign) != "Cf")
    return " ".join(visible.split())


def describe(label: str) -> str:
    """The label with what the eye misses spelled out, for messages."""
    odd = [sign for sign in label if ord(sign) > 126 and (len(label) == 1 or skeleton(sign) != sign)]
    if odd:
        names = ", ".join(unicodedata.name(sign, f"U+{ord(sign):04X}") for sign in odd[:3])
        return f'"{label}" ({names})'
    if label != label.strip():
        return f'"{label}" (with a space at its end or start)'
    return f'"{label}"'
