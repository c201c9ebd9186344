"""Black-box audits of the curator on neighbouring tables, through its public methods alone: `make slow`.

Each audit buys the same thing again and again on two tables that differ by one person, and proves a lower bound on
epsilon from what came back.  A bound above the claim refutes the claim; each bound holds with probability 1 - 1e-10, so
a false alarm is as rare.  The control costs twice as much, and must be refuted: an audit that sees nothing is none.
"""

import itertools

import pytest

import tacit

pytestmark = pytest.mark.slow
CONFIDENCE = "0.9999999999"
SCHEMA = """
[table]
name = "people"
unit = "person"
rows = 3
size = 40
[columns.region]
type = "category"
values = ["north", "south", "west"]
[columns.income]
type = "integer"
lower = 0
upper = 7
[columns.city]
type = "text"
"""
OTHERS = [
    {"person": i // 2, "region": ("north", "south")[i % 2], "income": i % 7, "city": ("york", "hull")[i % 2]}
    for i in range(40)
]
ONE = [{"person": 99, "region": "west", "income": 7, "city": "bath"} for _ in range(3)]
NEIGHBOURS = {"with": OTHERS + ONE, "without": OTHERS}


class Buyer:
    """A curator for each table, with a budget that the audit does not exhaust; `buy` is given it and a fresh name."""

    def __init__(self, folder, buy, limit):
        self.buy, self.names = buy, map(str, itertools.count())
        self.curators = {
            name: tacit.Curator(
                tacit.Table(rows, schema=SCHEMA),
                ledger=folder / name,
                budget=tacit.Budget(epsilon=limit, delta="1e-3"),
                least_share=0,
            )
            for name, rows in NEIGHBOURS.items()
        }

    def __call__(self, name):
        return self.buy(self.curators[name], next(self.names))


def audit(folder, buy, samples, *, limit=10**5, delta=0):
    buyer = Buyer(folder, buy, limit)
    try:
        return tacit.audit.estimate(buyer, "with", "without", samples, delta=delta, confidence=CONFIDENCE)
    finally:
        for curator in buyer.curators.values():
            curator.close()


def asked(text, **terms):
    def buy(curator, _):
        release = curator.ask(text, fresh=True, **terms)
        return tuple(v for column in release.names for v in release[column].values)

    return buy


QUESTIONS = {
    "counts": "SELECT region, COUNT(*) AS n FROM people GROUP BY region",
    "people": "SELECT region, COUNT(DISTINCT person) AS n FROM people GROUP BY region",
    "sums": "SELECT SUM(income) AS s FROM people WHERE region = 'west'",
    "median": "SELECT MEDIAN(income) AS m FROM people",
    "most common": "SELECT MODE(region) AS m FROM people",
}


@pytest.mark.parametrize("text", QUESTIONS.values(), ids=QUESTIONS)
def test_answers_to_questions(tmp_path, text):
    assert not audit(tmp_path, asked(text, epsilon=1), 8_000).refutes(1)


def test_an_answer_for_twice_the_price_is_refuted(tmp_path):
    assert audit(tmp_path, asked(QUESTIONS["sums"], epsilon=2), 8_000).refutes("1.2")


def test_keys_that_are_chosen(tmp_path):
    folders = map(str, itertools.count())

    def buy(curator, _):
        budget = tacit.Budget(epsilon=10, delta="0.2")
        with tacit.Curator(curator.table, ledger=tmp_path / next(folders), budget=budget) as own:
            release = own.ask("SELECT city, COUNT(*) AS n FROM people GROUP BY city", epsilon=1, delta="0.05")
            return tuple(sorted(release["city"].values))

    assert not audit(tmp_path, buy, 1_000, delta="0.05").refutes(1)


def test_answers_to_workloads(tmp_path):
    def buy(curator, _):
        domain = curator.table.domain("region", "income")
        return tuple(curator.answer(tacit.workloads.marginals(domain, k=1), epsilon=1, fresh=True).answers.tolist())

    assert not audit(tmp_path, buy, 2_000).refutes(1)


def test_streams(tmp_path):
    def buy(curator, name):
        stream = curator.above_threshold(2, epsilon=1, count=1, name=name)
        for i in range(4):
            if stream.ask(f"SELECT COUNT(*) FROM people WHERE region = 'west' AND income > {i}"):
                return i
        return -1

    assert not audit(tmp_path, buy, 4_000).refutes(1)


def test_online_weights(tmp_path):
    def buy(curator, name):
        domain = curator.table.domain("region")
        online = curator.online(domain, epsilon=3, queries=2, updates=1, n=40, name=name)
        return float(online.ask({"region": "west"}).value)

    assert not audit(tmp_path, buy, 1_000).refutes(3)


def test_bounds(tmp_path):
    folders = map(str, itertools.count())

    def buy(curator, _):
        with tacit.Curator(curator.table, ledger=tmp_path / next(folders), budget=tacit.Budget(epsilon=1)) as own:
            bounds = own.bounds("income", epsilon=1)
            return bounds.lower, bounds.upper

    assert not audit(tmp_path, buy, 600).refutes(1)
