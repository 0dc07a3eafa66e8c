"""From the bytes of an SVG to its elements, each with its place in the file; what is hostile is refused.

Python's own expat, fed once. Entity declarations are refused before anything could expand; external ones are never
fetched. Depth, elements and text are bounded, so a file of the largest size costs memory in proportion to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from booking.domain.seating_plan.faults import FindingCode, Findings
from booking.domain.seating_plan.json_source import MAX_BYTES
from booking.domain.seating_plan.pictures import MAX_PICTURE_BYTES
from booking.domain.seating_plan.sayings import Saying, Says

MAX_DEPTH = 100
MAX_ELEMENTS = 600_000
MAX_TEXT = 2_000
MAX_ATTRIBUTES = 5_000_000
MAX_OUTLINE, MAX_VALUE = 1_000_000, 10_000
"""Signs of the data of a path or polygon, and of other attributes; longer ones (pictures) are taken as empty."""
_OUTLINES = frozenset({"d", "points"})
_MAX_LINK = 2 * MAX_PICTURE_BYTES


@dataclass(slots=True)
class Element:
    """`tag` and attributes without namespace; `text` is that of text elements, with their parts."""

    tag: str
    attributes: dict[str, str]
    pointer: str
    parent: int
    text: str = ""


@dataclass(slots=True)
class _Stop(Exception):  # noqa: N818 - never leaves this module
    code: FindingCode
    message: Saying
    pointer: str


def load_elements(data: bytes, findings: Findings) -> list[Element] | None:
    """All elements in document order, parents before children; None after reporting why there are none."""
    if len(data) > MAX_BYTES:
        message = Says.FILE_TOO_LARGE.of(count=len(data), most=MAX_BYTES)
        findings.fault("", FindingCode.FILE_TOO_LARGE, message)
        return None
    if data.count(b"=") > MAX_ATTRIBUTES:
        findings.fault("", FindingCode.TOO_MANY, Says.ATTRIBUTES_TOO_MANY.of(most=MAX_ATTRIBUTES))
        return None
    collector = _Collector()
    try:
        collector.parser.Parse(data, True)
    except _Stop as stop:
        findings.fault(stop.pointer, stop.code, stop.message)
        return None
    except expat.ExpatError as error:
        detail = expat.ErrorString(error.code)
        message = Says.NOT_XML.of(line=error.lineno, column=error.offset + 1, detail=detail)
        findings.fault(f"{error.lineno}:{error.offset + 1}", FindingCode.INVALID_XML, message)
        return None
    except (LookupError, ValueError) as error:  # an encoding that there is not, or one of several bytes
        findings.fault("", FindingCode.BAD_ENCODING, Says.ENCODING_UNKNOWN.of(detail=str(error)))
        return None
    if collector.elements and collector.elements[0].tag == "svg":
        return collector.elements
    findings.fault("", FindingCode.INVALID_XML, Says.NOT_SVG.of())
    return None


@dataclass(slots=True)
class _Collector:
    elements: list[Element] = field(default_factory=list)
    parser: expat.XMLParserType = field(init=False)
    _open: list[int] = field(default_factory=list)
    _texts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.EntityDeclHandler = self._refuse_entity
        self.parser.ExternalEntityRefHandler = self._refuse_external
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def _here(self) -> str:
        return f"{self.parser.CurrentLineNumber}:{self.parser.CurrentColumnNumber + 1}"

    def _refuse_entity(self, *_: object) -> None:
        message = Says.ENTITIES.of()
        raise _Stop(FindingCode.ENTITIES_REFUSED, message, self._here())

    def _refuse_external(self, *_: object) -> int:
        message = Says.ANOTHER_FILE.of()
        raise _Stop(FindingCode.ENTITIES_REFUSED, message, self._here())

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise _Stop(FindingCode.TOO_DEEP, Says.ELEMENTS_TOO_DEEP.of(most=MAX_DEPTH), self._here())
        if len(self.elements) >= MAX_ELEMENTS:
            raise _Stop(FindingCode.TOO_MANY, Says.ELEMENTS_TOO_MANY.of(most=MAX_ELEMENTS), self._here())
        parent = self._open[-1] if self._open else -1
        plain = {_local(key): _bounded(key, value) for key, value in attributes.items()}
        self._open.append(len(self.elements))
        tag = _local(name)
        self.elements.append(Element(tag, plain, self._here(), parent))
        if tag in ("text", "title"):
            self._texts.append(self._open[-1])

    def _end(self, _name: str) -> None:
        if self._texts and self._texts[-1] == self._open[-1]:
            self._texts.pop()
        self._open.pop()

    def _characters(self, characters: str) -> None:
        if self._texts:
            element = self.elements[self._texts[-1]]
            if len(element.text) < MAX_TEXT:
                element.text += characters


def _bounded(name: str, value: str) -> str:
    bound = MAX_OUTLINE if name in _OUTLINES else _MAX_LINK if name == "href" else MAX_VALUE
    if len(value) <= bound:
        return value
    return "(too long)" if name == "transform" else ""  # nobody shall sit where an unread transform leaves them


def _local(name: str) -> str:
    return name.rpartition(":")[2]
