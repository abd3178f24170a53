"""What the numbers of a player's quantities (skill, draw margin, ...) are called wherever they stand in columns."""


def chain_columns(chain: str) -> tuple[str, str]:
    """What mean and sd of a chain are called: `mean`, `sd` of the skill, else `draw_margin`, `draw_margin_sd`."""
    return ("mean", "sd") if chain == "skill" else (chain, f"{chain}_sd")


def bridge_columns(chain: str) -> tuple[str, str, str, str, str, str]:
    """What is called how mean and sd of a chain go on: a, m, b, c, d and e of `ttt_cli.fitted.later_on`."""
    mean, sd = chain_columns(chain)
    return f"{mean}_step", f"{mean}_prior", f"{sd}_rise", f"{sd}_bend", f"{sd}_most", f"{sd}_prior"
