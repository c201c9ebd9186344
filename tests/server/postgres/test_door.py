"""The PostgreSQL door: who gets in, what is said of prices, refusals and their positions, cancellation, TLS."""

import threading
import time
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

import tacit
from server.serving import Server, self_signed
from tacit.server.config import Limits
from tacit.server.policy import Policy
from tacit.server.service import questions

COUNT = "SELECT COUNT(*) AS n FROM people WHERE age < {}"
ASKED = COUNT.format(31)


def connect(world, **facts):
    return psycopg.connect(**{**world.address, **facts}, autocommit=True)


@pytest.fixture
def connection(world):
    with connect(world) as opened:
        opened.notices = []
        opened.add_notice_handler(lambda notice: opened.notices.append(notice.message_primary))
        yield opened


def state(call, *given):
    """The SQLSTATE of an error."""
    with pytest.raises(psycopg.Error) as caught:
        call(*given)
    return caught.value.sqlstate


def test_who_gets_in(world):
    token, other = world.server.token("ana"), world.server.token("bob")
    for facts in ({"password": "wrong"}, {"password": other}, {"password": ""}, {"user": "bob"}, {"user": "nobody"}):
        with pytest.raises(psycopg.OperationalError, match=r"do not belong together|no password"):
            connect(world, **facts)
    refusals = []
    for name in (world.hidden, "nothing", "x" * 300, "pg_catalog"):
        with pytest.raises(psycopg.OperationalError) as caught:
            connect(world, dbname=name)
        refusals.append(str(caught.value).partition("FATAL")[2])
        assert token not in refusals[-1]
    assert len(set(refusals)) == 1  # what one may not see does not exist
    with connect(world, user="Ana"):
        pass  # names that look alike are one person


def test_a_token_that_is_revoked_asks_no_more(world):
    world.server.store.add_person("gone", "analyst", by="tests")
    issued = world.server.store.issue_token("gone", "token", by="tests")
    with connect(world, user="gone", password=issued.text) as opened:
        assert opened.execute("SELECT 1").fetchone() == (1,)
        world.server.store.revoke_token(issued.info.id, by="tests")
        for statement in ("SELECT 1", COUNT.format(5), "SHOW tacit.remaining", "SELECT * FROM tacit.history"):
            assert state(opened.execute, statement) == "28P01"


def test_prices_are_said_in_order(world):
    """The text, then the connection, then the policy."""

    def price(opened, text=ASKED):
        plan = opened.execute(f"EXPLAIN {text}").fetchall()[0][0]
        return float(plan.split()[1])

    within = COUNT.format(31).replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2)")
    with connect(world, options="-c tacit.epsilon=3") as opened:
        assert price(opened) == 3 and price(opened, within) == 2
        opened.execute("SET tacit.share = 0.004")
        assert price(opened) == pytest.approx(4)  # the last one counts
        assert opened.execute("SHOW tacit.epsilon").fetchone() == ("",)
        opened.execute("RESET tacit.share")
        opened.execute("SET tacit.epsilon TO DEFAULT")
        assert price(opened) == 3
        opened.execute("SET SESSION tacit.error = '6'")
        assert price(opened) < 1
        opened.execute("SET tacit.error = ''")
        assert price(opened) == 0.5  # the policy's
        assert state(opened.execute, "SET tacit.password = 1") == "42704"
        opened.execute("SET tacit.epsilon = 'many'")
        assert state(opened.execute, COUNT.format(31)) == "22023"
    with connect(world, dbname=world.other) as opened:
        assert state(opened.execute, COUNT.format(31)) == "22023"  # nobody names a price


def test_notices_and_records(world, connection):
    question = COUNT.format(41)
    before = connection.execute("SHOW tacit.remaining").fetchone()[0]
    plan = [line for (line,) in connection.execute(f"EXPLAIN {question}").fetchall()]
    assert plan[0].startswith("costs 0.5 of") and any(line.startswith("n: +-6") for line in plan)
    assert connection.execute("SHOW tacit.remaining").fetchone()[0] == before and not connection.notices
    first = connection.execute(question).fetchall()
    assert connection.notices[0].startswith("Paid 0.5 (entry ") and connection.notices[1].startswith("n: +-6")
    assert connection.execute(question).fetchall() == first and connection.notices[2].startswith("Free")
    connection.execute("SET client_min_messages = warning")
    connection.execute(question)
    assert len(connection.notices) == 4
    (last,) = connection.execute("SELECT question, price, analyst FROM tacit.history LIMIT 1").fetchall()
    assert last == (question, 0.5, "ana")
    rows = connection.execute("SELECT * FROM tacit.history ORDER BY entry").fetchall()
    assert len(rows[0]) == 8 and rows == sorted(rows) and {row[2] for row in rows} == {"ana"}
    assert connection.execute("SELECT question, free FROM tacit.offers").fetchall() == [(question, False)]
    with connect(world) as other:
        assert other.execute("SELECT * FROM tacit.offers").fetchall() == []
    assert state(connection.execute, "SELECT count(*) FROM tacit.history") == "0A000"
    assert state(connection.execute, "SELECT secret FROM tacit.history") == "42703"


