r"""Transfer theorems: answers that are private and accurate on their sample are accurate on the population.

The setting of all of them.  S is n independent records from P.  Questions q, chosen one after another by an analyst
who sees only answers, have values in [0, 1], q(S) is their mean over S and q(P) their expectation.  The answers
together are (epsilon, delta)-private under *substitution* of a record.  "Sample accurate, (alpha, beta)": with
probability at least 1 - beta every answer is within alpha of q(S), and answers lie in [0, 1].  Then every answer is
within `width` of q(P), all at once, except with probability `failure`, however many questions there are: the worst
question is itself computed from the answers, so a theorem about one question chosen from a private transcript holds for
all.

Expected generalization (the notes, lemma 0.4) [proved].  If T samples are given, the output (t, q) is (epsilon, delta)
private, then E[q(S_t) - q(P)] <= e^epsilon - 1 + T delta.  For each record j of each S_t: replace it by a fresh x'.
E[1{t} q(S_tj)] <= e^epsilon E'[1{t} q(S_tj)] + delta, and under E' the old record is as fresh as x' was.

The Monitor [proved; `monitor`].  Let p = P[|q(S) - q(P)| >= a] for one q from an (epsilon, delta)-private M.  Run M on
T samples and choose among the 2 T candidates (t, q), (t, 1 - q) by the exponential mechanism at epsilon' with score
q(S_t) - q(P), of sensitivity 1/n.  The largest score has mean at least a (1 - (1-p)^T), the choice falls short of it
by at most 2 ln(2 T) / (epsilon' n) in the mean, and all is (epsilon + epsilon', delta)-private, so for all T and
epsilon' > 0
    a (1 - (1-p)^T)  <=  2 ln(2 T) / (epsilon' n) + e^(epsilon + epsilon') - 1 + T delta.

The notes' theorem 0.2 [proved; `notes`, and `notes_as_printed`].  For sqrt(12/n) <= epsilon <= 1/8 and delta <=
epsilon/16 the chance p of an error of 6 epsilon or more is at most max(4 delta/epsilon, 2 exp(-0.32 epsilon^2 n)), and
so at most max(4 delta/epsilon, exp(-epsilon^2 n/8)), as printed: ln 2 <= (0.32 - 1/8) 12.  Take epsilon' = epsilon;
then e^(2 epsilon) - 1 <= 2.2723 epsilon, for (e^x - 1)/x grows and 8 (e^(1/4) - 1) < 2.2723.
    If p > 1/4 take T = 3: the right side is at most (2 ln 6 / 12 + 2.2723 + 3/16) epsilon < 3 epsilon, and the left at
least 6 (1 - (3/4)^3) epsilon > 3 epsilon.  So p <= 1/4.  Take T = floor(1/p) >= 1/p - 1: then p T >= 1 - p >= 3/4, so
(1-p)^T <= e^(-3/4), and the left side is at least 6 (1 - e^(-3/4)) epsilon > 3.1657 epsilon.  Hence 0.8934 epsilon <=
2 ln(2/p)/(epsilon n) + delta/p.  If p > 4 delta/epsilon the last term is below epsilon/4, and ln(2/p) >= 0.32
epsilon^2 n.  (The printed proof pays ln T for 2 T candidates, which is its only slip.)

Bassily et al. 2016, theorem 7.2 [quoted; proved here for means; `bassily`].  For epsilon < 1/3, delta < epsilon/4 and
n >= ln(4 epsilon/delta)/epsilon^2 an error of 18 epsilon or more has chance below delta/epsilon.  Were p >=
delta/epsilon, take epsilon' = epsilon and T = floor(epsilon/delta) >= 4: the right side is below 2 epsilon + 2.85
epsilon + epsilon, the left at least 18 (1 - e^(-3/4)) epsilon > 9 epsilon.

Jung et al. 2020 [quoted, with its constants; a proof; `jung`].  For all c, d > 0 the width alpha + e^epsilon - 1 + c +
2 d fails with probability at most beta/c + delta/d.  Given the transcript let S' be a fresh draw of S from its
posterior: (S', transcript) has the law of (S, transcript).  So but for beta/c of the transcripts the posterior chance
of an answer more than alpha off is at most c, and each answer is within alpha + c of the posterior mean of q(S').  Let
A be the transcripts in which some q or 1 - q, call the worst q*, has a posterior mean above q*(P) by more than
e^epsilon - 1 + d. As in the first lemma E[1_A q*(S)] <= e^epsilon E[1_A q*(P)] + delta, hence d P[A] < delta.  (So d
would do for 2 d; the published constant is kept.)  For other questions of sensitivity D the paper has (e^epsilon - 1)
n D + 4 d n D.

`posterior.py` has two theorems that are sharper than all of these.

References.  Sorrell, lecture notes on the Monitor; Bassily, Nissim, Smith, Steinke, Stemmer, Ullman, STOC 2016; Jung,
Ligett, Neel, Roth, Sharifi-Malvajerdi, Shenfeld, ITCS 2020; Dwork, Feldman, Hardt, Pitassi, Reingold, Roth, NeurIPS
2015.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..composition import hoeffding
from ..core.errors import BadParameter
from ..core.exact import FEW_ULPS, MANY_ULPS, Floats, down, up
from ..core.parameters import Number, positive, probability, rational, whole

NOTES_WIDTH = 6  # epsilons
NOTES_DELTA = 4  # times delta / epsilon
NOTES_DECAY = Fraction(8, 25)  # 2 exp(-0.32 epsilon^2 n)
NOTES_ROOT = Fraction(2, 5)  # 0.32 is 2 times its square, as in Hoeffding's inequality
NOTES_SMALLEST = 12  # epsilon^2 n is at least this
NOTES_LARGEST = Fraction(1, 8)  # epsilon
NOTES_SHARE = Fraction(1, 16)  # of epsilon, the largest delta

BASSILY_WIDTH = 18
BASSILY_LARGEST = Fraction(1, 3)
BASSILY_SHARE = Fraction(1, 4)

JUNG_SLACK = 2  # times d, for means
JUNG_SLACK_OTHERS = 4  # times d, for other questions of low sensitivity

_MAX_DOUBLINGS = 1000  # the Monitor is tried with up to 2^1000 samples
MAX_EPSILON = 709.0  # beyond which e^epsilon is no float
LEAST_SHARED = Fraction(1, 10**280)
THRESHOLD_SHARE = Fraction(3, 4)  # of tau: Thresholdout's threshold
THRESHOLDOUT_RATE = 96


@dataclass(frozen=True, slots=True)
class Transferred:
    """Every answer is within `width` of its value in the population, except with probability `failure`."""

    width: float
    failure: float
    theorem: str


def drift(epsilon: float) -> float:
    """e^epsilon - 1, or infinity where that is too large for a float."""
    return math.expm1(epsilon) if epsilon < MAX_EPSILON else math.inf


def shared(beta: Number) -> Fraction:
    """beta, large enough that its parts for noise, theorems and up to 2^62 questions are positive floats."""
    b = probability("beta", beta)
    if b < LEAST_SHARED:
        raise BadParameter("beta", beta, "at least 1e-280, since each answer gets only a part of it")
    return b


def expected(epsilon: Number, delta: Number = 0, samples: int = 1) -> float:
    """e^epsilon - 1 + T delta, an upper bound on the mean of q(S_t) - q(P) for a private choice from T samples."""
    e, d, t = _loss(epsilon), _slack("delta", delta), whole("samples", samples)
    return (drift(up(e)) + up(t * d)) * FEW_ULPS


def monitor(width: Number, epsilon: Number, delta: Number, n: int) -> float:
    """The Monitor's bound on P[|q(S) - q(P)| >= width]: 1 - (1 - right/width)^(1/T), the least over T and epsilon'."""
    a, e, d, n = float(positive("width", width)), up(_loss(epsilon)), up(_slack("delta", delta)), whole("n", n)
    base = max(e, 1 / math.sqrt(n))
    choice = (base * 2 ** (np.arange(-24, 25) / 8))[:, None]
    t = np.round(2.0 ** (np.arange(3 * _MAX_DOUBLINGS) / 3))
    with np.errstate(over="ignore"):
        right = (2 * np.log(2 * t) / (choice * n) + np.expm1(e + choice) + t * d) * FEW_ULPS
    proved = -np.expm1(np.log1p(-np.minimum(right / a, 1 - 2.0**-50)) / t)
    return min(1.0, float(np.min(np.where(right < a, proved, 1.0))) * FEW_ULPS)


def monitor_at(
    failure: Number, epsilon: Number, delta: Number, n: int, *, alpha: Number = 0, beta: Number = 0
) -> Transferred:
    """The smallest width that the Monitor proves with this failure probability, of which beta is for sample accuracy.

    With p = failure - beta it is alpha + right / (1 - (1 - p)^T), for any T and epsilon': here for epsilon' =
    sqrt(2 ln(2 T) / n), near the best, and for the best T of a grid.
    """
    chance, slack = probability("failure", failure), _slack("beta", beta)
    if slack >= chance:
        raise BadParameter("beta", beta, "below `failure`, of which beta is a part")
    e, d, n = up(_loss(epsilon)), up(_slack("delta", delta)), whole("n", n)
    p = down(probability("failure less beta", chance - slack))
    t = monitored_samples(p)
    choice = np.sqrt(2 * np.log(2 * t) / n)
    with np.errstate(over="ignore"):
        right = 2 * np.log(2 * t) / (choice * n) + np.expm1(e + choice) + t * d
        width = float(np.min(right / -np.expm1(t * math.log1p(-p))))
    if width == math.inf:
        return Transferred(math.inf, up(chance), "the Monitor")
    return Transferred(up(_slack("alpha", alpha) + Fraction(width * MANY_ULPS)), up(chance), "the Monitor")


def monitored_samples(p: float) -> Floats:
    """The numbers of samples T that are tried, up to 20 / p."""
    return np.unique(np.round(np.geomspace(1, min(20 / p, 1e300), 60)))


def mean_bound(mean: Number, epsilon: Number, delta: Number = 0) -> float:
    """e^epsilon E f(Y) + delta, an upper bound on E f(X) (lemma 0.6).

    f has values in [0, 1], and X and Y are (epsilon, delta)-close.  E f(X) is the integral of P[f(X) >= t] over t from
    0 to 1, and each of these is at most e^epsilon P[f(Y) >= t] + delta.
    """
    m = rational("mean", mean)
    if not 0 <= m <= 1:
        raise BadParameter("mean", mean, "between 0 and 1")
    grown = up(m) * (1 + drift(up(_loss(epsilon)))) if m else 0.0
    return min(1.0, (grown + up(_slack("delta", delta))) * FEW_ULPS)


def notes(epsilon: Number, delta: Number, n: int, *, alpha: Number = 0, beta: Number = 0) -> Transferred:
    """Width alpha + 6 epsilon, failure beta + max(4 delta/epsilon, 2 exp(-0.32 epsilon^2 n)): theorem 0.2, sharper."""
    e, d, n = _in_notes(epsilon, delta, n)
    p = max(up(NOTES_DELTA * d / e), hoeffding(n, NOTES_ROOT * e))
    return _transferred(_slack("alpha", alpha) + NOTES_WIDTH * e, _slack("beta", beta), p, "lecture notes")


def notes_as_printed(epsilon: Number, delta: Number, n: int) -> Transferred:
    """Width 6 epsilon, failure max(4 delta/epsilon, exp(-epsilon^2 n/8)): theorem 0.2 as printed, which is true."""
    e, d, n = _in_notes(epsilon, delta, n)
    p = max(up(NOTES_DELTA * d / e), hoeffding(n, e / 4) / 2)  # Hoeffding's inequality has two sides
    return _transferred(NOTES_WIDTH * e, Fraction(0), p, "lecture notes, as printed")


def bassily(epsilon: Number, delta: Number, n: int, *, alpha: Number = 0, beta: Number = 0) -> Transferred:
    """Width alpha + 18 epsilon, failure beta + delta/epsilon (Bassily et al. 2016, theorem 7.2)."""
    e, d, n = _loss(epsilon), probability("delta", delta), whole("n", n)
    if e >= BASSILY_LARGEST:
        raise BadParameter("epsilon", epsilon, "below 1/3")
    if d >= BASSILY_SHARE * e:
        raise BadParameter("delta", delta, f"below epsilon / 4, which is {float(e / 4):g}")
    least = math.ceil(math.log(4 * e / d) / e**2 * FEW_ULPS)
    if n < least:
        raise BadParameter("n", n, f"at least ln(4 epsilon/delta)/epsilon^2, which is {least}")
    width = _slack("alpha", alpha) + BASSILY_WIDTH * e
    return _transferred(width, _slack("beta", beta), up(d / e), "Bassily et al. 2016")


def jung(
    epsilon: Number,
    delta: Number,
    *,
    alpha: Number,
    beta: Number,
    c: Number,
    d: Number = 0,
    spread: Number | None = None,
) -> Transferred:
    """Width alpha + e^epsilon - 1 + c + 2 d, failure beta/c + delta/d (Jung et al. 2020).

    For questions that are not means, `spread` is n times their sensitivity: alpha + (e^epsilon - 1 + 4 d) spread + c.
    """
    e, x, a, b = _loss(epsilon), _slack("delta", delta), _slack("alpha", alpha), _slack("beta", beta)
    posterior, private = positive("c", c) if b else _slack("c", c), positive("d", d) if x else _slack("d", d)
    moved, failure = drift(up(e)) * FEW_ULPS, up(Fraction((b / posterior if b else 0) + (x / private if x else 0)))
    if moved == math.inf:
        return Transferred(math.inf, min(1.0, failure), "Jung et al. 2020")
    if spread is None:
        width = a + Fraction(moved) + posterior + JUNG_SLACK * private
    else:
        width = a + (Fraction(moved) + JUNG_SLACK_OTHERS * private) * positive("spread", spread) + posterior
    return _transferred(width, Fraction(0), failure, "Jung et al. 2020")


def jung_slack(beta: Number, delta: Number, failure: Number) -> tuple[float, float]:
    """The c and d with the smallest c + 2 d for which beta/c + delta/d is at most `failure`.

    c = sqrt(beta) r and d = sqrt(delta/2) r with r = (sqrt(beta) + sqrt(2 delta)) / failure, by Lagrange's rule, and
    c + 2 d is then (sqrt(beta) + sqrt(2 delta))^2 / failure.
    """
    b, x, p = (float(_slack("beta", beta)), float(_slack("delta", delta)), float(probability("failure", failure)))
    r = (math.sqrt(b) + math.sqrt(2 * x)) / p * FEW_ULPS
    return math.sqrt(b) * r * FEW_ULPS, math.sqrt(x / 2) * r * FEW_ULPS


def jung_at(failure: Number, epsilon: Number, delta: Number = 0, *, alpha: Number = 0, beta: Number = 0) -> Transferred:
    """The smallest width that Jung et al. prove with failure probability `failure`."""
    p = probability("failure", failure)
    c, d = jung_slack(beta, delta, p)
    bound = jung(epsilon, delta, alpha=alpha, beta=beta, c=Fraction(c), d=Fraction(d))
    return Transferred(bound.width, up(p), bound.theorem)


@dataclass(frozen=True, slots=True)
class Thresholdout:
    """Thresholdout as published: its threshold, its noise rate, and the loss of the holdout set."""

    threshold: float
    sigma: float
    epsilon: float


def thresholdout(
    tau: Number, questions: int, exceptions: int, beta: Number, n: int, *, delta: Number = 0
) -> Thresholdout:
    """T = 3 tau/4, sigma = tau / (96 ln(4 m/beta)), epsilon = 2 B / (sigma n) (Dwork et al. 2015) [quoted].

    With delta, epsilon = sqrt(32 B ln(2/delta)) / (sigma n) at that delta.
    """
    t, m = positive("tau", tau), whole("questions", questions)
    sigma = float(t) / (THRESHOLDOUT_RATE * (math.log(4 * m) - math.log(probability("beta", beta))))
    b, d = whole("exceptions", exceptions), probability("delta", delta) if rational("delta", delta) else 0
    epsilon = (math.sqrt(32 * b * (math.log(2) - math.log(d))) if d else 2 * b) / (sigma * whole("n", n))
    return Thresholdout(float(THRESHOLD_SHARE * t), sigma, epsilon * FEW_ULPS)


def _in_notes(epsilon: Number, delta: Number, n: int) -> tuple[Fraction, Fraction, int]:
    e, d, n = _loss(epsilon), _slack("delta", delta), whole("n", n)
    if e * e * n < NOTES_SMALLEST or e > NOTES_LARGEST:
        raise BadParameter("epsilon", epsilon, f"between sqrt(12/n), which is {math.sqrt(12 / n):.4g}, and 1/8")
    if d > NOTES_SHARE * e:
        raise BadParameter("delta", delta, f"at most epsilon / 16, which is {float(e / 16):g}")
    return e, d, n


def _loss(epsilon: Number) -> Fraction:
    return positive("epsilon", epsilon, Fraction(10**12)) if rational("epsilon", epsilon) else Fraction(0)


def _slack(name: str, value: Number) -> Fraction:
    x = rational(name, value)
    if x < 0:
        raise BadParameter(name, value, "at least 0")
    return x


def _transferred(width: Fraction, beta: Fraction, p: float, theorem: str) -> Transferred:
    return Transferred(up(width), min(1.0, up(beta + Fraction(p))), theorem)
