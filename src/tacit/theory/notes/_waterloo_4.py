"""Waterloo CS860, lecture 4."""

from ._types import Item, Lecture

LECTURE = Lecture(
    "waterloo-4",
    "Waterloo CS860, lecture 4: the Laplace mechanism and properties of differential privacy",
    "substitution",
    (
        Item(
            "Definition 1", "definition", "The l1 sensitivity of a vector of answers",
            ("Distance", "SUBSTITUTE", "norms"),
            ("core/test_distance.py::test_the_claimed_distance_is_the_largest_move",),
        ),
        Item(
            "after Definition 1", "remark", "l1 and l2 sensitivity agree for one answer, and differ by a factor of at most sqrt(k) for k answers",
            ("Distance", "Gaussian"),
            ("core/test_distance.py::test_norms_follow_from_those_given",),
        ),
        Item(
            "running example", "example", "The mean of n bits moves by 1/n when a bit is flipped",
            ("theory.worked_examples.mean_of_bits", "SUBSTITUTE"),
            ("theory/test_worked_examples.py::test_a_mean_of_bits",
             "core/test_distance.py::test_a_mean_needs_a_public_number_of_rows"),
        ),
        Item(
            "Definition 2", "definition", "The Laplace distribution: density and variance 2b^2",
            ("theory.laplace.density", "theory.laplace.variance"),
            ("theory/test_laplace.py::test_moments", "theory/test_laplace.py::test_density_integrates_to_cdf"),
            ("plots.noise_laws",),
        ),
        Item(
            "Figure 1", "example", "Laplace densities of several scales, beside exponential and Gaussian tails",
            ("theory.noise_laws.density", "theory.noise_laws.tail"),
            ("theory/test_noise_laws.py::test_gaussian_tails_are_the_lightest_and_laplace_is_that_of_its_file",
             "theory/test_plots.py::test_noise_is_drawn_as_it_is_computed"),
            ("plots.noise_laws",),
        ),
        Item(
            "Definition 3", "algorithm", "The Laplace mechanism: noise of scale sensitivity over epsilon",
            ("Laplace", "theory.laplace.scale_for"),
            ("test_conformance.py::test_mechanism",),
        ),
        Item(
            "after Definition 3", "theorem", "The noisy mean of bits is unbiased; Chebyshev bounds its error",
            ("theory.laplace.chebyshev_error", "theory.worked_examples.mean_of_bits"),
            ("theory/test_worked_examples.py::test_a_mean_of_bits",),
        ),
        Item(
            "footnote 1", "theorem", "The exact tail bounds the error with ln(1/beta) in place of 1/sqrt(beta)",
            ("theory.laplace.union_error", "theory.laplace.tail"),
            ("theory/test_worked_examples.py::test_a_mean_of_bits",),
        ),
        Item(
            "after Definition 3, comparison", "remark", "Laplace noise on a mean errs by 1/n, randomized response by 1/sqrt(n)",
            ("theory.randomized_response.hoeffding_error", "theory.worked_examples.mean_of_bits"),
            ("theory/test_worked_examples.py::test_a_mean_of_bits",),
        ),
        Item(
            "Theorem 4", "theorem", "The Laplace mechanism is epsilon-private",
            ("Laplace", "audit.exact"),
            ("test_conformance.py::test_mechanism", "audit/test_exact.py::test_every_mechanism_holds_exactly_within_a_minute"),
        ),
        Item(
            "Counting queries", "example", "One count has sensitivity 1, whatever the size of the table",
            ("ADD_REMOVE", "SUBSTITUTE", "Laplace"),
            ("core/test_distance.py::test_the_claimed_distance_is_the_largest_move",),
        ),
        Item(
            "Counting queries, k of them", "example", "k counts asked together have l1 sensitivity k and need noise of scale k/epsilon",
            ("theory.worked_examples.counting_queries", "Laplace"),
            ("theory/test_worked_examples.py::test_a_hundred_counts", "core/test_distance.py::test_groups_and_vectors"),
        ),
        Item(
            "Counting queries, reconstruction", "remark", "Many answers with noise below sqrt(n) reveal the table (Dinur and Nissim)",
            ("audit.attacks.reconstruct",),
            ("audit/test_attacks.py::test_512_people_are_reconstructed_from_2048_sums_in_a_minute",
             "audit/test_attacks.py::test_the_transition_is_where_noise_is_sqrt_n"),
        ),
        Item(
            "Histograms", "example", "A histogram has l1 sensitivity 2 under substitution, however many cells there are",
            ("SUBSTITUTE", "Laplace"),
            ("core/test_distance.py::test_the_claimed_distance_is_the_largest_move",
             "mechanisms/test_prices_and_errors.py::test_a_substituted_record_is_two"),
        ),
        Item(
            "Fact 5", "theorem", "P[|Y| >= t b] = e^-t for Laplace noise of scale b",
            ("theory.laplace.tail",),
            ("theory/test_laplace.py::test_tail_is_both_ends_of_cdf",),
            ("plots.noise_laws",),
        ),
        Item(
            "Histograms, all cells", "theorem", "All cells at once err by at most 2 ln(k/beta)/epsilon, by a union bound",
            ("theory.laplace.union_error", "theory.laplace.simultaneous_error"),
            ("theory/test_laplace.py::test_exact_error_is_a_quantile_and_at_most_the_classical",),
        ),
        Item(
            "Theorem 6", "theorem", "Post-processing, also by random maps, costs nothing (pure epsilon)",
            ("laws.through",),
            ("core/test_postprocessing.py::test_no_stochastic_map_raises_a_hockey_stick",
             "test_laws.py::test_no_channel_tells_more"),
        ),
        Item(
            "Theorem 7", "theorem", "Group privacy: k records cost k epsilon",
            ("composition.group", "Loss"),
            ("core/test_loss.py::test_more_is_never_cheaper_and_a_group_never_pays_less", "test_composition.py::test_golden"),
        ),
        Item(
            "Theorem 8", "theorem", "Basic composition: epsilons add, also for mechanisms chosen adaptively",
            ("composition.basic", "Budget"),
            ("core/test_adaptive.py::test_no_adversary_gets_past_a_budget", "test_composition.py::test_golden"),
            ("plots.composition",),
        ),
    ),
)  # fmt: skip
