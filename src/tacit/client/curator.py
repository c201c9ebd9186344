"""A curator behind a service: it reads questions here, by the public schemas, and has the service answer them.

What public facts refuse is refused here, with the words of the library; what is left, whether it pays, and plans are
computed here too, from what the service says is spent.  A question is the same question wherever it is asked: what was
bought in SQL, in Python or by another client is free.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self, Unpack
from urllib.parse import quote

import numpy as np

from .. import storage
from ..core.accounting.budget import Budget
from ..core.accounting.currency import Amount, Readable
from ..core.accounting.loss import zero
from ..core.errors import BadParameter, Malformed, Refused, reading
from ..core.parameters import Number, rational
from ..curator import Bounds, QuestionLike
from ..curator.ask import Asked
from ..curator.bounds import BoundsTerms, check_bounds, surcharge
from ..curator.purchase import checked_fresh
from ..curator.purse import Purse, TakesMore
from ..curator.reader import QuestionReader
from ..curator.records import entry_of
from ..curator.rehearsal import Rehearsal
from ..curator.stream import StreamTerms
from ..ledger import Charge, Head
from ..ledger.names import analyst_name, skeleton
from ..mechanisms import NumericSparse, Sparse
from ..query.plan.offer import BETA, Offer, Paid, Terms, offer
from ..query.relation import build
from ..query.relation.relation import Relation, scans
from ..query.schema.schema import Schema
from ..release import Provenance, Release, versions
from . import jobs, wire
from .connection import Connection, Reply
from .errors import NotFound
from .tables import RemotePublicTables, RemoteTable

if TYPE_CHECKING:
    from ..curator.online import Online
    from ..curator.stream import Stream
    from ..query.python.table_domain import TableDomain
    from ..release.purchased_answers import Bought
    from ..workloads import Answered, Plan, Workload

_OWN = "format=release"  # asks for tacit's own form


class RemoteCurator(QuestionReader):
    """Has the methods of `tacit.Curator`, for a data set behind a service.  Threads may share one."""

    def __init__(self, connection: Connection, facts: Mapping[str, Any], analyst: str) -> None:
        self.connection, self.name, self.analyst = connection, str(facts["name"]), analyst
        self._place = f"/v1/datasets/{quote(self.name, safe='')}"
        self.tables = {name: RemoteTable(Schema.load(text)) for name, text in facts["schemas"].items()}
        self.table = next(iter(self.tables.values()))
        public = [table["name"] for table in facts["tables"] if table["public"]]
        self.public = RemotePublicTables(public, lambda name: self._get(f"public/{name}").body)
        self.budget, self.least_share = Budget(**facts["limits"]), Fraction(facts["least_share"])
        self._rehearsal = Rehearsal(self.tables)

    def who(self, analyst: str | None) -> str:
        """The name of who asks: whoever bears the token."""
        if analyst is not None and skeleton(analyst_name(analyst)) != skeleton(self.analyst):
            says = f"The service knows you as {self.analyst!r}, by your token. Leave analyst= out."
            raise BadParameter("analyst", analyst, repr(self.analyst), says=says)
        return self.analyst

    def _get(self, place: str) -> Reply:
        return self.connection.request("GET", f"{self._place}/{place}")

    def _post(self, place: str, body: Mapping[str, Any], fresh: bool | str = False) -> Reply:
        """Send a body to a place of the data set: again if need be, unless it buys a fresh draw without a name."""
        return self.connection.request("POST", f"{self._place}/{place}", body, again=fresh is not True)

    def _session(self, place: str, body: Mapping[str, Any] | None = None) -> Any:
        return (self._get(place) if body is None else self._post(place, body)).json()

    def _accounts(self, relation: Relation | None = None) -> tuple[bool, wire.Accounts]:
        """Whether anything is sold to who asks, and what a purchase about these rows is paid from."""
        told = self._post("accounts", {} if relation is None else {"query": wire.counting(relation)}).json()
        return told["sells"], wire.accounts_of(told)

    def accounts(self, relation: Relation | None = None) -> wire.Accounts:
        """The budgets that a purchase about these rows, or about all, is paid from, each with what is spent of it."""
        return self._accounts(relation)[1]

    @property
    def sells(self) -> bool:
        """Whether anything is sold to who asks."""
        return self._accounts()[0]

    def read_tables(self) -> None:
        """Do nothing: the service reads its tables when it needs them."""

    @property
    def newest(self) -> int:
        """The number of the last charge that one may see."""
        return max((charge["seq"] for charge in self._get("charges?count=1").json()["charges"]), default=0)

    def charges_since(self, entry: int) -> list[Charge]:
        """The charges after an entry that one may see, of the last thousand."""
        return [charge for charge in map(wire.charge_of, self._get("charges").json()["charges"]) if charge.seq > entry]

    @property
    def remaining(self) -> Amount:
        """What is left of the budget to who asks."""
        return self._left(None)

    def remaining_for(self, question: QuestionLike, *, analyst: str | None = None) -> Amount:
        """What is left to who asks on the parts of the data that a question looks at."""
        self.who(analyst)
        return self._left(self.read(question, {})[0].relation)

    def _left(self, relation: Relation | None) -> Amount:
        sells, accounts = self._accounts(relation)
        left = (b.remaining(before) for b, spent in accounts for before in spent)
        return Readable(min(left) if sells else 0)

    def covers(self, offer: Offer, *, analyst: str | None = None) -> bool:
        """Whether what is left to who asks pays for an offer; what was bought before is free."""
        if not isinstance(offer, Offer):
            raise BadParameter("offer", offer, "an offer of this curator")
        who = self.who(analyst)
        return offer.free or bool(offer.bought) or self.questions_left(offer, analyst=who) > 0

    def questions_left(
        self, question: QuestionLike | Offer, *, analyst: str | None = None, **terms: Unpack[Terms]
    ) -> int:
        """How many more questions of this price what is left to who asks would pay for, one after the other."""
        self.who(analyst)
        offered = question if isinstance(question, Offer) else self.offer(question, **terms)
        sells, accounts = self._accounts(offered.query.relation)
        times = (budget.repeats(offered.loss, before) for budget, spent in accounts for before in spent)
        return min(times) if sells else 0

    def history(self) -> list[Charge]:
        """What was bought: one's own purchases, or for an owner everybody's."""
        found, before = list[Charge](), ""
        while True:
            told = self._get(f"charges{before}").json()
            found += map(wire.charge_of, told["charges"])
            if told["before"] is None:
                return found[::-1]
            before = f"?before={told['before']}"

    def bought(
        self, question: QuestionLike, *, fresh: bool | str = False, analyst: str | None = None, **terms: Unpack[Terms]
    ) -> Charge | None:
        """The charge by which a question was bought before, or None."""
        asked, drawn = self._checked(question, terms, analyst), checked_fresh(fresh)
        if drawn is True:
            return None
        told = self._post("bought", {**wire.priced(asked, terms), "fresh": drawn}).json()["charge"]
        return None if told is None else wire.charge_of(told)

    def offer(self, question: QuestionLike, *, analyst: str | None = None, **terms: Unpack[Terms]) -> Offer:
        """What a question costs and how accurate its answer will be; terms are those of `Curator.offer`.

        Without a price, the question has the price that the owners of the service set.
        """
        asked = self._checked(question, terms, analyst)
        build.bounded(asked.query.relation)
        return wire.offer_of(asked, self.budget, self._post("offers", wire.priced(asked, terms)).json())

    def ask(
        self, question: QuestionLike, *, fresh: bool | str = False, analyst: str | None = None, **terms: Unpack[Terms]
    ) -> Release:
        """Buy an answer, once: asked again, the question is free; `fresh` buys another draw, which a text names."""
        asked, drawn = self._checked(question, terms, analyst), checked_fresh(fresh)
        reply = self._post(f"asks?{_OWN}", {**wire.priced(asked, terms), "fresh": drawn}, drawn)
        return asked.shown(Release.from_json(reply.body))

    def rehearse(
        self, question: QuestionLike, *, rows: int = 1000, analyst: str | None = None, **terms: Unpack[Terms]
    ) -> Release:
        """The answer to a question about made-up rows, which follow from the public schemas: free, and it says so."""
        offered, asked = self.offer(question, analyst=analyst, **terms), self._asked(question, terms)
        read = dict.fromkeys(scan.table for scan in scans(asked.query.relation))
        about = tuple((name, self.schemas[name].unit or "row", self.schemas[name].digest) for name in read)
        origin = Provenance(asked.text, about, str(self.budget), "", versions(), rehearsal=True)
        return self._rehearsal.release(offered, origin, rows)

    def _checked(self, question: QuestionLike, terms: Terms, analyst: str | None) -> Asked:
        """The meaning of a question; terms that have no meaning are refused here, as the library does."""
        self.who(analyst)
        asked = self._asked(question, terms)
        if {name: rational(name, value) for name, value in asked.terms.items()}.keys() > {"beta"}:
            facts: dict[str, Any] = {"compiled_query": asked.compiled, "least_share": self.least_share}
            try:
                offer(asked.query, self.budget, schemas=self.schemas, **facts, **asked.terms)
            except Malformed:
                raise
            except Refused:  # of which the service says what is true now
                pass
        return asked

    def release_of(self, entry_hash: str) -> Release | Bought:
        """The release that the ledger keeps of the charge with this hash, which a release's card names."""
        try:
            reply = self.connection.request("GET", f"/v1/releases/{quote(entry_hash, safe='')}?{_OWN}")
        except NotFound:
            wrong = "No release of this ledger has this hash. It stands in the card of every release, under accounting."
            raise BadParameter("hash", entry_hash, "that of a charge with a release", says=wrong) from None
        told = reply.json()
        return _bought(told, None) if "released" in told else Release.from_json(reply.body)

    def verify(self, release: Release | Bought) -> Head:
        """The head of a sound ledger that keeps this very release and is within its budget; else an error says why."""
        at = entry_of(release, self.release_of)
        told = self.connection.request("GET", f"/v1/releases/{at}/verify").json()
        if not told["intact"]:
            raise Refused(told["reason"] or "The ledger is not what was written.")
        return Head(told["head"]["seq"], told["head"]["hash"])

    def above_threshold(self, threshold: int, **terms: Unpack[StreamTerms]) -> Stream:
        """Open a stream that says of each count whether it reaches the threshold."""
        from .sessions import RemoteStream

        return RemoteStream(self, self._session, Sparse, threshold=threshold, **terms)

    def numeric_sparse(self, threshold: int, **terms: Unpack[StreamTerms]) -> Stream:
        """Open a stream that says about how much each count is that reaches the threshold."""
        from .sessions import RemoteStream

        return RemoteStream(self, self._session, NumericSparse, threshold=threshold, **terms)

    def purse(self, relation: Relation | None, analyst: str | None) -> Purse:
        """What a purchase about these rows, or about all, is paid from."""
        self.who(analyst)
        if len(self.budget.sums) == 1:
            return self.unspent
        return Purse(self._accounts(relation)[1], self.least_share)

    @cached_property
    def unspent(self) -> Purse:
        """The budget as if nothing were spent of it."""
        return Purse([(self.budget, [zero])], self.least_share)

    def plan(self, workload: Workload, *, n: int | None = None, beta: Number = BETA, **price: Unpack[Paid]) -> Plan:
        """Every way to answer linear queries, with predicted error and time, and what the best takes of the budget."""
        from ..curator import workloads

        return workloads.plan(self.tables, workload, n, beta, partial(self.purse, analyst=None), **price)

    def answer(
        self,
        workload: Workload,
        *,
        method: str = "auto",
        n: int | None = None,
        beta: Number = BETA,
        fresh: bool | str = False,
        analyst: str | None = None,
        **price: Unpack[Paid],
    ) -> Bought:
        """Buy the answers of all linear queries at once; asked again they are free."""
        from ..curator.workloads import candidates, restated

        self.who(analyst)
        found, drawn = candidates(self, workload, method, n, beta=beta, terms=price), checked_fresh(fresh)
        body = {"workload": storage.write(found.workload), "method": method, "fresh": drawn}
        body |= {"terms": wire.terms({**price, "beta": beta}), **({} if n is None else {"n": n})}
        job = self._post("answers", body, drawn).json()
        return restated(found, _bought(jobs.finished(self.connection, job, "answers").json(), workload))

    def query(self, workload: Workload) -> Answered:
        """Answers to any linear queries from what was released before, free, with what is known of their errors."""
        from ..curator.workloads import checked_workload
        from ..workloads import Answered

        checked = checked_workload(self.tables, workload)
        told = self._post(f"queries?{_OWN}", {"workload": storage.write(checked)}).json()
        answers = [math.nan if x is None else x for x in storage.read(told["answers"])]
        known = storage.read(told["errors"])
        errors = None if known is None else np.array([math.inf if x is None else float(x) for x in known])
        return Answered(workload, np.array(answers, float), errors, told["statement"])

    def online(
        self,
        domain: TableDomain,
        *,
        queries: int = 10_000,
        updates: int | None = None,
        grid: Number = 1,
        n: int | None = None,
        name: str = "online",
        analyst: str | None = None,
        **price: Unpack[Paid],
    ) -> Online:
        """Open private multiplicative weights: one price for any number of linear queries, asked one by one."""
        from ..curator.workloads import online_terms
        from .sessions import RemoteOnline

        checked, people = online_terms(self.tables, domain, n, price)
        terms = {"queries": queries, "updates": updates, "grid": grid, "name": name, "analyst": analyst, "n": people}
        return RemoteOnline(self, self._session, checked, {**terms, **price})

    def bounds(self, column: str, **terms: Unpack[BoundsTerms]) -> Bounds:
        """Buy bounds of a column of the first table, for its schema."""
        price, drawn = check_bounds(self, column, **terms), checked_fresh(terms.get("fresh", False))
        more = surcharge(self, column, **price) if len(self.budget.sums) > 1 else ""
        told = self._post("bounds", {"column": column, "terms": wire.terms(price), "fresh": drawn}, drawn).json()
        if more and not told["free"]:
            warnings.warn(f"This purchase {more.removeprefix('it ')}.", TakesMore, stacklevel=2)
        with reading("these bounds"):
            return Bounds(*storage.read(told["stored"]))

    def close(self) -> None:
        """Close the connections."""
        self._rehearsal.close()
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RemoteCurator({', '.join(self.tables)}; service={self.connection.url!r}, budget={self.budget})"


def _bought(told: Mapping[str, Any], workload: Workload | None) -> Bought:
    """Answers that were bought, about the asker's own workload where there is one."""
    from ..release.purchased_answers import Bought

    with reading("this release"):
        released, price, provenance = (storage.read(told[name]) for name in ("released", "price", "provenance"))
    fields = vars(released) | ({} if workload is None else {"workload": workload})
    return Bought(**fields, price=price, provenance=provenance)
