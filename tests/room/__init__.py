"""The waiting room: its rules without I/O, its store, its tokens, its HTTP, and the room beside the authority."""
