"""What people read for the codes of seating plans: title and advice."""

from __future__ import annotations

from typing import Final

from app.i18n import marked

PLAN_ADVICE: Final[dict[str, tuple[str, str]]] = {
    "plan-changed": (
        marked("Somebody else has saved another version of this plan"),
        marked("Save this one to a file, open the newest version, and decide anew."),
    ),
    "plan-conflict": (
        marked("The event stays on its version"),
        marked("Seats that are sold, being paid, held or kept back are in the way."),
    ),
    "plan-not-ready": (
        marked("This plan cannot be saved yet"),
        marked("Put right what the list names. A plan also needs a venue: begin a new plan or open one."),
    ),
    "plan-file-unreadable": (
        marked("This file is no seating plan that can be opened here"),
        marked("Plans in other formats are imported: “Import a file” in the same menu says what is wrong with them."),
    ),
    "plan-file-too-large": (
        marked("This file is too large to be looked at here"),
        marked("Import it with the command line: taquilla plan import."),
    ),
    "picture-refused": (
        marked("This picture cannot be put under the drawing"),
        marked("PNG or JPEG of at most 4 MB each, at most 20 of them and 8 MB together."),
    ),
    "plan-file-not-read": (marked("The file could not be read"), marked("Look at its place and its permissions.")),
    "plan-file-not-written": (
        marked("The file could not be written"),
        marked("Look at the space on the disk, or choose another place."),
    ),
    "plan-draft-not-kept": (
        marked("What is drawn here is not kept if the console ends"),
        marked("The disk is full or may not be written. Save the plan soon."),
    ),
    "plan-draft-damaged": (
        marked("A plan that was not saved cannot be read"),
        marked("Its file was put aside in the console's data folder."),
    ),
    "plan-recalled": (
        marked("This plan was not saved when the console ended"),
        marked("Go on with it and save it, or open another one."),
    ),
    "plan-kept": (
        marked("A plan that was not saved is kept"),
        marked("Open the plan editor to go on with it."),
    ),
}
