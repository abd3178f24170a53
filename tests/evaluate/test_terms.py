"""What terms are worth: against fits of configs that never had the term."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.builders import make_games, random_rows
from ttt_cli import api
from ttt_cli.evaluate.terms import worth_of_terms
from ttt_cli.games.people import PeopleTable
from ttt_cli.support.errors import ConfigError

PLAIN = {
    "model": "ttt",
    "beta": 500.0,
    "draw_margin": 120.0,
    "prior_sd": 300.0,
    "decline": 12.0,
    "decline_after": 2.0,
    "posterior": "factorised",
    "tol": 1e-7,
}
TERMS = {
    "white_advantage": {"white_advantage": "estimate"},
    "growth": {"growth": 150.0},
    "covariates.activity": {"covariates": {"activity": "estimate"}},
    "newcomers_by.federation": {"newcomers_by": ["federation"]},
}


def test_a_term_is_worth_the_evidence_that_a_run_without_it_lacks() -> None:
    """Estimated parameters stay at the estimates; dependent ones (growth_years) do not matter."""
    games = make_games(random_rows(4, 60, 8, 6))
    federation = {name: (("GER", "SUI")[number % 2],) for number, name in enumerate(games.players)}
    games = replace(games, people=PeopleTable(("federation",), federation))
    settings = {key: value for term in TERMS.values() for key, value in term.items()}
    run = api.fit(games, **PLAIN, **settings)
    estimates = {
        "white_advantage": run.meta.params["white_advantage"],
        "covariates": {"activity": run.meta.params["covariates.activity"]},
    }
    worths = {worth.term: worth for worth in worth_of_terms(run)}
    assert worths.keys() == {*TERMS, "decline"}
    assert worths["decline"].value == 12.0
    for term, keys in TERMS.items():
        fixed = {**PLAIN, **settings, **estimates}
        for key in keys:
            del fixed[key]
        without = api.fit(games, **fixed).meta.log_evidence
        assert worths[term].log_evidence == pytest.approx(without, abs=2e-3)
        assert worths[term].worth == pytest.approx(run.meta.log_evidence - without, abs=4e-3)
        assert worths[term].converged


def test_systems_without_evidence_have_no_worth() -> None:
    run = api.fit(make_games(random_rows(1, 20)), model="edo")
    with pytest.raises(ConfigError, match="edo has no evidence"):
        worth_of_terms(run)
