from ttt_cli.progress import announce, listening


def test_announcements_reach_those_who_listen_and_nobody_else() -> None:
    first: list[str] = []
    second: list[str] = []
    announce("before")
    with listening(first.append):
        announce("one")
        with listening(second.append):
            announce("two")
    announce("after")
    assert (first, second) == (["one", "two"], ["two"])
