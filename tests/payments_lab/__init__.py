"""A referee for the Stripe provider that nobody here wrote, localstripe, behind a proxy of ours that breaks things.

All of them are processes of their own: localstripe is never imported. It is lenient about money (it refunds too much,
and captures what is void), so it is no judge of money rules: the sandbox is.
"""
