"""`tacit serve` with two processes and two doors: a cancellation finds its process, and nothing is left behind."""

import glob
import threading
import time

import psycopg
import pytest

from ..crowd import CONFIG, Served, _free_port


def test_two_processes_share_the_door_and_the_shadow(tmp_path):
    served = Served(tmp_path, 100)
    port = _free_port()
    (tmp_path / "service.toml").write_text(
        CONFIG.format(port=served.port, workers=2) + f"seconds = 30\n[postgres]\nport = {port}\n"
    )
    before = set(glob.glob("/dev/shm/tacit*"))
    facts = {"host": "127.0.0.1", "port": port, "user": "ana", "password": served.tokens["ana"], "dbname": "people"}
    facts["options"] = "-c tacit.epsilon=1"
    served.start()
    try:
        connections = [psycopg.connect(**facts, autocommit=True) for _ in range(12)]
        processes = {connection.pgconn.backend_pid for connection in connections}
        assert len(processes) == 2  # both answer
        question = "SELECT COUNT(*) AS n FROM people WHERE age < 50"
        answers = {connection.execute(question).fetchone() for connection in connections}
        assert len(answers) == 1
        assert {c.execute("SELECT relname FROM pg_class WHERE relname = 'people'").fetchone() for c in connections} == {
            ("people",)
        }
        slow = "SELECT COUNT(*) FROM pg_proc a, pg_proc b, pg_proc c"
        for connection in connections[:4]:
            caught = []

            def run(connection=connection, caught=caught):
                with pytest.raises(psycopg.errors.QueryCanceled):
                    connection.execute(slow)
                caught.append(time.monotonic())

            thread, begun = threading.Thread(target=run), time.monotonic()
            thread.start()
            time.sleep(0.3)
            connection.cancel_safe()  # by a new connection, which either process may take
            thread.join(20)
            assert caught and caught[0] < begun + 3
        for connection in connections:
            connection.close()
        assert served.end() == 0
    finally:
        served.kill()
    until = time.monotonic() + 20
    while set(glob.glob("/dev/shm/tacit*")) - before and time.monotonic() < until:
        time.sleep(0.1)
    assert not set(glob.glob("/dev/shm/tacit*")) - before
