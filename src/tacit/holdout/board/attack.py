r"""Attacks on a leaderboard that need no data, only scores, each on a plain board and on one with ladders.

The labels are coins, so every submission is right for one row of two in truth, whatever a board says.

    boosting         random submissions; the majority vote of those that score above one half
    majority vote    random submissions; all of them vote, with weights by which their scores differ from one half
    pair flips       two predictions of the best submission are flipped, again and again; what scores no less is kept

On a plain board, which tells exact scores, k submissions gain about sqrt(k / n).

References.  Blum and Hardt, ICML 2015, for boosting; Hardt, NeurIPS 2017 (climbing a shaky ladder), for the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import Refused
from ...core.parameters import whole
from ...core.randomness import SYSTEM, Source
from ...core.samplers import integers
from ..keeper import Keeper, Memory
from .leaderboard import Leaderboard

Bits = NDArray[np.int64]
Score = Callable[[Bits], float]  # what a board says of predictions


def boosting(score: Score, n: int, submissions: int, source: Source = SYSTEM) -> Bits:
    """The majority vote of random submissions that score above one half; the last submission is the vote."""
    tried = [_coins(n, source) for _ in range(submissions - 1)]
    good = [bits for bits in tried if score(bits) > 0.5]
    return _vote(np.sum([2 * bits - 1 for bits in good], axis=0) if good else np.zeros(n), source)


def majority_vote(score: Score, n: int, submissions: int, source: Source = SYSTEM) -> Bits:
    """The vote of random submissions, weighted by their scores; the last submission is the vote."""
    total = np.zeros(n)
    for _ in range(submissions - 1):
        bits = _coins(n, source)
        total += (score(bits) - 0.5) * (2 * bits - 1)
    return _vote(total, source)


def pair_flips(score: Score, n: int, submissions: int, source: Source = SYSTEM) -> Bits:
    """The best submission with two predictions flipped, again and again."""
    best = _coins(n, source)
    record = score(best)
    for _ in range(submissions - 2):
        changed = best.copy()
        changed[integers(n, source, 2)] ^= 1
        found = score(changed)
        if found >= record:
            best, record = changed, found
    return best


ATTACKS: dict[str, Callable[[Score, int, int, Source], Bits]] = {
    "boosting": boosting,
    "majority vote": majority_vote,
    "pair flips": pair_flips,
}


def attack(
    n: int = 2000, submissions: int = 300, *, keeper: Callable[[], Keeper] = Memory, source: Source = SYSTEM
) -> list[dict[str, Any]]:
    """Every attack on a plain board and on a `Leaderboard`: what the board says in the end, and what its promise is."""
    rows, k = [], whole("submissions", submissions, at_least=3)
    for name, run in ATTACKS.items():
        labels = _coins(2 * whole("n", n, at_least=2), source)
        public = labels[:n]

        def plain(bits: Bits, public: Bits = public) -> float:
            return float(np.mean(bits == public))

        fooled = plain(run(plain, n, k, source))
        rows.append({"attack": name, "board": "plain", "says": fooled, "truth": 0.5, "within": None})
        ids = [str(i) for i in range(2 * n)]
        final = {key: i >= n for i, key in enumerate(ids)}
        board = Leaderboard.open(
            keeper(), dict(zip(ids, labels.tolist(), strict=True)), final, teams=["attacker"], quota=k
        )
        rows.append({"attack": name, "board": "tacit", **_on_board(board, run, ids, k, source)})
    return rows


def _on_board(
    board: Leaderboard, run: Callable[[Score, int, int, Source], Bits], ids: list[str], k: int, source: Source
) -> dict[str, Any]:
    n = len(ids) // 2

    def submitted(bits: Bits) -> float:
        try:
            return board.submit("attacker", dict(zip(ids, [*bits.tolist(), *bits.tolist()], strict=True))).score
        except Refused:  # the quota
            return float(board.ranking()[0]["score"])

    said = submitted(run(submitted, n, k, source))
    return {"says": said, "truth": 0.5, "within": board.statement.width}


def _coins(n: int, source: Source) -> Bits:
    return integers(2, source, n).astype(np.int64)


def _vote(total: NDArray[Any], source: Source) -> Bits:
    """The sign of a vote; ties are decided by coins."""
    return np.where(total == 0, _coins(len(total), source), (total > 0).astype(np.int64))
