"""Texts of a few hundred bytes that a parser may take long for: every word it knows, nested, repeated and mixed."""

import random
from collections.abc import Iterator
from itertools import pairwise

from sqlglot.parser import Parser
from sqlglot.tokens import Tokenizer

LONGEST = 300
WORDS = sorted(
    {
        *(word for word in Tokenizer.KEYWORDS if word.isprintable()),
        *Parser.FUNCTIONS,
        *Parser.FUNCTION_PARSERS,
        *Parser.NO_PAREN_FUNCTION_PARSERS,
        *(kind.name for kind in Parser.TYPE_TOKENS),
    }
)
OPEN = ["(", " ", " (", "[", "<", "{", "((", "(1, ", "(age, ", "(age ", "(DISTINCT ", "(SELECT ", " AS (", " '1' "]
OPEN += [" (age) -> ", ":", "::", " = ", " WHEN ", "(age AS ", " BETWEEN ", " IN (", " NOT ", " IS ", "(x => "]
OPEN += [", ", ".", "(*, ", " OVER (", "/*+", "(VALUES "]
CLOSE = {"(": ")", "[": "]", "<": ">", "{": "}"}
CORES = ["1", "age", "*", "'a'", "", "SELECT 1", "age AS x", "COUNT(*)", "DATE '2020-01-01'", "INTERVAL '1' DAY"]
CORES += ["NULL", ")"]
PLACES = [
    ("SELECT ", " FROM people"),
    ("SELECT COUNT(*) FROM people WHERE ", ""),
    ("SELECT COUNT(*) FROM ", ""),
    ("SELECT COUNT(*) FROM people ", ""),
    ("SELECT COUNT(*) FROM people GROUP BY ", ""),
    ("SELECT COUNT(*) AS n FROM people ORDER BY ", ""),
    ("SELECT SUM(", ") FROM people"),
    ("SELECT CAST(age AS ", ") FROM people"),
    ("WITH ", " SELECT COUNT(*) FROM people"),
    ("SELECT COUNT(*) FROM people HAVING ", ""),
    ("SELECT COUNT(*) FROM people JOIN ", ""),
    ("", ""),
]


def nested(rng: random.Random, words: list[str]) -> str:
    """Some words, each with what may open after it, repeated as often as fits, around a core, and closed again."""
    before, after = rng.choice(PLACES)
    opening = "".join(word + rng.choice(OPEN) for word in words)
    closing = "".join(CLOSE[c] for c in reversed(opening) if c in CLOSE)
    core, room = rng.choice(CORES), LONGEST - len(before) - len(after) - 20
    times = max(1, room // (len(opening) + len(closing)))
    return before + opening * times + core + (closing * times if rng.random() < 0.7 else "") + after


def soup(rng: random.Random) -> str:
    """Words in any order."""
    before, after = rng.choice(PLACES)
    text = ""
    while len(text) < LONGEST - 60:
        text += rng.choice(WORDS) + rng.choice(OPEN) + rng.choice(["", "", "age ", "1", ") ", "'a' "])
    return before + text + after


UNDERSTOOD = [
    "ABS({})",
    "-{}",
    "ROUND({}, 1)",
    "({} + {})",
    "({} * {})",
    "({} / {})",
    "{} DIV 7",
    "({} % 9)",
    "CEIL({})",
]
UNDERSTOOD += ["LEAST({}, {})", "GREATEST({}, 3, {})", "COALESCE({}, {})", "NULLIF({}, {})", "POW({}, 9)"]
UNDERSTOOD += [
    "CASE WHEN {} > 3 THEN {} ELSE {} END",
    "CAST({} AS INTEGER)",
    "CLAMP({}, -9, 9)",
    "{} BETWEEN {} AND {}",
]
UNDERSTOOD += ["{} IN ({}, 3)", "NOT {}", "{} = {}", "{} AND {}", "{} IS NULL", "IF({}, {}, {})", "MONTH(joined + {})"]
UNDERSTOOD += ["DATE_TRUNC('week', joined - {})", "EXTRACT(DOY FROM joined + {})", "(joined - joined - {})"]
LEAVES = ["age", "spend", "free", "1", "0.1", "age", "member", "COUNT(*)", "SUM(age)"]


def understood(rng: random.Random) -> str:
    """What has a meaning, or nearly: expressions, aliases of aliases, subqueries of subqueries, joins."""
    e = rng.choice(LEAVES)
    while len(e) < 150:
        pattern = rng.choice(UNDERSTOOD)
        e = pattern.format(*[e if i == 0 or rng.random() < 0.5 else rng.choice(LEAVES) for i in range(3)])
        if rng.random() < 0.1:
            break
    match rng.randrange(6):
        case 0:
            names = [f"c{i}" for i in range(18)]
            items = [f"{b}{rng.choice('+*')}{b} {a}" for a, b in pairwise(names)]
            rng.shuffle(items)
            inner = f"{','.join(items)}, {rng.choice(['COUNT(*)', 'SUM(age)'])} c17"
            where = rng.choice(["people", "(SELECT person_id, {} FROM people GROUP BY person_id)"])
            return f"SELECT {inner} FROM people" if where == "people" else f"SELECT SUM(c0) FROM {where.format(inner)}"
        case 1:
            depth = rng.randint(1, 16)
            return (
                "SELECT COUNT(*) FROM " + "(SELECT * FROM " * depth + "people" + ")" * depth + f" WHERE {e[:100]} > 3"
            )
        case 2:
            return f"SELECT {e[:150]} AS k, COUNT(*), MEDIAN(age) FROM people GROUP BY k"
        case 3:
            return "SELECT COUNT(*) FROM people" + " JOIN regions USING (region)" * rng.randint(1, 8)
        case 4:
            return f"SELECT COUNT(*) FROM people WHERE {e[:200]}"
    return f"SELECT SUM({e[:200]}), AVG({rng.choice(LEAVES)}) FROM people"


def texts(seed: int) -> Iterator[str]:
    """Without end: first every word by itself in some place, then words together."""
    rng = random.Random(seed)
    for word in rng.sample(WORDS, len(WORDS)):
        yield nested(rng, [word])
    while True:
        words = [rng.choice(WORDS) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
        chance = rng.random()
        yield understood(rng) if chance < 0.35 else soup(rng) if chance < 0.5 else nested(rng, words)
