from ttt_cli.support.progress import Wait, announce, listening


def test_announcements_reach_those_who_listen_and_nobody_else() -> None:
    first: list[Wait] = []
    second: list[Wait] = []
    waits = [Wait("compiling", done, over=done == 3) for done in range(4)]
    announce(waits[0])
    with listening(first.append):
        announce(waits[1])
        with listening(second.append):
            announce(waits[2])
    announce(waits[3])
    assert (first, second) == ([waits[1], waits[2]], [waits[2]])
