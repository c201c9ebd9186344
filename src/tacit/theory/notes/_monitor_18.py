"""Sorrell, lecture 18."""

from ._types import Item, Lecture

LECTURE = Lecture(
    "sorrell-18",
    "Sorrell, lecture 18: the transfer theorem and the Monitor",
    "substitution",
    (
        Item(
            "Algorithm 1", "algorithm", "The exponential mechanism",
            ("Exponential",),
            ("mechanisms/test_exponential.py::test_golden_laws",),
        ),
        Item(
            "Theorem 0.1", "theorem", "The utility of the exponential mechanism, except with probability beta",
            ("theory.selection.utility_bound", "Exponential"),
            ("theory/test_selection.py::test_utility_bound_holds_exactly",),
        ),
        Item(
            "Theorem 0.2", "theorem", "The transfer theorem: a private choice of a query hardly overfits its sample",
            ("holdout.transfer.notes_as_printed", "holdout.transfer.notes"),
            ("holdout/test_transfer.py::test_the_printed_theorem_is_true",
             "holdout/test_transfer.py::test_what_the_notes_say_follows_from_the_monitor"),
        ),
        Item(
            "Algorithm 2", "algorithm", "The Monitor: the worst of T runs, chosen privately",
            ("holdout.monitor.Monitor", "holdout.monitor.simulate_monitor"),
            ("holdout/test_experiments.py::test_the_monitor",),
        ),
        Item(
            "Proof plan, step 1", "theorem", "The Monitor is (epsilon + epsilon', delta)-private",
            ("holdout.monitor.Monitor",),
            ("holdout/test_experiments.py::test_what_the_monitor_watches_is_private",),
        ),
        Item(
            "Claim 0.3", "theorem", "The mean of the largest score is at least alpha (1 - (1 - p)^T)",
            ("holdout.monitor.Monitored", "holdout.transfer.monitor"),
            ("holdout/test_experiments.py::test_the_monitor",),
        ),
        Item(
            "Lemma 0.4", "theorem", "A private choice of a sample and a query generalises on average",
            ("holdout.transfer.expected",),
            ("holdout/test_transfer.py::test_private_choices_generalize_in_the_mean",),
        ),
        Item(
            "Definition 0.5", "definition", "Two variables are (epsilon, delta)-indistinguishable",
            ("laws.indistinguishable",),
            ("test_laws.py::test_indistinguishable_at_their_own_epsilon_and_not_below",),
        ),
        Item(
            "Lemma 0.6", "theorem", "Bounded functions of indistinguishable variables have close means",
            ("holdout.transfer.mean_bound", "laws.expectation"),
            ("holdout/test_transfer.py::test_means_of_close_laws",
             "test_laws.py::test_means_of_bounded_values_are_as_close_as_the_laws"),
        ),
        Item(
            "Step 4", "theorem", "Both bounds together: the chance of overfitting by 6 epsilon is small",
            ("holdout.transfer.monitor", "holdout.transfer.notes"),
            ("holdout/test_transfer.py::test_the_numbers_in_the_proofs",
             "holdout/test_transfer.py::test_the_monitor_is_at_least_as_good_as_the_theorem_made_of_it"),
        ),
    ),
)  # fmt: skip
