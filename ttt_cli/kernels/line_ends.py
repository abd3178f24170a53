"""Ends of lines made plain."""

from __future__ import annotations

from ttt_cli.kernels.compile import kernel

_LF, _CR = b"\n\r"


@kernel("int64(Array(uint8, 1, 'C', True), uint8[::1])")
def line_feeds(data, plain):
    """Fill `plain`, as long as `data`, with it, CR LF and CR become LF; returns how many bytes that takes."""
    count = 0
    last = len(data) - 1
    for i in range(last):
        byte = data[i]
        plain[count] = _LF if byte == _CR else byte
        count += not (byte == _CR and data[i + 1] == _LF)
    if last >= 0:
        plain[count] = _LF if data[last] == _CR else data[last]
        count += 1
    return count