@pytest.mark.parametrize(
    ("statement", "values", "code", "position"),
    [
        ("SELECT age FROM people", (), "0A000", 8),
        ("EXPLAIN   SELECT COUNT(*), age FROM people", (), "0A000", 28),
        ("COPY (  SELECT nothing FROM people) TO STDOUT", (), "0A000", 16),
        ("SELECT COUNT(*)\nFROM people\nWHERE nothing = 3", (), "0A000", 35),
        ("SELECT COUNT(*) FROM people WHERE age < %s AND nothing = 1", (30,), "0A000", 48),
        ("SELECT COUNT(*) FROM people WHERE region = 'a", (), "42601", 45),
        ("SELECT * FROM elsewhere", (), "42P01", 15),
        ("SELECT pg_sleep(100)", (), "42883", 8),
        ("INSERT INTO people VALUES (1)", (), "0A000", 1),
        ("EXPLAIN ANALYZE SELECT COUNT(*) FROM people", (), "0A000", 1),
        ("COPY people TO '/tmp/x'", (), "0A000", 1),
        ("COPY (SELECT 1) TO PROGRAM 'id'", (), "0A000", 1),
        ("SET ROLE postgres", (), "42501", None),
        ("SET SESSION AUTHORIZATION postgres", (), "42501", None),
        ("SET nothing = 1", (), "42704", None),
        ("SHOW nothing_of_ours", (), "42704", None),
    ],
)
def test_refusals_have_a_code_and_a_place(connection, statement, values, code, position):
    with pytest.raises(psycopg.Error) as caught:
        connection.execute(statement, values)
    shown = caught.value.diag.statement_position
    assert (caught.value.sqlstate, None if shown is None else int(shown)) == (code, position)
    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_refusal_repeats_nothing_of_a_question(connection):
    with pytest.raises(psycopg.Error) as caught:
        connection.execute("SELECT zqsecret FROM people")
    assert "zqsecret" not in str(caught.value.diag.message_primary)


@pytest.mark.parametrize("binary", [False, True])
def test_parameters_are_values_and_never_sql(connection, binary):
    cursor = connection.cursor(binary=binary)
    hostile = "north' OR region = 'south"
    with pytest.raises(errors.FeatureNotSupported):  # a label that the column does not have
        cursor.execute("SELECT COUNT(*) AS n FROM people WHERE region = %s", (hostile,))
    same = COUNT.format(-5 + 40)
    free = cursor.execute(same).fetchall()
    assert cursor.execute("SELECT COUNT(*) AS n FROM people WHERE age < %s", (35,)).fetchall() == free
    assert connection.notices[-2].startswith("Free")
    cursor.execute("SELECT COUNT(*) AS n FROM people WHERE age < %s AND age > %s", (35, -3))
    with pytest.raises(psycopg.Error):
        cursor.execute("SELECT COUNT(*) AS n FROM people WHERE age < %s", (float("nan"),))
    with pytest.raises(psycopg.Error):
        cursor.execute("SELECT COUNT(*) AS n FROM people WHERE age = %s", ([1, 2],))


def test_policies_and_budgets_refuse_by_their_codes(world):
    server = world.server
    cases = {
        "42501": server.add(tacit.Budget(epsilon=1), policy=Policy(most="0.1")),
        "55000": server.add(tacit.Budget(epsilon=1), policy=Policy(approval="0.1")),
        "53400": server.add(tacit.Budget(epsilon="0.2"), policy=Policy()),
    }
    for code, name in cases.items():
        with connect(world, dbname=name, options="-c tacit.epsilon=0.5") as opened:
            assert state(opened.execute, "SELECT COUNT(*) AS n FROM people") == code
            assert opened.execute("SELECT * FROM tacit.history").fetchall() == []


