"""Samplers are certified: driven through every branch and compared with their laws exactly, without statistics."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tacit.core import samplers
from tacit.core.alias_table import UNDECIDED, AliasTable, Exponent
from tacit.core.exact import constant, exp_minus, logistic
from tacit.core.randomness import SYSTEM, Source
from tacit.testing.certify import block_masses, place_masses
from tacit.testing.sources import Seeded, enumerate_draws

mpmath.mp.dps = 60
UNRESOLVED = Fraction(1, 10**12)


def weight(exponent: Exponent, k: int):
    x = exponent(k)
    return mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator)


def real(x: Fraction):
    return mpmath.mpf(x.numerator) / x.denominator


def laplace(scale, two_sided=True, width=12):
    return AliasTable(Exponent(1 / Fraction(scale), Fraction(0), math.ceil(scale)), two_sided, width)


def gaussian(sigma2, width=12):
    return AliasTable(
        Exponent(Fraction(0), 1 / (2 * Fraction(sigma2)), math.isqrt(math.floor(sigma2)) + 1), True, width
    )


CERTIFIED = {
    "Laplace 1/1000": laplace(Fraction(1, 1000)),
    "Laplace 1": laplace(1),
    "Laplace 7/3": laplace(Fraction(7, 3), width=13),
    "geometric 3": laplace(3, two_sided=False),
    "geometric 31/2": laplace(Fraction(31, 2), two_sided=False, width=14),
    "Laplace 70": laplace(70, width=16),
    "geometric 10^9/7": laplace(Fraction(10**9, 7), two_sided=False, width=15),
    "Laplace 2^60": laplace(1 << 60, width=16),
    "Gaussian 1/4": gaussian(Fraction(1, 4)),
    "Gaussian 1": gaussian(1),
    "Gaussian 49/3": gaussian(Fraction(49, 3), width=14),
    "Gaussian 50^2": gaussian(2500, width=14),
    "Gaussian 2^80": gaussian(1 << 80, width=14),
}
each_table = pytest.mark.parametrize("table", CERTIFIED.values(), ids=CERTIFIED)


@each_table
def test_blocks_are_drawn_in_proportion_to_their_weight(table):
    masses, unresolved = block_masses(table)
    assert unresolved < UNRESOLVED
    per_weight = real(masses[0])  # the block at 0 has weight 1
    for value, mass in masses.items():
        if value is not None:
            assert abs(real(mass) / per_weight - weight(table.exponent, abs(value))) < real(UNRESOLVED)
    assert abs(sum(masses.values()) - 1) <= unresolved


@each_table
def test_no_block_that_matters_is_left_out(table):
    drawn = {v for v in block_masses(table)[0] if v is not None}
    signed = {v for j in range(4 * table.blocks) for v in (j << table.shift, ~(j << table.shift))}
    missing = {v for v in signed if v >= 0 or table.signs == 2} - drawn
    assert sum(weight(table.exponent, abs(v)) for v in missing) < real(UNRESOLVED)


@pytest.mark.parametrize("table", [t for t in CERTIFIED.values() if t.shift])
def test_integers_within_a_block_are_drawn_in_proportion_to_their_weight(table):
    reduced = AliasTable.__new__(AliasTable)  # the same blocks, narrower words: few enough to go through them all
    reduced.exponent, reduced.shift = table.exponent, min(table.shift, 4)
    reduced.width = 10
    for symbol in (0, 1, 2, 7, 2 * table.blocks - 2):
        value = table.value(symbol)
        masses, unresolved = place_masses(reduced, value)
        assert unresolved < UNRESOLVED
        for k, mass in masses.items():
            if k is not None:
                assert (k >= 0) == (value >= 0)
                gain = table.exponent(abs(k)) - table.exponent(abs(value))
                truth = mpmath.exp(-mpmath.mpf(gain.numerator) / gain.denominator) / (1 << reduced.shift)
                assert abs(real(mass) - truth) < real(UNRESOLVED)
        assert len(masses) >= 1 << reduced.shift


@pytest.mark.parametrize("scale", [1, Fraction(1, 7), 3, Fraction(10**9, 7), 1 << 53, 1 << 60])
def test_the_floating_margin_is_kept_at_full_width(scale):
    """No block owns more than its due, what it owns and may still be dealt covers its due: exactly, at 64 bits."""
    for table in (laplace(scale, width=64), gaussian(Fraction(scale) ** 2, width=64)):
        for symbol, (units, extra) in enumerate(zip(table.units, table.extra, strict=True)):
            low, high = exp_minus(table.exponent(table.start(symbol)))(128)
            assert units << 128 <= table.due * low
            assert table.due * high <= units + extra << 128
        owned = sum(table.units) + sum(table.extra) + 1
        assert owned <= table.total and table.total - sum(table.units) < table.total >> 37
        first_left_out = exp_minus(table.exponent(table.blocks << table.shift))(128)[1]
        assert table.due * 2 * table.signs * table.decay_blocks * first_left_out <= 1 << 128


def test_every_owner_owns_exactly_its_units():
    """The alias table at 64 bits: the lengths of its segments add up to what each block is to own."""
    table = laplace(Fraction(200), width=64)
    room, owned = 1 << 64 - table.column_bits, {}
    for column, limit in enumerate(table.limits):
        keep = limit - column * room
        assert 0 <= keep <= room
        for owner, units in zip(table.owners[2 * column : 2 * column + 2], (keep, room - keep), strict=True):
            owned[owner] = owned.get(owner, 0) + units
    assert owned.pop(UNDECIDED) == table.total - sum(table.units)
    assert owned == {table.value(s): n for s, n in enumerate(table.units)}


@pytest.mark.parametrize("width", [20, 63, 64])
@pytest.mark.parametrize("scale", [Fraction(1, 1000), Fraction(2), Fraction(10**9, 7), Fraction(1 << 60)])
def test_every_owner_owns_exactly_its_units_in_every_table(scale, width):
    """Ownership is counted by ranges of words, for laws on one side and on two, wide and narrow."""
    for table in (laplace(scale, width=width), laplace(scale, False, width), gaussian(scale**2, width)):
        room, owned = table.total >> table.column_bits, {}
        assert len(table.limits) == 1 << table.column_bits and len(table.owners) == 2 * len(table.limits)
        for column, limit in enumerate(table.limits):
            first, alias = table.owners[2 * column : 2 * column + 2]
            keep = room if first == alias else limit - column * room
            assert 0 <= keep <= room
            owned[first] = owned.get(first, 0) + keep
            owned[alias] = owned.get(alias, 0) + room - keep
        assert owned.pop(UNDECIDED) == table.total - sum(table.units)
        assert {v: n for v, n in owned.items() if n} == {table.value(s): n for s, n in enumerate(table.units) if n}


class Words(Seeded):
    """Gives prepared words one by one, then goes on with a seed."""

    def __init__(self, words, width):
        super().__init__(6, width)
        self._first = list(words)

    def word(self):
        return self._first.pop(0) if self._first else super().word()


class Scripted(Source):
    """Gives prepared arrays, then goes on with a seed."""

    def __init__(self, arrays, width):
        self.width, self._arrays, self._then = width, list(arrays), Seeded(5, width)

    def words(self, n):
        return self._arrays.pop(0)[:n] if self._arrays else self._then.words(n)

    def word(self):
        return self._then.word()


@pytest.mark.parametrize("table", [laplace(70, width=16), gaussian(2500, width=16), laplace(1 << 45, width=64)])
def test_the_vector_path_decides_as_the_scalar_path(table):
    n = 4096
    words = [Seeded(i, table.width).words(n) for i in range(3 if table.shift > 32 else 2)]
    out = np.empty(n, np.int64)
    refused = set(table._fill(out, Scripted([w.copy() for w in words], table.width)).tolist())
    decided = agree = 0
    for i in range(n):
        column = int(words[0][i]) >> table.width - table.column_bits
        value = table.owners[2 * column + (int(words[0][i]) >= table.limits[column])]
        if value != UNDECIDED:
            placed = table.place(value, Words([int(w[i]) for w in words[1:]], table.width))
            decided += 1
            agree += i in refused if placed is None else out[i] == placed
    assert decided > 0.9 * n
    assert agree >= decided - 10  # a tie of prefix and probability is settled by other words


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(200), Fraction(10**6), Fraction(1 << 56)])
def test_the_undecided_path_alone_gives_the_law(scale):
    """Forced: every unit is undecided, so integers alone do all the work."""
    table = laplace(scale, width=64)
    first = [v for v in (table.deal(Seeded(i)) for i in range(60)) if v is not None]
    assert first
    table.units = [0] * len(table.units)
    table.extra = [table.due + 1] + [0] * (len(table.extra) - 1)  # one block, due its whole weight
    draws = [table.deal(Seeded(i)) for i in range(400)]
    kept = sum(v == 0 for v in draws) / 400
    assert set(draws) <= {0, None} and abs(kept - table.due / table.total) < 0.2


def test_integers_and_comparisons_are_certified_word_by_word():
    for n in (1, 2, 3, 5, 8, 11):
        masses, unresolved = enumerate_draws(lambda s, n=n: s.integer(n), 3, layered=False, least=Fraction(1, 1 << 18))
        assert sorted(masses) == list(range(n)) and len(set(masses.values())) == 1
        assert unresolved < Fraction(1, 2) and sum(masses.values()) + unresolved == 1
    for x in (Fraction(0), Fraction(1, 3), Fraction(5, 2), Fraction(40)):
        masses, unresolved = enumerate_draws(
            lambda s, x=x: s.below(exp_minus(x)), 4, layered=False, least=Fraction(1, 1 << 60)
        )
        assert unresolved < UNRESOLVED
        truth = mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator)
        assert abs(real(masses.get(True, Fraction(0))) - truth) < real(UNRESOLVED)


@pytest.mark.parametrize("counts", [[0], [0, 0], [0, 1, 2], [5, 0, 3, 3, 900], [0] * 20])
@pytest.mark.parametrize("unit", [Fraction(1), Fraction(1, 7), Fraction(3, 2)])
def test_choice_is_certified(counts, unit):
    array = np.array(counts)
    width = 9

    def one_try(source):  # a refused remainder starts over; seen here as its own outcome
        class Once(type(source)):
            tries = 0

            def integer(self, n, spare=0):
                Once.tries += 1
                if Once.tries > 1:
                    raise StopIteration
                return source.integer(n, spare)

            def below(self, *args):
                return source.below(*args)

        once = Once.__new__(Once)
        once.width = width
        try:
            return samplers.choice(array, unit, once)
        except StopIteration:
            return None

    masses, unresolved = enumerate_draws(one_try, width)
    assert unresolved < UNRESOLVED
    best = real(masses[counts.index(0)])
    for i, n in enumerate(counts):
        truth = mpmath.exp(-mpmath.mpf((n * unit).numerator) / (n * unit).denominator)
        assert abs(real(masses.get(i, Fraction(0))) / best - truth) < real(UNRESOLVED)


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(2), Fraction(60)])
def test_exponential_coins_are_certified(x):
    masses, unresolved = enumerate_draws(
        lambda s: bool(samplers.bernoulli_exp(np.array([1 if x else 0]), x or Fraction(1), s)[0]), 10
    )
    assert unresolved < UNRESOLVED
    assert abs(real(masses.get(True, Fraction(0))) - mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator)) < 1e-20


PROBABILITIES = [logistic(Fraction(1)), exp_minus(Fraction(5)), constant(Fraction(1, 2)), constant(Fraction(3, 7))]


@pytest.mark.parametrize("p", PROBABILITIES)
@pytest.mark.parametrize("last", [0, 1 << 62, 3 << 62, (1 << 64) - 1])
def test_bit_sliced_coins_are_certified(p, last):
    """Every combination of fair coins in a lane of its own; one lane is left to the last word."""
    digits = samplers._SHARED_DIGITS
    lanes = np.arange(1 << digits)
    fair = [np.packbits((lanes >> d & 1).astype(bool), bitorder="little").view(np.uint64) for d in range(digits)]
    first, rest = divmod(p(digits + 128)[0] >> 64, 1 << 64)
    coins = samplers.bernoulli(p, Scripted([*fair, np.array([last], np.uint64)], 64), lanes.size)
    assert coins.sum() == first + (last < rest)


@pytest.mark.parametrize("p", PROBABILITIES)
def test_single_coins_are_certified(p):
    masses, unresolved = enumerate_draws(lambda s: samplers.coin(p, s), 8)
    low, high = p(200)
    assert unresolved < UNRESOLVED and abs(masses[True] - Fraction(low + high, 2 << 200)) < UNRESOLVED


@pytest.mark.parametrize("n", [0, 1, 16, 17, 63, 64, 65, 1000, (1 << 20) + 1])
def test_any_number_of_coins(n):
    coins = samplers.bernoulli(constant(Fraction(1, 3)), Seeded(n), n)
    assert coins.shape == (n,) and coins.dtype == bool
    assert abs(coins.sum() - n / 3) <= 7 * math.sqrt(n)  # a false alarm is below e^-98
    assert not samplers.bernoulli(constant(Fraction(0)), SYSTEM, n).any()


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 1 << 40, (1 << 63) - 1])
def test_integers_stay_in_range(n):
    draws = samplers.integers(n, Seeded(3), 5000)
    assert draws.min() >= 0 and draws.max() < n
    assert n > 10 or len(np.unique(draws)) == n


def test_integers_are_certified():
    for n in (1, 3, 7, 12, 16):
        masses, unresolved = enumerate_draws(
            lambda s, n=n: int(samplers.integers(n, s, 1)[0]), 4, least=Fraction(1, 1 << 20)
        )
        assert len(set(masses.values())) == 1 and sorted(masses) == list(range(n)) and unresolved < Fraction(1, 100)


def test_permutations_are_certified():
    masses, unresolved = enumerate_draws(
        lambda s: tuple(samplers.permutation(3, s).tolist()), 3, least=Fraction(1, 1 << 14)
    )
    assert len(masses) == 6 and len(set(masses.values())) == 1 and unresolved < Fraction(1, 2)


@pytest.mark.parametrize("n", [0, 1, 16, 17, 100_000])
def test_any_number_of_draws(n):
    for draws in (samplers.laplace(Fraction(200), SYSTEM, n), samplers.gaussian(Fraction(9), SYSTEM, n)):
        assert draws.shape == (n,) and draws.dtype == np.int64


def test_scales_beyond_int64_come_as_python_integers():
    draws = samplers.laplace(Fraction(1 << 60), SYSTEM, 5000)
    assert draws.dtype == object and max(map(abs, draws)) > 1 << 62
    assert samplers.laplace(Fraction(1 << 53), SYSTEM, 5000).dtype == np.int64
    assert isinstance(samplers.laplace(Fraction(1 << 60), SYSTEM), int)
