"""UC Santa Barbara, lecture 5."""

from ._types import Item, Lecture

LECTURE = Lecture(
    "ucsb-5",
    "UC Santa Barbara, lecture 5: private selection II, privacy loss random variable, advanced composition",
    "add or remove in definitions, substitution where queries are divided by n",
    (
        Item(
            "Recap, sparse vector", "remark", "The sparse vector technique works for any queries of low sensitivity",
            ("Sparse", "NumericSparse"),
            ("mechanisms/test_sparse.py::test_no_neighbours_are_further_apart_than_the_price",),
        ),
        Item(
            "Recap, multiplicative weights", "algorithm", "A public model answers, and is updated where the sparse vector technique finds it wrong",
            ("workloads.methods.weights.pmw.PrivateMultiplicativeWeights", "Curator"),
            ("workloads/test_pmw.py::test_claims_hold_against_the_exact_law",
             "workloads/test_pmw.py::test_the_promise_for_all_questions_is_kept"),
        ),
        Item(
            "Recap, number of updates", "theorem", "The model is updated at most O(ln|X|/alpha^2) times",
            ("workloads.models.multiplicative_weights.most_updates",),
            ("workloads/test_multiplicative_weights.py::test_moves_end_when_the_theorem_says",),
        ),
        Item(
            "Summary of query release", "remark", "Three ways to answer k linear queries: their errors and running times compared",
            ("workloads.textbook.textbook",),
            ("workloads/test_planner.py::test_the_textbooks_own_bounds",),
            ("plots.methods", "plots.planned"),
        ),
        Item(
            "Recap, exponential mechanism", "algorithm", "Sensitivity of a utility, the Gibbs distribution, and its privacy",
            ("Exponential", "theory.scores.score_sensitivity", "theory.selection.exponential_mechanism"),
            ("test_conformance.py::test_mechanism", "theory/test_selection.py::test_each_law_keeps_epsilon"),
        ),
        Item(
            "Instances, randomized response", "example", "Randomized response is an exponential mechanism",
            ("theory.selection.log_probabilities", "RandomizedResponse"),
            ("theory/test_selection.py::test_randomized_response_and_laplace_noise_lose_no_factor_two",),
        ),
        Item(
            "Instances, Laplace", "example", "Laplace noise is an exponential mechanism",
            ("theory.selection.log_probability_sensitivity", "Laplace"),
            ("theory/test_selection.py::test_randomized_response_and_laplace_noise_lose_no_factor_two",),
        ),
        Item(
            "Two types", "definition", "Exponential mechanisms by scores, and by log-probabilities, which need no factor 2",
            ("theory.selection.log_probabilities", "theory.selection.log_probability_sensitivity"),
            ("theory/test_selection.py::test_log_probabilities_move_by_at_most_twice_the_scores",),
        ),
        Item(
            "Theorem 3.11", "theorem", "Utility of the exponential mechanism, with the number of optimal outcomes",
            ("theory.selection.utility_bound", "theory.selection.expected_gap_bound"),
            ("theory/test_selection.py::test_utility_bound_holds_exactly", "theory/test_selection.py::test_equal_candidates_help"),
        ),
        Item(
            "Algorithm 4", "algorithm", "SmallDB: a small table that answers all queries, chosen by the exponential mechanism",
            ("workloads.methods.weights.small_db.SmallDB",),
            ("workloads/test_small_db.py::test_the_exact_law_is_within_the_price", "workloads/test_small_db.py::test_golden_law"),
        ),
        Item(
            "SmallDB, sensitivity", "theorem", "The score of SmallDB moves by at most 1/n when a record is substituted",
            ("theory.linear_queries.small_db_sensitivity", "theory.scores.score_sensitivity"),
            ("theory/test_scores.py::test_small_db_moves_by_one_over_n",),
        ),
        Item(
            "SmallDB, existence", "theorem", "A random sample of ln(2|Q|)/(2 alpha^2) records is accurate with positive probability",
            ("workloads.methods.weights.small_db.size_for", "composition.hoeffding"),
            ("workloads/test_small_db.py::test_golden_sizes",),
        ),
        Item(
            "SmallDB, error", "theorem", "The error of SmallDB is a cube root of ln|X| ln|Q|/(n epsilon)",
            ("workloads.methods.weights.small_db.classical_error", "workloads.methods.weights.small_db.classical_rate"),
            ("workloads/test_small_db.py::test_the_classical_rate_is_the_error_of_its_own_size",
             "workloads/test_small_db.py::test_golden_errors"),
        ),
        Item(
            "Checkpoint", "remark", "SmallDB and multiplicative weights have the same rate; the latter answers adaptive queries",
            ("workloads.textbook.textbook", "workloads.sample_complexity.small_db_records",
             "workloads.sample_complexity.multiplicative_weights_records"),
            ("workloads/test_planner.py::test_the_textbooks_own_bounds",
             "workloads/test_sample_complexity.py::test_closed_forms"),
        ),
        Item(
            "ReportNoisyMax", "algorithm", "The largest of noisy scores, with Laplace noise of scale 2D/epsilon",
            ("NoisyMax", "theory.selection.noisy_max"),
            ("mechanisms/test_noisy_max.py::test_golden_laws", "mechanisms/test_noisy_max.py::test_the_loss_covers_the_law"),
        ),
        Item(
            "ReportNoisyMax, privacy", "theorem", "ReportNoisyMax is epsilon-private: a shift of the winner's noise by 2D covers any neighbour",
            ("NoisyMax", "audit.exact"),
            ("mechanisms/test_noisy_max.py::test_the_loss_covers_the_law", "mechanisms/test_noisy_max.py::test_the_loss_is_tight"),
        ),
        Item(
            "ReportNoisyMax, remark 1", "theorem", "Monotone scores, such as counts, need half the noise",
            ("theory.selection.noise_scale", "NoisyMax"),
            ("mechanisms/test_scores.py::test_the_relation_decides_whether_counts_move_together",),
        ),
        Item(
            "ReportNoisyMax, remark 2", "theorem", "Exponential noise is permute-and-flip; Gumbel noise is the exponential mechanism",
            ("PermuteAndFlip", "NoisyMax", "theory.selection.permute_and_flip"),
            ("mechanisms/test_noisy_max.py::test_continuous_noise_is_drawn_as_its_twin",),
        ),
        Item(
            "Voting, one vote", "example", "With one vote each, the histogram costs no more than its winner",
            ("theory.worked_examples.election",),
            ("mechanisms/test_selection_examples.py::test_with_one_vote_each_the_whole_histogram_costs_no_more_than_its_winner",
             "theory/test_worked_examples.py::test_an_election_with_one_vote_each"),
        ),
        Item(
            "Voting, approval", "example", "With any number of votes each, the winner stays cheap and the histogram does not",
            ("theory.worked_examples.election",),
            ("mechanisms/test_selection_examples.py::test_with_approval_votes_the_winner_stays_cheap_and_the_histogram_does_not",
             "theory/test_worked_examples.py::test_an_election_by_approval"),
        ),
        Item(
            "Definition 2.4", "definition", "(epsilon, delta)-differential privacy",
            ("laws.hockey_stick", "laws.indistinguishable", "losses.exact_law"),
            ("test_laws.py::test_no_event_beats_the_hockey_stick",
             "test_losses.py::test_an_exact_law_is_as_private_as_its_worst_neighbours"),
        ),
        Item(
            "Advanced composition", "theorem", "epsilon sqrt(2 k ln(1/delta')) + 2 k epsilon^2, at k delta + delta'",
            ("composition.advanced", "composition.advanced_heterogeneous", "composition.optimal"),
            ("test_composition.py::test_closed_forms_are_never_below_the_truth", "test_composition.py::test_golden"),
            ("plots.composition",),
        ),
        Item(
            "Advanced composition, choice of epsilon", "example", "epsilon'/sqrt(2 k ln(1/delta)) for each of k mechanisms",
            ("composition.per_query_epsilon_lecture", "composition.per_query_epsilon"),
            ("test_composition.py::test_closed_forms_are_never_below_the_truth",),
        ),
        Item(
            "Linear queries at a delta, Laplace", "theorem", "k noisy answers err by sqrt(k) instead of k",
            ("workloads.sample_complexity.laplace_on_queries", "workloads.sample_complexity.laplace_on_histogram"),
            ("workloads/test_sample_complexity.py::test_closed_forms_at_a_delta",),
        ),
        Item(
            "Linear queries at a delta, multiplicative weights", "theorem", "epsilon0, N, the cost of 2N mechanisms, and the square root",
            ("theory.linear_queries.weights_epsilon", "theory.linear_queries.weights_updates",
             "theory.linear_queries.weights_total", "theory.linear_queries.weights_alpha"),
            ("theory/test_linear_queries.py::test_rounds_and_epsilon_of_the_slide",
             "theory/test_linear_queries.py::test_the_total_is_that_of_its_composition",
             "theory/test_linear_queries.py::test_alpha_falls_as_a_cube_root_and_with_a_delta_as_a_square_root"),
        ),
        Item(
            "Privacy loss random variable", "definition", "The log-ratio of two laws at an output drawn from the first",
            ("Loss", "theory.concentration.losses"),
            ("core/test_distribution.py::test_two_discrete_mechanisms_against_enumeration",
             "theory/test_concentration.py::test_losses_have_the_moments_of_their_law"),
            ("plots.concentration",),
        ),
        Item(
            "Lemma 1", "theorem", "A bound on the tail of the privacy loss, for both orders of every pair, gives (epsilon, delta)",
            ("theory.gaussian.tail_delta", "Loss"),
            ("core/test_distribution.py::test_the_tail_is_a_true_delta_and_a_loose_one",
             "theory/test_gaussian.py::test_tail_bound_is_above_the_profile"),
            ("plots.profile",),
        ),
        Item(
            "Privacy loss, mean", "theorem", "The mean of the privacy loss is the KL divergence",
            ("laws.kl_divergence", "theory.laplace.kl_divergence"),
            ("theory/test_laplace.py::test_divergences_against_integrals", "test_laws.py::test_divergences_of_mechanisms"),
        ),
        Item(
            "Privacy loss, composition", "theorem", "Losses add, even if each mechanism is chosen after the earlier results",
            ("Loss", "theory.martingale.tree"),
            ("core/test_distribution.py::test_two_discrete_mechanisms_against_enumeration",
             "theory/test_martingale.py::test_the_next_step_is_nothing_on_average_given_the_past"),
        ),
        Item(
            "Proof idea", "remark", "Losses cancel and their sum concentrates, though adaptivity makes each loss depend on the past",
            ("theory.concentration.deviation", "theory.martingale.adaptive_walk"),
            ("core/test_distribution.py::test_losses_concentrate",
             "theory/test_martingale.py::test_an_adaptive_walk_has_the_law_of_its_tree"),
            ("plots.concentration", "plots.martingale"),
        ),
        Item(
            "Martingale", "definition", "A sequence whose next member is, on average and given the past, the present one",
            ("theory.martingale.tree", "theory.martingale.privacy_walk"),
            ("theory/test_martingale.py::test_the_next_step_is_nothing_on_average_given_the_past",),
            ("plots.martingale",),
        ),
        Item(
            "Martingale, example", "example", "Heads minus tails: a random walk",
            ("theory.martingale.coin_tosses",),
            ("theory/test_martingale.py::test_coin_tosses_are_a_random_walk",),
            ("plots.martingale",),
        ),
        Item(
            "Azuma-Hoeffding", "theorem", "Sums of bounded martingale differences have Gaussian tails",
            ("composition.azuma", "composition.azuma_intervals", "composition.azuma_inverse"),
            ("theory/test_martingale.py::test_azuma_holds_exactly_though_the_analyst_adapts",
             "theory/test_concentration.py::test_the_tail_lies_below_azuma", "test_composition.py::test_golden"),
            ("plots.martingale",),
        ),
        Item(
            "Proof of advanced composition", "theorem", "Azuma's inequality for the losses less their means",
            ("theory.concentration.deviation", "composition.advanced"),
            ("theory/test_martingale.py::test_azuma_holds_exactly_though_the_analyst_adapts",
             "theory/test_concentration.py::test_the_tail_lies_below_azuma"),
        ),
        Item(
            "Pinsker", "theorem", "The l1 distance is at most sqrt(2 KL)",
            ("composition.pinsker", "theory.concentration.variation"),
            ("theory/test_concentration.py::test_total_variation_lies_below_pinsker", "test_laws.py::test_divergences_are_ordered"),
        ),
        Item(
            "Pinsker, corollary", "theorem", "The KL divergence is at least 0",
            ("laws.kl_divergence",),
            ("test_laws.py::test_divergences_are_ordered",),
        ),
        Item(
            "Bounding the KL divergence", "theorem", "The mean loss of an epsilon-private mechanism is at most epsilon tanh(epsilon/2)",
            ("composition.pure_to_zcdp", "composition.advanced"),
            ("core/test_composed_losses.py::test_moments_of_the_privacy_loss", "core/test_loss.py::test_a_pure_loss_is_that_of_a_coin",
             "test_composition.py::test_closed_forms_are_never_below_the_truth"),
        ),
    ),
)  # fmt: skip
