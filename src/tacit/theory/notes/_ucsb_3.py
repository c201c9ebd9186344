"""UC Santa Barbara, lecture 3."""

from ._types import Item, Lecture

LECTURE = Lecture(
    "ucsb-3",
    "UC Santa Barbara, lecture 3: sparse vector technique and linear query release",
    "add or remove",
    (
        Item(
            "3.1", "definition", "A table as records, as a histogram, and as bits that state a property",
            ("workloads.Rows", "workloads.Histogram", "workloads.predicates"),
            ("workloads/test_domain.py::test_rows_and_histogram_agree",),
        ),
        Item(
            "3.2", "definition", "(epsilon, delta)-differential privacy on histograms that differ by one",
            ("laws.hockey_stick", "laws.indistinguishable", "ADD_REMOVE"),
            ("test_laws.py::test_no_event_beats_the_hockey_stick",),
        ),
        Item(
            "3.3, distribution", "theorem", "The distribution function of Laplace noise",
            ("theory.laplace.cdf", "theory.laplace.quantile"),
            ("theory/test_laplace.py::test_density_integrates_to_cdf", "theory/test_laplace.py::test_quantile_inverts_cdf"),
        ),
        Item(
            "3.3, utility", "theorem", "The largest of k noises is at most ln(k/beta) D/epsilon with probability 1 - beta",
            ("Laplace", "theory.laplace.union_error"),
            ("theory/test_laplace.py::test_exact_error_is_a_quantile_and_at_most_the_classical",
             "test_conformance.py::test_mechanism"),
        ),
        Item(
            "3.3.1", "definition", "Sensitivity under add/remove: a count and a histogram move by 1",
            ("ADD_REMOVE", "Distance"),
            ("core/test_distance.py::test_the_claimed_distance_is_the_largest_move",),
        ),
        Item(
            "3.3.2, steps 1 and 2", "example", "A budget of 0.5 for 100 counts leaves 0.005 and noise of scale 200 for each",
            ("theory.worked_examples.counting_queries", "theory.laplace.epsilon_per_query", "theory.laplace.scale_for"),
            ("theory/test_worked_examples.py::test_a_hundred_counts",),
        ),
        Item(
            "3.3.2, step 3", "theorem", "All errors at once, compared with the statistical error 1/sqrt(n)",
            ("theory.laplace.union_error", "composition.hoeffding_inverse"),
            ("theory/test_worked_examples.py::test_a_hundred_counts", "test_composition.py::test_inverses"),
        ),
        Item(
            "3.3.2, step 4", "theorem", "Sample complexity: n = k ln(k/beta)/(epsilon alpha)",
            ("theory.laplace.sample_size", "Laplace"),
            ("theory/test_golden.py::test_golden",
             "workloads/test_sample_complexity.py::test_the_least_n_is_enough_and_one_less_is_not"),
        ),
        Item(
            "3.4, estimator", "algorithm", "Randomized response on bits, and the unbiased estimate from the reports",
            ("RandomizedResponse", "theory.randomized_response.estimate"),
            ("theory/test_randomized_response.py::test_estimate_is_unbiased_and_its_variance_is_that_of_two_points",
             "mechanisms/test_randomized_response.py::test_linear_queries_are_unbiased_and_within_their_error"),
        ),
        Item(
            "3.4, range", "theorem", "The estimate of one bit lies in an interval of length coth(epsilon/2)",
            ("theory.randomized_response.estimate_range",),
            ("theory/test_randomized_response.py::test_the_estimate_of_a_bit_is_one_of_the_ends_of_its_range",),
        ),
        Item(
            "3.4, error", "theorem", "Hoeffding's inequality for linear queries of randomized response",
            ("theory.randomized_response.hoeffding_error", "composition.hoeffding"),
            ("theory/test_randomized_response.py::test_exact_error_is_within_bounds",
             "mechanisms/test_randomized_response.py::test_query_error_is_below_the_classical_ones"),
        ),
        Item(
            "3.4, many queries", "remark", "Reports are paid for once: any number of queries on them is free",
            ("RandomizedResponse", "laws.through"),
            ("mechanisms/test_randomized_response.py::test_linear_queries_are_unbiased_and_within_their_error",),
        ),
        Item(
            "3.4, comparison", "remark", "Laplace noise errs by |Q|/(n epsilon), randomized response by sqrt(ln|Q|/n)/epsilon",
            ("workloads.sample_complexity.laplace_on_queries", "workloads.sample_complexity.randomized_response"),
            ("workloads/test_sample_complexity.py::test_closed_forms",),
            ("plots.methods",),
        ),
        Item(
            "3.5, release", "algorithm", "A noisy histogram: Laplace noise of scale 1/epsilon on each cell",
            ("workloads.methods.direct.histogram.HistogramNoise", "Laplace"),
            ("workloads/test_per_query.py::test_the_histogram_costs_no_more_for_more_queries",),
        ),
        Item(
            "3.5, error", "theorem", "A linear query of a noisy histogram errs by about sqrt(|X|)/(n epsilon)",
            ("theory.laplace.histogram_query_error", "theory.laplace.sum_error"),
            ("theory/test_laplace.py::test_histogram_queries_are_sums",
             "theory/test_laplace.py::test_sum_error_is_a_quantile_and_at_most_the_classical"),
        ),
        Item(
            "3.6, AboveThreshold", "algorithm", "The first query above a threshold, for one epsilon however many queries there are",
            ("AboveThreshold", "theory.sparse_vector.above_threshold"),
            ("mechanisms/test_above_threshold.py::test_no_neighbours_are_further_apart_than_the_price",
             "theory/test_sparse_vector.py::test_epsilon_is_kept"),
        ),
        Item(
            "3.6, SparseVector", "algorithm", "c queries above a threshold: AboveThreshold c times, with epsilon/c each",
            ("Sparse", "RestartedSparse", "theory.sparse_vector.sparse_scales"),
            ("mechanisms/test_sparse.py::test_no_neighbours_are_further_apart_than_the_price",
             "mechanisms/test_restarted_sparse.py::test_the_whole_session_is_within_its_price"),
        ),
    ),
)  # fmt: skip
