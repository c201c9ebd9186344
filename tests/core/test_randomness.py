"""One door: no two processes or threads see the same words, and nothing can be seeded, copied or pickled."""

import copy
import inspect
import multiprocessing
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tacit
from tacit.core import randomness
from tacit.core.randomness import SYSTEM

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def mixed(n: int) -> np.ndarray:
    """Words from both doors: the array's and the scalar's pool."""
    return np.concatenate([SYSTEM.words(n - 200), np.array([SYSTEM.word() for _ in range(200)], np.uint64)])


def assert_all_different(streams: list[np.ndarray]) -> None:
    """No 128-bit window occurs twice; by chance one would with probability below 1e-24."""
    windows = np.concatenate([np.stack([s[:-1], s[1:]], axis=1) for s in streams])
    assert len(np.unique(windows, axis=0)) == len(windows)


def test_sixty_four_forks_draw_different_words():
    mixed(1000)  # a pool and a keystream that a child could inherit
    streams = [mixed(10_000)]
    for _ in range(64):
        read, write = os.pipe()
        child = os.fork()
        if not child:
            with os.fdopen(write, "wb") as pipe:
                pipe.write(mixed(10_000).tobytes())
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            streams.append(np.frombuffer(pipe.read(), np.uint64))
        os.waitpid(child, 0)
    assert_all_different([*streams, mixed(10_000)])


def test_a_fork_unseen_by_python_is_seen_by_its_pid(monkeypatch):
    SYSTEM.word()
    before = SYSTEM._stream()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert SYSTEM._stream() is not before


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_worker_processes_draw_different_words(method):
    mixed(1000)
    with multiprocessing.get_context(method).Pool(3) as pool:
        streams = pool.map(mixed, [5000] * 6, chunksize=1)
    assert_all_different([*streams, mixed(5000)])


def test_threads_draw_different_words():
    barrier = threading.Barrier(4)

    def draw(_):
        barrier.wait()
        return mixed(50_000)

    with ThreadPoolExecutor(4) as pool:
        assert_all_different(list(pool.map(draw, range(4))))


def test_a_long_stream_is_keyed_anew_and_never_repeats(monkeypatch):
    monkeypatch.setattr(randomness, "_WORDS_PER_KEY", 1 << 16)
    stream = randomness._Stream()
    first = stream.cipher
    assert_all_different([stream.words(1 << 17)])
    assert stream.cipher is not first


@pytest.mark.parametrize("n", [0, 1, 2, 3, (1 << 15) - 1, 1 << 15, (1 << 15) + 1, 100_001])
def test_any_number_of_words(n):
    words = SYSTEM.words(n)
    assert words.shape == (n,) and words.dtype == np.uint64
    assert n < 100 or abs(np.unpackbits(words.view(np.uint8)).mean() - 0.5) < 4 / np.sqrt(n)


def test_the_source_cannot_be_copied_or_pickled():
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be copied"):
            attempt(SYSTEM)


def test_nothing_public_takes_a_seed_or_a_random_state():
    names = [getattr(tacit, n) for n in tacit.__all__]
    callables = [f for c in names if inspect.isclass(c) for _, f in inspect.getmembers(c, inspect.isroutine)]
    for f in callables:
        try:
            parameters = inspect.signature(f).parameters
        except (ValueError, TypeError):
            continue
        assert not {"seed", "random_state", "rng", "generator"} & parameters.keys()
