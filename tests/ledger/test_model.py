"""A ledger against a model that remembers everything and adds it up anew each time."""

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tacit import Budget
from tacit.core.errors import BudgetExceeded
from tacit.core.purpose import Purpose
from tacit.ledger import Charge, Request
from tacit.testing._ledger import key, pure

ANALYSTS = ("ann", "ben", "eve")
PARTS = ("north", "south", "west", "never named")
analysts = st.sampled_from(ANALYSTS)
prices = st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1, 7), Fraction(1, 100)])
parts = st.none() | st.sets(st.sampled_from(PARTS[:3]), min_size=1).map(frozenset)
requests = st.builds(
    lambda question, price, analyst, parts, fresh: Request(
        key(question, price, parts), pure(price), analyst, parts, Purpose("question", str(question)), fresh
    ),
    st.integers(0, 5),
    prices,
    analysts,
    parts,
    st.booleans(),
)


@dataclass
class Paid:
    request: Request
    draw: int
    release: bytes | None = None


class Model(RuleBasedStateMachine):
    places = None

    def __init__(self):
        super().__init__()
        self.place, self.limit = self.places(), Fraction(1)
        self.ledger = self.place(Budget(epsilon=1), only_allowed=False)
        self.paid: list[Paid] = []
        self.allowed: dict[str, Fraction] = {}
        self.anchor, self.count = self.ledger.head(), 0

    def spent(self, part, analyst=None, paid=None):
        told = (p.request for p in (self.paid if paid is None else paid))
        return sum(
            next(iter(r.loss.terms)).epsilon
            for r in told
            if analyst in (None, r.analyst) and (r.parts is None or part in r.parts)
        )

    def after(self, wanted):
        """What is paid once all of these are, or None if one of them is too much."""
        paid = list(self.paid)
        for request in wanted:
            known = [p for p in paid if p.request.key == request.key]
            if known and not request.fresh:
                continue
            paid.append(Paid(request, len(known) + 1))
            touched = PARTS if request.parts is None else request.parts
            own = self.allowed.get(request.analyst, self.limit)
            if any(
                self.spent(p, None, paid) > self.limit or self.spent(p, request.analyst, paid) > own for p in touched
            ):
                return None
        return paid

    def last(self, question):
        return next(p for p in reversed(self.paid) if p.request.key == question)

    @rule(wanted=st.lists(requests, min_size=1, max_size=4))
    def charge(self, wanted):
        expected = self.after(wanted)
        try:
            charges = self.ledger.charge_many(wanted)
        except BudgetExceeded:
            assert expected is None
            return
        assert expected is not None
        self.paid = expected
        for request, charge in zip(wanted, charges, strict=True):
            assert isinstance(charge, Charge) and charge.key == request.key
        assert charges[-1].release == self.last(wanted[-1].key).release

    @rule(data=st.data(), answer=st.binary(max_size=4))
    def store(self, data, answer):
        """Also a second time, and for a charge from before a crash."""
        if not self.paid:
            return
        paid = data.draw(st.sampled_from(self.paid))
        charge = next(c for c in self.ledger.history() if (c.key, c.draw) == (paid.request.key, paid.draw))
        paid.release = answer if paid.release is None else paid.release
        assert self.ledger.store(charge, answer) == paid.release

    @rule(analyst=analysts, limit=st.sampled_from(["0.1", "0.5", "1"]))
    def allow(self, analyst, limit):
        self.ledger.allow(analyst, Budget(epsilon=limit))
        self.allowed[analyst] = Fraction(limit)

    @rule()
    def crash(self):
        """The old one is left open, as by a process that died."""
        self.ledger = self.place()

    @rule()
    def verify(self):
        self.anchor = self.ledger.verify(self.anchor)

    @invariant()
    def agrees(self):
        self.count += 1
        part, analyst = PARTS[self.count % len(PARTS)], (*ANALYSTS, None)[self.count % 7 % 4]
        epsilon = self.ledger.budget.spent(self.ledger.spent(analyst, part))
        assert epsilon == self.spent(part, analyst)
        assert self.ledger.remaining() == self.limit - max(self.spent(p) for p in PARTS)
        accounts = self.ledger.accounts(analyst or "nobody", [part])
        for (budget, (amounts,)), account in zip(accounts, (None, analyst), strict=False):
            assert budget.spent(amounts) == self.spent(part, account)
        for paid in self.paid[-1:]:
            found, last = self.ledger.find(paid.request.key), self.last(paid.request.key)
            assert (found.draw, found.release, found.analyst) == (last.draw, last.release, last.request.analyst)

    def teardown(self):
        self.ledger.verify(self.anchor)
        told = [(c.key, c.draw, c.analyst, c.loss, c.parts, c.release) for c in self.ledger.history()]
        assert told == [
            (p.request.key, p.draw, p.request.analyst, p.request.loss, p.request.parts, p.release) for p in self.paid
        ]
        self.ledger.close()


def test_a_ledger_agrees_with_its_model(places, request):
    run_state_machine_as_test(
        type("Here", (Model,), {"places": staticmethod(places)}),
        settings=settings(max_examples=6 if "postgres" in request.node.name else 40, stateful_step_count=30),
    )
