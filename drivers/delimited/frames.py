"""One frame of a delimited scanner: written by `encode`, read and judged once it has been cut out."""

from __future__ import annotations

from functools import reduce
from operator import xor

from drivers.contract import CodeRead, FailedReadCause, Garbage, ReadFailed
from drivers.delimited.options import (
    CR,
    ETX,
    LF,
    STX,
    DelimitedOptions,
    Envelope,
    Terminator,
    has_printable,
    is_printable,
)
from drivers.line_hints import PROBE, is_probe

AIM_LENGTH = 3
NOISE = "bytes outside printable ASCII"
EMPTY = "terminator without a frame"
SURPLUS = "bytes beyond the longest possible frame"

_ENDS = {Terminator.LF: b"\n", Terminator.CR: b"\r", Terminator.CR_LF: b"\r\n", Terminator.NONE: b""}


def encode(data: str, options: DelimitedOptions) -> bytes:
    """Frame `data` as the scanner sends it. Raises ValueError for what no frame can carry."""
    if not data or not is_printable(data.encode()):
        raise ValueError(f"{data!r} is not printable ASCII")
    body = (options.prefix + data + options.postfix).encode() + _ENDS[options.terminator]
    match options.envelope:
        case Envelope.NONE:
            return body
        case Envelope.STX_ETX:
            return bytes((STX, *body, ETX))
        case Envelope.STX_ETX_LRC:
            return bytes((STX, *body, ETX, checksum(body)))


def checksum(body: bytes) -> int:
    """Return the LRC of an envelope that holds `body`: the XOR of everything behind STX, ETX too."""
    return reduce(xor, body, ETX)


def read_line(line: bytes, options: DelimitedOptions) -> CodeRead | ReadFailed | Garbage:
    """Return what a line says: everything between two end bytes, both exclusive."""
    body = line
    if options.terminator is Terminator.CR:
        body = line.removeprefix(b"\n")
    elif line.endswith(b"\r"):
        body = line[:-1]
    elif options.terminator is Terminator.CR_LF:
        return judge(line, FailedReadCause.DAMAGED, len(line) + 1)
    count = len(line) + 1
    return _read_body(body, options, count) or judge(line, FailedReadCause.DAMAGED, count)


def read_envelope(held: bytes, lrc: int | None, options: DelimitedOptions) -> CodeRead | ReadFailed | Garbage:
    """Return what an envelope says, STX and ETX inclusive; `lrc` is the byte behind it where there is one."""
    inside, end = held[1:-1], _ENDS[options.terminator]
    is_right = lrc == (checksum(inside) if options.envelope is Envelope.STX_ETX_LRC else None)
    is_whole = held[:1] == bytes((STX,)) and inside.endswith(end) and is_right
    count = len(held) + (0 if lrc is None else 1)
    read = _read_body(inside.removesuffix(end), options, count) if is_whole else None
    return read or judge(held, FailedReadCause.DAMAGED, count)


def _read_body(body: bytes, options: DelimitedOptions, count: int) -> CodeRead | ReadFailed | Garbage | None:
    """Return what a frame of `count` bytes says without its ends, None when it is damaged."""
    prefix, postfix = options.prefix.encode(), options.postfix.encode()
    data = body.removeprefix(prefix).removesuffix(postfix)
    if prefix + data + postfix != body or not is_printable(data) or not data:
        return None
    if is_probe(data):
        return Garbage(count, PROBE)
    return _read_data(data.decode("ascii"), options)


def _read_data(data: str, options: DelimitedOptions) -> CodeRead | ReadFailed:
    has_aim_id = len(data) >= AIM_LENGTH and data[0] == "]" and data[1].isalpha() and data[2].isalnum()
    code = data[AIM_LENGTH:] if options.aim_id and has_aim_id else data
    if code in options.no_read:
        return ReadFailed(FailedReadCause.NO_READ)
    if not options.min_length <= len(code) <= options.max_length:
        return ReadFailed(FailedReadCause.WRONG_LENGTH)
    return CodeRead(code)


def judge(held: bytes, cause: FailedReadCause, count: int) -> ReadFailed | Garbage:
    """Judge what gives no code, `count` bytes long with its end; the rule is in the package's docstring."""
    if is_probe(held):
        return Garbage(count, PROBE)
    if has_printable(held):
        return ReadFailed(cause)
    return Garbage(count, NOISE if held.strip(bytes((CR, LF, STX, ETX))) else EMPTY)
