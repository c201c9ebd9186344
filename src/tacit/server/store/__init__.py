"""What the service remembers beside its ledgers: people, tokens, data sets, policies, approvals, jobs and acts."""

from ..person import Person
from .records import Act, Approval, DataSet, Issued, Job, Login, Publication, TableSource, TokenInfo
from .store import Store

__all__ = [
    "Act",
    "Approval",
    "DataSet",
    "Issued",
    "Job",
    "Login",
    "Person",
    "Publication",
    "Store",
    "TableSource",
    "TokenInfo",
]
