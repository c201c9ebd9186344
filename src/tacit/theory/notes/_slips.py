"""Statements in the lectures that are wrong, loose or incomplete, and what tacit does instead."""

from ._types import Slip

SLIPS = (
    Slip(
        1, "Cummings lecture 2, Theorem 4", "2D ln(|R| + t)/epsilon: t stands inside the logarithm",
        "2D (ln|R| + t)/epsilon",
        ("theory.selection.utility_bound",),
        ("theory/test_selection.py::test_the_sum_in_the_notes_would_be_no_bound",),
    ),
    Slip(
        2, "UC Santa Barbara lecture 5, Theorem 3.11", "e^-t/delta; and one name for the good and the bad outcomes",
        "The chance is e^-t; t = ln(1/beta)",
        ("theory.selection.utility_bound",),
        ("theory/test_selection.py::test_utility_bound_holds_exactly",),
    ),
    Slip(
        3, "UC Santa Barbara lecture 5, ReportNoisyMax", "Lap(2 epsilon/D) in the analysis; integrals without their shifts",
        "Scale 2D/epsilon, or D/epsilon for monotone scores",
        ("theory.selection.noise_scale", "NoisyMax"),
        ("mechanisms/test_noisy_max.py::test_the_loss_covers_the_law",),
    ),
    Slip(
        4, "UC Santa Barbara lecture 5, two types", "exp(epsilon u/(2 D)) also for normalised log-probabilities",
        "exp(epsilon u/D): normalised log-probabilities of sensitivity D need no factor 2",
        ("theory.selection.log_probabilities",),
        ("theory/test_selection.py::test_randomized_response_and_laplace_noise_lose_no_factor_two",),
    ),
    Slip(
        5, "UC Santa Barbara lecture 5, SmallDB", "a law without the factor n epsilon/2; a size called OPT; a square root",
        "exp(-(epsilon n/2) max|f(x) - f(y)|), and a cube root for the error",
        ("workloads.methods.weights.small_db.SmallDB", "workloads.methods.weights.small_db.classical_rate"),
        ("workloads/test_small_db.py::test_golden_law",),
    ),
    Slip(
        6, "UC Santa Barbara lecture 5, SmallDB size", "ln|Q|/alpha^2, and half of it in the derivation; |X|^m candidates",
        "floor(ln(2|Q|)/(2 alpha^2)) + 1 records, and C(|X| + m - 1, m) candidates",
        ("workloads.methods.weights.small_db.size_for", "workloads.methods.weights.small_db.candidates"),
        ("workloads/test_small_db.py::test_golden_sizes",),
    ),
    Slip(
        7, "UC Santa Barbara lecture 5 and Cummings lecture 2, advanced composition",
        "two drifts, 2 k epsilon^2 and k epsilon (e^epsilon - 1); a worked substitution that ends in 3 epsilon'",
        "The drift is k epsilon tanh(epsilon/2), and the default is exact composition; the substitution costs epsilon' +"
        " epsilon'^2/ln(1/delta)",
        ("composition.advanced", "composition.optimal", "composition.per_query_epsilon_lecture"),
        ("test_composition.py::test_optimal_is_below_every_other_bound",),
    ),
    Slip(
        8, "Cummings lecture 2, Corollary 9", "epsilon/sqrt(8 k ln(1/delta)), about 2.5 times less than is possible",
        "The inverse of exact composition; the corollary needs epsilon < 1 and a small delta",
        ("composition.per_query_epsilon", "composition.per_query_epsilon_classical"),
        ("test_composition.py::test_inverses",),
    ),
    Slip(
        9, "Cummings lecture 2, Theorem 7", "e^epsilon for e^(k epsilon) in the proof; adaptivity only for advanced composition",
        "Epsilons add under adaptive choice as well",
        ("composition.basic", "Budget"),
        ("core/test_adaptive.py::test_no_adversary_gets_past_a_budget",),
    ),
    Slip(
        10, "Cummings lecture 2, Theorem 6", "k e^((k-1) epsilon) delta: valid, but loose",
        "delta (e^(k epsilon) - 1)/(e^epsilon - 1); Gaussian noise, zCDP and Renyi curves have their own rules",
        ("composition.group", "composition.group_zcdp", "composition.group_gdp"),
        ("test_composition.py::test_golden",),
    ),
    Slip(
        11, "Cummings lecture 2, Theorem 5, and Waterloo lecture 4, Theorem 6",
        "a last line without e^epsilon and delta; events in the wrong space",
        "The theorems themselves are true as stated",
        ("laws.through",),
        ("core/test_postprocessing.py::test_no_stochastic_map_raises_a_hockey_stick",),
    ),
    Slip(
        12, "Waterloo lecture 4, Theorem 4", "a minus sign in the third line of the proof",
        "exp(+epsilon |f(Y) - f(X)|/D)",
        ("Laplace",),
        ("test_conformance.py::test_mechanism",),
    ),
    Slip(
        13, "UC Santa Barbara lecture 3, section 3.3", "e^(-(x - mu)/b)/2 for x <= mu; a maximum without absolute values",
        "e^((x - mu)/b)/2 below the centre; errors are absolute",
        ("theory.laplace.cdf", "theory.laplace.union_error"),
        ("theory/test_laplace.py::test_density_integrates_to_cdf",),
    ),
    Slip(
        14, "UC Santa Barbara lecture 3, section 3.4", "2^(p-1) for 2p - 1; a width of O(1/epsilon) for its square",
        "1/2 + (Y - 1/2)/(2p - 1), and the width coth(epsilon/2)",
        ("theory.randomized_response.estimate", "theory.randomized_response.estimate_range"),
        ("theory/test_randomized_response.py::test_the_estimate_of_a_bit_is_one_of_the_ends_of_its_range",),
    ),
    Slip(
        15, "UC Santa Barbara lectures 3 and 5, histogram queries", "sqrt|X| log(1/delta); a stray log^d|X| in the table",
        "sqrt(8 |X| ln(2/beta))/(n epsilon) once |X| is at least 2 ln(2/beta)",
        ("theory.laplace.histogram_query_error", "workloads.textbook.textbook"),
        ("theory/test_laplace.py::test_histogram_queries_are_sums",),
    ),
    Slip(
        16, "UC Santa Barbara lecture 3, AboveThreshold",
        "noise on the threshold at each check, none on the queries, and the noisy value returned: not private",
        "The noise on the threshold is drawn once and that on each query anew; a released number has its own noise and cost",
        ("AboveThreshold", "NumericSparse", "testing.wrong.sparse_vector.Renoised"),
        ("mechanisms/test_sparse_variants.py::test_the_suite_refutes_the_claim",),
    ),
    Slip(
        17, "UC Santa Barbara lecture 5, multiplicative weights at a delta",
        "2 sqrt(N) epsilon0 without sqrt(ln(1/delta)); an alpha without its square root; 16 ln|X|/alpha^2 updates",
        "Advanced composition of 2N mechanisms; the method of tacit makes at most ln|X|/(2 alpha^2) updates",
        ("theory.linear_queries.weights_total", "workloads.models.multiplicative_weights.most_updates"),
        ("theory/test_linear_queries.py::test_the_total_is_that_of_its_composition",
         "workloads/test_multiplicative_weights.py::test_moves_end_when_the_theorem_says"),
    ),
    Slip(
        18, "Dwork and Roth 2014, Theorems 4.14 and 4.15, which the lectures follow", "32 for 36, and alpha^2 for alpha",
        "alpha solves its own equation",
        ("workloads.methods.weights.pmw_plans.classical",),
        ("workloads/test_pmw.py::test_golden_constants",),
    ),
    Slip(
        19, "Sorrell lecture 18, Theorem 0.2",
        "sqrt(12/n) for sqrt(12/m), signs and events in its proof, and ln T for 2T candidates",
        "The theorem is true as printed, by another proof, which gives max(4 delta/epsilon, 2 exp(-0.32 epsilon^2 m))",
        ("holdout.transfer.notes_as_printed", "holdout.transfer.notes"),
        ("holdout/test_transfer.py::test_the_printed_theorem_is_true",),
    ),
    Slip(
        20, "UC Santa Barbara lecture 5, Lemma 1", "a bound on the tail of the loss, taken for the delta itself",
        "The exact delta is the hockey-stick divergence, several times less; both orders of each pair count",
        ("laws.hockey_stick", "theory.gaussian.profile", "theory.gaussian.tail_delta"),
        ("core/test_distribution.py::test_the_tail_is_a_true_delta_and_a_loose_one",),
    ),
    Slip(
        21, "Cummings lecture 2, Example 2", "prices and valuations without a bound, and no warning that prices must not be taken from the data",
        "The list of prices is public and fixed beforehand; the sensitivity is the largest price",
        ("PostedPrice",),
        ("mechanisms/test_prices.py::test_the_loss_covers_the_law",),
    ),
    Slip(
        22, "UC Santa Barbara lecture 5, approval voting", "a histogram that costs |C| epsilon beside a winner that costs epsilon",
        "Lap(|C|/epsilon) on the histogram costs epsilon too; the winner keeps Lap(1/epsilon)",
        ("theory.worked_examples.election",),
        ("theory/test_worked_examples.py::test_an_election_by_approval",),
    ),
    Slip(
        23, "Sorrell lecture 18, Theorem 0.1", "both ln and log in one formula",
        "All logarithms are natural",
        ("theory.selection.utility_bound",),
        ("theory/test_selection.py::test_utility_bound_holds_exactly",),
    ),
)  # fmt: skip
