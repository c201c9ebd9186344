"""Several processes on one store: exactly one of them wins, and a kill -9 leaves all of a change or nothing of it."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def run(*arguments):
    command = [sys.executable, "-m", "tests.server.store.processes", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_exactly_one_of_several_processes_redeems_a_link_claims_a_job_and_uses_an_approval(place):
    rounds = 6 if "://" in place else 12
    assert run("race", place, rounds) == dict.fromkeys(("link", "job", "approval"), [1] * rounds)


def test_a_killed_process_leaves_a_change_or_none(tmp_path):
    found = run("kill", tmp_path / "service.store")
    assert found["torn"] == [] and found["killed"] > 40


def test_revocation_in_another_process_ends_a_login_at_once(store, place):
    """The other process opens the store, revokes, and says so; no login is remembered past that moment."""
    code = (
        "import sys; from tacit.server.store import Store\n"
        "with Store.open(sys.argv[1], create=False) as store:\n"
        "    for line in sys.stdin:\n"
        "        store.revoke_token(line.strip(), by='other'); print('done', flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as other:
        for _ in range(10):
            text, info = store.issue_token("bob", "token", by="Ann")
            assert all(store.authenticate(text) for _ in range(3))
            other.stdin.write(f"{info.id}\n")
            other.stdin.flush()
            assert other.stdout.readline() == "done\n"
            assert store.authenticate(text) is None
        other.stdin.close()
        assert other.wait(60) == 0
