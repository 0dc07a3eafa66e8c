"""The documents' experiments, run again on a real PostgreSQL, with the project's own functions beside them (R37).

The experiment of the Arabic document: fifty buyers behind a barrier want seat A1; seven ways to sell it, a hold that
runs out, and a thousand tickets without numbers. The way, the table that is printed and the 50 ms between reading and
writing are the document's, so that whoever ran it there recognises the figures.

One thing differs: the document has a thread for each buyer; here each buyer is an asyncio task with a PostgreSQL
connection of its own. The race is between the connections, so it is the same race.
"""
