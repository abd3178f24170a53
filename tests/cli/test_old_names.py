"""Options of the version before work with a note."""

import pytest

from ttt_cli.cli.usage import OLD_NAMES, renamed


@pytest.mark.parametrize(("command", "old"), [("compare", "--test-from"), ("plot", "--since")])
def test_old_names_of_from_work_with_a_note(command: str, old: str) -> None:
    args, notes = renamed([command, old, "1900"])
    assert args == [command, "--from", "1900"]
    assert notes == [f"{old} is now --from; the next version will not have the old name"]
    assert renamed([command, f"{old}=1900"])[0] == [command, "--from=1900"]


def test_options_that_became_keys_set_them() -> None:
    assert renamed(["fit", "--min-games", "5", "--dedupe"])[0] == [
        *("fit", "-s", "data.filter.min_games=5", "-s", "data.filter.dedupe=true")
    ]
    assert set(OLD_NAMES) == {"fit", "games", "names", "compare", "plot", "simulate"}
