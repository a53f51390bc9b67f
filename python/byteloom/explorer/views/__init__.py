"""One module a tab with `view(session, request)`: plain data in, records as plain data out."""
