"""A shift in a house that is busy for real: the windows are driven as a person works, beside whoever else sells there.

Somebody (the verb `rush`) has started a booking system and says in a file how to join it. `counter` is a clerk who
sells seat after seat; `operations` an operator who watches and takes pictures. Both end when the file says so.
"""
