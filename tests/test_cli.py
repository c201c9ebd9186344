"""The command line says what the library says; what ends a command is a status and a message, and no traceback."""

import re

import pytest
from typer.testing import CliRunner

from tacit import mechanisms
from tacit.cli import app
from tacit.cli.output import record_table
from tacit.cli.theory import _figures
from tacit.core.accounting.accountants import failures
from tacit.core.accounting.best_bound import VIEWS
from tacit.core.errors import BadParameter, BadQuestion, LedgerUnavailable
from tacit.core.exact import from_above
from tacit.mix import mix
from tacit.workloads import METHODS

MIX = "100 x laplace eps=0.1, 5 x gaussian rho=0.01"


def run(*arguments):
    return CliRunner().invoke(app, list(arguments), terminal_width=200)


def test_theory_lists_and_states_methods_for_linear_queries():
    listed = run("theory").output
    for method in METHODS:
        assert f" {method.name} " in listed
        result = run("theory", method.name).output
        assert "Definition" in result and "Privacy" in result and "References" in result
    assert run("theory", "SmallDB").output == run("theory", "small_db").output
    assert "tacit plan" in " ".join(run("theory", "mwem", "epsilon=1").output.split())


def test_theory_lists_theorems_by_topic():
    listed = " ".join(run("theory").output.split())
    for topic in ("composition.groups", "theory.laplace", "holdout.transfer", "workloads.textbook"):
        assert topic in listed
        result = run("theory", topic)
        assert result.exit_code == 0 and f"from tacit.{topic} import" in result.output
    assert "group_zcdp(rho, k)" in run("theory", "composition.groups").output


def test_theory_of_several_answers_at_once():
    one, many = (run("theory", "gaussian", "sigma=10", *size).output for size in ([], ["size=100"]))
    assert "at most 20 " in one and "at most 35 " in many and "3,500" in many
    assert "parameter must be" in run("theory", "exponential", "epsilon=1", "size=3").output
    assert run("theory", "laplace", "epsilon=1", "size=x").output.startswith("size must be")
    assert "Leave the parameters out: these" in run("theory", "composition.groups", "epsilon=1").output


def test_theory_lists_and_states():
    assert "Laplace" in run("theory").output
    result = run("theory", "laplace", "epsilon=0.1")
    assert result.exit_code == 0 and "epsilon = 0.1" in result.output and "Utility" in result.output


def test_theory_says_what_rho_leaves_out():
    """Approximate zCDP is not zCDP: for each mechanism the rho is shown with the failure of its loss."""
    result = " ".join(run("theory", "keyselection", "epsilon=1", "delta=1e-6").output.split())
    assert "rho = 0.462118 at delta = 6.07897e-07: approximate zCDP" in result
    for kind in mechanisms.ALL:
        for example in kind.examples():
            loss = example.mechanism.loss()
            cells = list(_figures(example.mechanism, {}, "0.05", "0.01", "1e-6").columns[1].cells)
            rho = next((str(cell) for cell in cells if str(cell).startswith("rho = ")), "")
            assert not rho or ("approximate" in rho) == (failures(loss) > 0)


def test_compose_prints_what_every_view_proves():
    result = run("compose", MIX, "--delta", "1e-6")
    assert result.exit_code == 0, result.output
    assert mix(MIX).explain("1e-6") in result.output
    assert all(view.theorem in result.output for view in VIEWS)
    for delta in ("1e-3", "1e-6", "1e-9", "1e-12"):
        epsilon, group = (from_above(loss.epsilon(delta)) for loss in (mix(MIX), mix(MIX).group(2)))
        assert re.search(rf"{delta}\W+{re.escape(epsilon)}\W+{re.escape(group)}\W", result.output)


def test_another_delta_has_its_row_once():
    result = run("compose", "coin eps=1", "--delta", "0.001")
    assert result.output.count("0.001 ") >= 1 and "1e-3 " not in result.output


def test_compose_draws(tmp_path):
    picture = tmp_path / "mix.png"
    result = run("compose", "20 x laplace eps=0.1", "--plot", str(picture))
    assert result.exit_code == 0 and picture.read_bytes().startswith(b"\x89PNG")


