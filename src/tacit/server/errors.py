"""What the service refuses, beside what a curator does: its clients raise the same errors."""

from ..client.errors import ApprovalNeeded, BadRequest, Conflict, Forbidden, NotFound, Overloaded, Unauthenticated

__all__ = ["ApprovalNeeded", "BadRequest", "Conflict", "Forbidden", "NotFound", "Overloaded", "Unauthenticated"]