def test_what_is_too_much_is_refused(connection):
    assert state(connection.execute, "SELECT " + "1 + " * 6_000 + "1") == "54000"
    for i in range(8):
        connection.pgconn.prepare(f"p{i}".encode(), b"SELECT 1")
    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_transactions_are_a_state(connection):
    connection.execute("BEGIN")
    connection.execute("SAVEPOINT a")
    assert state(connection.execute, "SELECT nothing FROM people") == "0A000"
    assert state(connection.execute, "SELECT 1") == "25P02"
    connection.execute("ROLLBACK TO SAVEPOINT a")
    connection.execute("RELEASE a")
    assert connection.execute("SELECT 1").fetchone() == (1,)
    connection.execute("COMMIT")
    assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    connection.execute("DISCARD ALL")


def test_several_statements_and_none(world):
    out, err = world.psql("SELECT 1; SELECT 2;; SHOW tacit.remaining; SELECT nothing FROM people; SELECT 3")
    assert out.split("\n")[:2] == ["1", "2"] and "of Budget" in out.split("\n")[2]
    assert "ERROR" in err and "3" not in out.split("\n")
    with connect(world) as opened:
        assert opened.execute("").statusmessage in ("", None)
        assert opened.execute("-- nothing").statusmessage in ("", None)


def test_a_question_is_cancelled_before_its_charge(world, connection, monkeypatch):
    """What is cancelled before the charge is not charged; the connection goes on."""
    entered, go_on, asked = threading.Event(), threading.Event(), questions.ask

    def slow(*given, **named):
        entered.set()
        go_on.wait(20)
        return asked(*given, **named)

    monkeypatch.setattr(questions, "ask", slow)
    spent = connection.execute("SHOW tacit.remaining").fetchone()
    caught = []
    thread = threading.Thread(target=lambda: caught.append(state(connection.execute, COUNT.format(77))))
    thread.start()
    assert entered.wait(20)
    connection.cancel_safe()
    thread.join(20)
    assert caught == ["57014"]
    monkeypatch.undo()
    go_on.set()
    time.sleep(0.2)
    assert connection.execute("SHOW tacit.remaining").fetchone() == spent


def test_a_statement_has_a_time(world, connection, monkeypatch):
    go_on = threading.Event()
    monkeypatch.setattr(questions, "ask", lambda *_, **__: go_on.wait(20))
    connection.execute("SET statement_timeout = '100ms'")
    assert state(connection.execute, COUNT.format(78)) == "57014"
    go_on.set()


def test_the_document_is_true(world):
    """The example of docs/clients.md runs after the one above it, whose release it compares its rows with."""
    page = (Path(__file__).parents[3] / "docs" / "clients.md").read_text("utf-8")
    (block,) = (part.partition("```")[0] for part in page.split("```python\n") if "psycopg.connect(address" in part)
    with world.server.seen_by("ana", world.people) as people:
        release = people.ask("SELECT region, COUNT(*) AS n FROM people GROUP BY region", share="0.01")
    names = {"address": f"postgresql://{world.url}", "release": release}
    exec(block, names)
    assert names["plan"] and len(names["rows"]) == 3 and names["some"]


def test_tls_and_limits(tmp_path):
    certificate, key = self_signed(tmp_path)
    few = Limits(requests=1_000_000, questions=1, running=4)
    server = Server(tmp_path, postgres=True, limits=few, ssl_certfile=certificate, ssl_keyfile=key)
    try:
        name = server.add(tacit.Budget(epsilon=10))
        facts = server.postgres("ana", name)
        verified = {"sslmode": "verify-ca", "sslrootcert": str(certificate)}
        with psycopg.connect(**facts, **verified, autocommit=True) as opened:
            assert opened.pgconn.ssl_in_use and opened.execute("SELECT 1").fetchone() == (1,)
            opened.execute("SET tacit.epsilon = 1")
            assert opened.execute("SELECT COUNT(*) FROM people").fetchone()[0] > 0
            with psycopg.connect(**facts, **verified, autocommit=True) as second:
                threads = [threading.Thread(target=each.execute, args=("SELECT 1",)) for each in (opened, second) * 1]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join(20)  # one waits for the other
                assert second.execute("SELECT 2").fetchone() == (2,)
    finally:
        server.close()