def test_help_names_every_mechanism():
    assert all(name in run("compose", "--help").output for name in ("discrete-laplace", "zcdp", "[categories=]"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compose", "100 x laplac eps=0.1"], "at character 7"),
        (["compose", ""], "at character 1"),
        (["compose", "coin eps=1", "--delta", "3"], "delta must be"),
        (["compose", "coin eps=1", "--delta", "x"], "delta must be"),
        (["compose", "coin eps=1", "--delta", "0", "--plot", "x.png"], "delta must be"),
        (["compose", "coin eps=1", "--plot", "x.jpg"], "path must be"),
        (["compose", "coin eps=1", "--plot", "/nowhere/at/all/x.png"], "path must be"),
        (["compose"], "MIX"),
        (["theory", "nonesuch"], "'nonesuch' is not a name that `tacit theory` lists, nor a term of the lectures."),
        (["theory", "laplace", "epsilon=-1"], "epsilon must be"),
        (["theory", "laplace", "sigma=1"], "parameter must be"),
        (["theory", "above_threshold", "epsilon=1"], "AboveThreshold also needs threshold; give each as NAME=VALUE."),
        (["ledger", "open", "x.ledger", "epsilon=0", "--dataset", "people"], "epsilon must be positive; got 0"),
        (["ledger", "open", "x.ledger", "epsilon=1", "--dataset", "Bad Name"], "name must be a small letter"),
        (["nonesuch"], "nonesuch"),
    ],
)
def test_bad_input_is_refused_in_words(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split()) and "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_a_refusal_is_all_that_is_printed():
    assert run("theory", "laplace", "epsilon=abc").output.startswith("epsilon must be")


def test_some_mechanisms_are_audited_by_name():
    output = run("audit", "laplace", "permute-and-flip", "--samples", "0").output
    assert "Laplace(" in output and "PermuteAndFlip(" in output and "Gaussian" not in output and "all hold" in output
    assert "There is no mechanism 'nonesuch'. `tacit theory` lists" in run("audit", "nonesuch").output


def test_a_figure_that_depends_on_more_says_on_what():
    assert "add cells=..." in run("theory", "quantiles", "epsilon=1").output


def test_a_cell_of_which_nothing_is_known_is_a_dash():
    (column,) = record_table([{"proved": None}, {"proved": 0.5}]).columns
    assert list(column.cells) == ["-", "0.5"]


ENDED = {
    "tacit.tour.parts": ("tour",),
    "tacit.cli.theory.mechanism_named": ("theory", "laplace"),
    "tacit.cli.compose.mix": ("compose", MIX),
    "tacit.workloads.comparison.compare": ("compare", "2x2"),
    "tacit.holdout.overfit": ("holdout", "demo"),
    "tacit.holdout.compare": ("holdout", "plan", "100", "10"),
    "tacit.holdout.simulate_monitor": ("holdout", "monitor"),
    "tacit.audit.package": ("audit",),
    "tacit.testing.attacks.table": ("attack", "all"),
    "tacit.audit.attacks.compare": ("attack", "reconstruct"),
    "tacit.cli.audit._function": ("audit", "module:function", "--claim", "1", "--pair", "0,1"),
    "tacit.holdout.board.attack.attack": ("attack", "board"),
    "tacit.holdout.board.files.read_solution": ("board", "open", "b.ledger", "solution.csv", "--teams", "2"),
    "tacit.query.schema.draft.describe": ("init", "people.csv"),
    "tacit.cli.tables.QuestionOptions.offer": ("offer", "people.csv", "SELECT COUNT(*) FROM people"),
    "tacit.cli.table_options.TableOptions.curator": ("ask", "people.csv", "SELECT COUNT(*) FROM people"),
    "tacit.cli.table_options.TableOptions.table": ("plan", "people.csv", "age"),
    "tacit.ledger.Ledger.open": ("ledger", "show", "people.ledger"),
}


@pytest.mark.parametrize("called", ENDED)
@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (BadQuestion("this is not to be asked"), 3),
        (BadParameter("n", 0, "at least 1"), 2),
        (LedgerUnavailable("people.ledger", "it is elsewhere"), 2),
        (FileNotFoundError(2, "no such file", "people.csv"), 2),
        (KeyboardInterrupt(), 130),
    ],
    ids=lambda given: type(given).__name__ if isinstance(given, BaseException) else str(given),
)
def test_every_command_reports_what_ends_it_alike(monkeypatch, called, problem, code):
    def ended(*_, **__):
        raise problem

    monkeypatch.setattr(called, ended)
    result = run(*ENDED[called])
    printed = " ".join(result.output.split())
    assert result.exit_code == code, printed
    if code < 130:
        assert " ".join(str(problem).split()) in printed
    else:
        bought = " What was charged stays charged; ask again to complete it."
        assert printed.endswith(f"Interrupted.{bought if ENDED[called][0] == 'ask' else ''}")
