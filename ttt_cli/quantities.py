"""What the numbers of a player's quantities, and texts of games, are called wherever they stand in columns."""

from typing import Final

TEXT_COLUMNS: Final = ("event", "site", "round")


def chain_columns(chain: str) -> tuple[str, str]:
    """What mean and sd of a chain are called: `mean`, `sd` of the skill, else `draw_margin`, `draw_margin_sd`."""
    return ("mean", "sd") if chain == "skill" else (chain, f"{chain}_sd")


def bridge_columns(chain: str) -> tuple[str, ...]:
    """What is called how mean and sd of a chain go on: a, m, b, c, d and e of `ttt_cli.fitted.later_on`, its curve."""
    mean, sd = chain_columns(chain)
    way = f"{mean}_step", f"{mean}_prior", f"{sd}_rise", f"{sd}_bend", f"{sd}_most", f"{sd}_prior"
    return *way, *curve_columns(chain)


def curve_columns(chain: str) -> tuple[str, ...]:
    """What the parts of a `ttt_cli.histories.Curve` are called, times in periods."""
    mean, sd = chain_columns(chain)
    change = f"{mean}_growth", f"{mean}_growth_periods", f"{mean}_decline", f"{mean}_decline_after"
    return *change, f"{sd}_early", f"{sd}_early_periods"
