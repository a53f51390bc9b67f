"""One module a tab, each with `view(session, request)`: a request's plain data in, records as plain data out."""
