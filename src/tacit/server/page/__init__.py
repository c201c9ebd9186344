"""The page: what people see of the service in a browser.

A template is a shell without data.  Its ES modules ask the HTTP API, as any other client does, with the session cookie
of the browser; so the page can show nothing that the API would not give to the same person.  All text reaches the
document as text (autoescaped here, `textContent` there), scripts and styles are files of this folder, and no other host
is asked for anything.
"""

from .shells import routes

__all__ = ["routes"]
