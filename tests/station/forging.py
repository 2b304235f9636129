"""Pieces of evidence, and everything that a forger does to one: edit, delete, swap, cut off, sign anew."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from controller.cli import main
from controller.journal.signing import Signer
from controller.station.bundle_check import check_bundle
from controller.station.export_check import check_export
from controller.station.sealing import Fault

FORGER = Signer(Ed25519PrivateKey.from_private_bytes(bytes(32)))
SIGNATURE = re.compile("[0-9a-f]{128}")
OTHER = {character: "0" if character != "0" else "1" for character in map(chr, range(32, 127))}


class Piece(NamedTuple):
    """A bundle (one file) or an export (files of a folder), in memory."""

    path: Path
    files: dict[str, bytes]

    @property
    def is_bundle(self) -> bool:
        return self.path.is_file()


def taken_out(config: Path, out: Path, *words: str) -> list[Piece]:
    """Export through the command line; return each bundle, or the one export."""
    assert main(["export", str(config), "--by", "boris", "--out", str(out), *words]) == 0
    if "bundle" in words:
        return [Piece(path, {path.name: path.read_bytes()}) for path in sorted(out.iterdir())]
    return [Piece(out, {path.name: path.read_bytes() for path in out.iterdir()})]


def faults(piece: Piece, files: dict[str, bytes], keys: frozenset[str]) -> Sequence[Fault]:
    """Check the piece with other files in its place."""
    folder = piece.path.parent if piece.is_bundle else piece.path
    for name, content in files.items():
        if content != piece.files[name]:
            (folder / name).write_bytes(content)
    try:
        check = check_bundle if piece.is_bundle else check_export
        return check(piece.path, keys).findings
    finally:
        for name, content in files.items():
            if content != piece.files[name]:
                (folder / name).write_bytes(piece.files[name])


Forgery = Callable[[dict[str, bytes], random.Random], dict[str, bytes]]


def _in_a_file(forge: Callable[[list[bytes], random.Random], list[bytes]], lines_min: int) -> Forgery:
    """Do something to the lines of one of the files, whichever has enough of them."""

    def forgery(files: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
        names = sorted(name for name in files if len(set(files[name].splitlines())) >= lines_min)
        name = chance.choice(names)
        lines = forge(files[name].splitlines(keepends=True), chance)
        return {**files, name: b"".join(lines)}

    return forgery


def _edit(lines: list[bytes], chance: random.Random) -> list[bytes]:
    """Change one character of one line; never a line end."""
    number = chance.randrange(len(lines))
    text = lines[number].decode().rstrip("\r\n")
    at = chance.randrange(len(text))
    changed = text[:at] + OTHER.get(text[at], "0") + text[at + 1 :]
    return [*lines[:number], lines[number].replace(text.encode(), changed.encode()), *lines[number + 1 :]]


def _delete(lines: list[bytes], chance: random.Random) -> list[bytes]:
    number = chance.randrange(len(lines))
    return lines[:number] + lines[number + 1 :]


def _swap(lines: list[bytes], chance: random.Random) -> list[bytes]:
    """Put two different lines in each other's place."""
    first = chance.randrange(len(lines))
    second = chance.choice([number for number, line in enumerate(lines) if line != lines[first]])
    swapped = list(lines)
    swapped[first], swapped[second] = lines[second], lines[first]
    return swapped


def _cut_off(files: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
    name = chance.choice(sorted(name for name in files if files[name]))
    return {**files, name: files[name][: chance.randrange(len(files[name]))]}


def _sign_anew(files: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
    """Change a number in a record, then make all hashes and signatures anew with a key of one's own."""
    if len(files) == 1:
        ((name, content),) = files.items()
        return {name: bundle_signed(_rounded(content, chance), FORGER, heads=True)}
    return _export_signed(files, chance)


FORGERIES: dict[str, Forgery] = {
    "edited": _in_a_file(_edit, 1),
    "deleted": _in_a_file(_delete, 1),
    "swapped": _in_a_file(_swap, 2),
    "cut off": _cut_off,
    "signed anew": _sign_anew,
}


def _rounded(content: bytes, chance: random.Random) -> bytes:
    """Change one digit of one message's text, if there is any to change."""
    records = [json.loads(line) for line in content.splitlines()]
    number = chance.choice([n for n, record in enumerate(records) if record["record"] == "message"])
    text = records[number]["text"]
    at = chance.choice([at for at, character in enumerate(text) if character.isdigit()])
    records[number]["text"] = text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :]
    return b"".join(line_of(record) for record in records)


def bundle_signed(content: bytes, signer: Signer, *, heads: bool) -> bytes:
    """Sign a bundle anew: the whole, and its heads too when `heads`."""
    records = [json.loads(line) for line in content.splitlines()][:-1]
    if heads:
        records[0]["public_key"] = signer.public_key
        for record in records:
            if record["record"] == "head":
                record["signature"] = signer.sign(record["text"]).signature
    body = b"".join(map(line_of, records))
    header = records[0]
    fields = (header["table"], header["environment"], header["roundid"], header["audience"], header["at_us"])
    text = "|".join(("tablectl:bundle:1", *map(str, fields), sha256(body).hexdigest()))
    signed = signer.sign(text)
    return body + line_of({"record": "end", "text": signed.text, "signature": signed.signature})


def _export_signed(files: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
    forged = _in_a_file(_edit, 2)({name: raw for name, raw in files.items() if "heads" not in name}, chance)
    forged = {**files, **forged, "manifest.jsonl": files["manifest.jsonl"]}
    manifest = json.loads(files["manifest.jsonl"].splitlines()[0])
    heads = f"heads.{manifest['form']}"
    text = forged[heads].decode()
    for line in text.splitlines():
        if "tablectl:head:1" in line:
            start = line.index("tablectl:head:1")
            head = line[start : start + len(line)].split('"')[0].split(",")[0]
            old = next(word for word in line.replace('"', ",").split(",") if SIGNATURE.fullmatch(word))
            text = text.replace(old, FORGER.sign(head).signature)
    forged[heads] = text.encode()
    for file in manifest["files"]:
        content = forged[file["name"]]
        file["sha256"], file["bytes"] = sha256(content).hexdigest(), len(content)
    manifest["public_key"] = FORGER.public_key
    line = line_of(manifest)[:-1]
    names = (manifest[name] for name in ("table", "environment", "range", "audience", "at_us"))
    signed = FORGER.sign("|".join(("tablectl:export:1", *map(str, names), sha256(line).hexdigest())))
    last = line_of({"text": signed.text, "signature": signed.signature})
    forged["manifest.jsonl"] = line + b"\n" + last
    return forged


def line_of(record: Any) -> bytes:
    """Return a record as the product writes it."""
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
