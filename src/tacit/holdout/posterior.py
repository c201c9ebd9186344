r"""Two transfer theorems by the posterior: what the answers tell of the sample moves its mean only so far.

The setting is that of `transfer.py`.  Write Pi for the transcript of all answers, E[. | Pi] for the posterior mean of a
function of the sample S, and a_j for the answer to q_j.  Then
    |a_j - q_j(P)|  <=  |a_j - E[q_j(S) | Pi]|  +  |E[q_j(S) | Pi] - q_j(P)|,
how far the answers are from the sample, and how far the sample has drifted from the population, given the answers.

Sample accuracy [proved; `shortfall`].  Let eta(alpha) = E max_j (|a_j - q_j(S)| - alpha)_+.  Let S' be drawn from the
posterior of S given Pi: (S', Pi) has the law of (S, Pi).  So X = max_j (|a_j - E[q_j(S) | Pi]| - alpha)_+ is at most
E[max_j (|a_j - q_j(S')| - alpha)_+ | Pi] by Jensen, and E X <= eta(alpha).

Drift of a private transcript [proved; `drift`].  If Pi is (epsilon, delta)-private, then with h = tanh(epsilon/4), for
all questions that are ever asked at once,
    |E[q(S) | Pi] - q(P)|  <=  h + Y,    where Y >= 0 and E Y <= (1 - h) delta.
Proof.  Fix all records s but the i-th.  Let M_x be the law of Pi if the i-th record is x, nu = E_x M_x for x from P,
q a question with values in [0, 1] that may depend on Pi, and t = E[q(x) | Pi, s] - q(P).  For independent x, x' from P
    nu t  =  1/2 E (M_x - M_x') (q(x) - q(x')).
Let T = tanh(epsilon/2), so that e^epsilon = (1 + T) / (1 - T).  Wherever M_x >= M_x',
    M_x - M_x'  <=  T (M_x + M_x') + (1 - T) (M_x - e^epsilon M_x')_+,
for the right side without (.)_+ equals the left.  Hence, with D = E (M_x - e^epsilon M_x')_+, whose integral is at most
delta,
    nu t  <=  T E M_x |q(x) - q(x')|  +  (1 - T) D.
As |u - v| <= u + v - 2 u v on [0, 1], the expectation is at most nu (a + b - 2 a b) for a = q(P) + t and b = q(P),
which is nu (1/2 + ((a - b)^2 - (a + b - 1)^2) / 2) <= nu (1 + t^2) / 2.  So g(t) = t - T (1 + t^2) / 2 <= (1 - T) D /
nu.  By T = 2 h / (1 + h^2) g(h) = 0, and g(1) = 1 - T; g is concave, so above its chord (t - h) (1 - T) / (1 - h) on
[h, 1].
Hence t <= h + (1 - h) D / nu.  Average over s given Pi and over i: Y is (1 - h) times the average of D / nu, which does
not depend on q.  Its mean is (1 - h) times that of the integral of D.  For -t take 1 - q.

Together.  But for a chance of beta, every answer is within
    min over alpha of alpha + eta(alpha) / beta   +   min over epsilon of h + (1 - h) delta(epsilon) / beta
of the truth: for any alpha and epsilon the excess over alpha + h is at most X + Y, and Markov's inequality for X + Y
gives (eta + (1 - h) delta) / beta.  Both are expected shortfalls at beta, of the noise and of the drift.  For small
epsilon h is epsilon / 4, where Jung et al. have e^epsilon - 1, and no part of beta is set apart.

Mutual information [proved; `information`].  D(law of S given Pi || P^n) = D_Pi has mean I(S; Pi).  A mean of n
independent values in [0, 1] is sub-Gaussian with variance 1/(4 n), so by Donsker and Varadhan |E[q(S) | Pi] - q(P)| <=
sqrt(D_Pi / (2 n)) for all q at once, and D_Pi <= I / b but for a chance of b.  Hence with b + c = beta the width
alpha + eta(alpha) / c + sqrt(I / (2 n b)).
    For k answers q_j(S) + N(0, sigma^2), I <= k / (8 n sigma^2) [`gaussian_information`].  As records are independent,
I(S; Pi) <= sum_i I(S_i; Pi | all others), and by the chain rule each is a sum over j of I(S_i; a_j | earlier answers,
others).  Given the condition, n a_j is a constant plus q_j(S_i) plus noise of variance v = n^2 sigma^2.  Compared with
noise around the mean of q_j(S_i), whose variance is at most 1/4, the divergence is at most 1/(8 v) in the mean.  For
discrete Gaussian noise Z on a lattice, let R(z) be proportional to e^(-(z - m)^2 / (2 v)) on the lattice, for any real
m: its normaliser is at most that of Z (Poisson summation), so D(x + Z || R) <= (x - m)^2 / (2 v), as E Z = 0.

At beta = 5 % the drift of a private transcript is the smaller of the two for Gaussian noise; from about 40 % on the
information is.

References.  Jung, Ligett, Neel, Roth, Sharifi-Malvajerdi, Shenfeld, ITCS 2020, for the posterior sample; Russo and
Zou, AISTATS 2016; Feldman and Steinke, COLT 2018; Rogers, Roth, Smith, Srebro, Thakkar, Woodworth, AISTATS 2020,
theorem 2.1, for mutual information.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from ..core.accounting.atoms import GaussianNoise
from ..core.errors import BadParameter
from ..core.exact import MANY_ULPS, up
from ..core.parameters import Number, positive, probability, rational, whole
from .transfer import Transferred

Accuracy = Sequence[tuple[float | Fraction, float]]  # (b, a): with probability at most b an error exceeds a
DRIFT, INFORMATION = "posterior drift", "mutual information"
_SHARES = 16  # of beta between the noise and the information


def moved(epsilon: float) -> float:
    """tanh(epsilon / 4), rounded up: how far the posterior mean of a pure epsilon-private transcript drifts."""
    return min(1.0, math.tanh(epsilon / 4) * MANY_ULPS)


def shortfall(beta: Number, accuracy: Accuracy) -> float:
    """The least alpha + eta(alpha) / beta, from pairs (b, a): with probability at most b an answer is more than a off.

    eta(a) is the integral of the probability of errors above a.  Between one a and the next it is at most the b of the
    first, and answers are at most 1 off.
    """
    p = float(probability("beta", beta))
    pairs = sorted(accuracy, reverse=True)  # the largest b and the smallest a first
    best, eta, above = math.inf, 0.0, 1.0
    for b, a in reversed(pairs):
        eta += float(b) * max(0.0, above - a) * MANY_ULPS
        above = min(a, above)
        best = min(best, (above + eta / p) * MANY_ULPS)
    return best


def drift(beta: Number, profile: Iterable[tuple[float, float]]) -> float:
    """The least tanh(epsilon/4) + (1 - tanh(epsilon/4)) delta / beta, from pairs (epsilon, delta) of the transcript."""
    p = float(probability("beta", beta))
    return min((moved(e) + (1 - math.tanh(e / 4)) * d / p * MANY_ULPS) * MANY_ULPS for e, d in profile)


def gaussian_drift(beta: Number, mu_squared: Fraction | float) -> float:
    """The drift of a transcript that is mu-Gaussian private: `drift`, with the profile of two normal laws."""
    noise = GaussianNoise(Fraction(mu_squared))
    mu = noise.mu

    def at(x: float) -> float:
        e = mu * x + mu * mu / 2
        return drift(beta, [(e, noise.profile(e))])

    near = min(range(13), key=at)  # deviations
    return min(at(max(0.0, near + j / 8)) for j in range(-7, 8))


def private_at(
    failure: Number, epsilon: Number, delta: Number = 0, *, alpha: Number = 0, excess: Number = 0
) -> Transferred:
    """Width alpha + excess / failure + tanh(epsilon/4) + (1 - tanh(epsilon/4)) delta / failure.

    `excess` is a bound on the mean of the part above alpha of the largest error on the sample, such as the probability
    of an error above alpha.
    """
    p = probability("failure", failure)
    given = {"epsilon": epsilon, "delta": delta, "alpha": alpha, "excess": excess}
    e, d, a, x = (rational(name, value) for name, value in given.items())
    for (name, value), read in zip(given.items(), (e, d, a, x), strict=True):
        if read < 0:
            raise BadParameter(name, value, "at least 0")
    noise = up(a + x / p)
    return Transferred((noise + drift(p, [(up(e), up(d))])) * MANY_ULPS, up(p), DRIFT)


def gaussian_information(n: int, questions: int, variance: Number) -> float:
    """k / (8 n sigma^2) nats, which k answers with Gaussian noise of variance sigma^2 tell of n records."""
    n, k = whole("n", n), whole("questions", questions)
    return up(Fraction(k) / (8 * n * positive("variance", variance)))


def information(failure: Number, nats: float, n: int, accuracy: Accuracy = ()) -> Transferred:
    """The least width alpha + eta(alpha) / c + sqrt(nats / (2 n b)) with b + c = failure; `accuracy` as in `shortfall`.

    Without `accuracy` the answers are the means of the sample, and b is all.
    """
    p, n = probability("failure", failure), whole("n", n)
    widths = []
    for i in range(1, _SHARES) if accuracy else [_SHARES]:
        b = float(p) * i / _SHARES
        noise = shortfall(p * (_SHARES - i) / _SHARES, accuracy) if accuracy else 0.0
        widths.append((noise + math.sqrt(nats / (2 * n * b)) * MANY_ULPS) * MANY_ULPS)
    return Transferred(min(widths), up(p), INFORMATION)
