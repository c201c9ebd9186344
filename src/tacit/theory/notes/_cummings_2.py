"""Cummings, lecture 2."""

from ._types import Item, Lecture

LECTURE = Lecture(
    "cummings-2",
    "Cummings, lecture 2: the exponential mechanism and properties of differential privacy",
    "add or remove in formulas, substitution in words",
    (
        Item(
            "section 1, quality score", "remark", "A good score ranks outcomes as wanted, and separates a close second from a poor outcome",
            ("theory.scores.two_scores",),
            ("theory/test_scores.py::test_a_score_of_one_for_the_best_hardly_chooses",),
        ),
        Item(
            "Definition 1", "definition", "The sensitivity of a score: the largest move of any outcome's score",
            ("theory.scores.score_sensitivity", "theory.selection.range_sensitivity"),
            ("theory/test_scores.py::test_counts_move_by_one_and_together_only_where_people_come_and_go",),
        ),
        Item(
            "Definition 2", "algorithm", "The exponential mechanism",
            ("Exponential", "theory.selection.exponential_mechanism"),
            ("mechanisms/test_exponential.py::test_golden_laws", "theory/test_selection.py::test_laws_sum_to_one_in_the_order_of_scores"),
        ),
        Item(
            "Example 1", "example", "The most common eye colour",
            ("theory.worked_examples.most_common", "Exponential"),
            ("mechanisms/test_selection_examples.py::test_the_most_common_eye_colour",
             "theory/test_worked_examples.py::test_most_common_colour"),
        ),
        Item(
            "Example 2", "example", "A posted price that maximises revenue",
            ("PostedPrice", "posted_price", "theory.worked_examples.posted_price"),
            ("mechanisms/test_prices.py::test_the_revenue_is_near_the_best", "theory/test_worked_examples.py::test_posted_price"),
        ),
        Item(
            "after Example 2", "remark", "Prices must be bounded, and noise on the best price itself loses the revenue",
            ("theory.worked_examples.noisy_price_revenue",),
            ("mechanisms/test_prices.py::test_noise_on_the_price_loses_what_the_choice_of_a_price_keeps",
             "theory/test_worked_examples.py::test_a_little_noise_halves_the_revenue_of_the_best_price"),
        ),
        Item(
            "Theorem 3", "theorem", "The exponential mechanism is epsilon-private",
            ("Exponential", "audit.exact"),
            ("test_conformance.py::test_mechanism", "theory/test_selection.py::test_each_law_keeps_epsilon"),
        ),
        Item(
            "Theorem 4", "theorem", "The chosen score falls short of the best by 2D(ln|R| + t)/epsilon with probability at most e^-t",
            ("theory.selection.utility_bound", "Exponential"),
            ("theory/test_selection.py::test_utility_bound_holds_exactly", "mechanisms/test_exponential.py::test_golden_utility"),
        ),
        Item(
            "Theorem 5", "theorem", "Post-processing of an (epsilon, delta)-private output costs nothing",
            ("laws.through", "laws.hockey_stick"),
            ("core/test_postprocessing.py::test_what_is_made_of_a_release_is_as_private",
             "test_laws.py::test_no_channel_tells_more"),
        ),
        Item(
            "after Theorem 5", "remark", "The guarantee holds whatever an attacker knows or computes; what it does not cover",
            ("theory.side_information.posterior_bounds", "theory.side_information.population_posterior"),
            ("theory/test_side_information.py::test_who_knows_every_other_record_learns_no_more_than_the_bound",
             "theory/test_side_information.py::test_facts_about_everybody_are_learned_of_those_who_are_in_no_table"),
        ),
        Item(
            "Theorem 6", "theorem", "Group privacy of (epsilon, delta)",
            ("composition.group", "composition.group_classical", "Loss"),
            ("test_composition.py::test_golden", "core/test_groups_of_units.py::test_groups_of_what_may_fail_and_of_what_is_known_at_orders"),
        ),
        Item(
            "after Theorem 6", "remark", "A family is protected, but a constant share of the population is not",
            ("theory.side_information.posterior_bounds",),
            ("theory/test_side_information.py::test_records_that_are_known_to_be_alike_move_belief_further",),
        ),
        Item(
            "Theorem 7", "theorem", "Basic composition: epsilons and deltas add",
            ("composition.basic", "Loss"),
            ("test_composition.py::test_golden", "core/test_loss.py::test_sums_are_a_commutative_monoid"),
            ("plots.composition",),
        ),
        Item(
            "after Theorem 7", "example", "A budget of epsilon for k mechanisms leaves epsilon/k for each",
            ("theory.laplace.epsilon_per_query", "Budget"),
            ("core/test_budget.py::test_a_tenth_ten_times_is_exactly_one_and_then_nothing_more",),
        ),
        Item(
            "Theorem 8", "theorem", "Advanced composition, with drift k epsilon (e^epsilon - 1)",
            ("composition.advanced", "composition.optimal"),
            ("test_composition.py::test_closed_forms_are_never_below_the_truth",
             "test_composition.py::test_optimal_is_below_every_other_bound"),
            ("plots.composition",),
        ),
        Item(
            "Corollary 9", "theorem", "The epsilon of each of k mechanisms for a total of (epsilon, delta)",
            ("composition.per_query_epsilon_classical", "composition.per_query_epsilon"),
            ("test_composition.py::test_golden", "test_composition.py::test_inverses"),
        ),
    ),
)  # fmt: skip
