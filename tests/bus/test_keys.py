"""Key files and the allow-list: what is read, what is refused with which words, and what is never shown."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from controller.bus.allowed import AllowedKey, AllowList, KeyRole, read_allowed, role_of
from controller.bus.errors import KeyFileUnusable
from controller.bus.keys import ClientKeys, KeyPair, public_path, read_pair, read_public, write_pair


@pytest.fixture
def pair() -> KeyPair:
    return KeyPair.draw()


def written(path: Path, text: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(text)
    path.chmod(mode)
    return path


def test_a_pair_is_two_private_files_and_never_replaced(tmp_path: Path, pair: KeyPair) -> None:
    path = tmp_path / "keys" / "wallet.key"
    os.umask(os.umask(0))  # Whatever the umask is, the mode is ours.
    write_pair(path, pair)
    assert [file.stat().st_mode & 0o777 for file in (path, public_path(path))] == [0o600, 0o600]
    assert read_pair(path) == pair and read_public(public_path(path)) == pair.public
    assert ClientKeys.read(path, public_path(path)) == ClientKeys(pair, pair.public)
    path.unlink()
    with pytest.raises(KeyFileUnusable, match="no key is replaced"):
        write_pair(path, KeyPair.draw())
    assert not path.exists()
    with pytest.raises(KeyFileUnusable, match="git ignores"):
        write_pair(tmp_path / "wallet.secret", pair)


@pytest.mark.parametrize("around", ["{}", "{}\n", "{}\r\n", " {}\n\n", "\t{} "])
def test_white_space_around_a_key_does_not_count(tmp_path: Path, pair: KeyPair, around: str) -> None:
    path = written(tmp_path / "a.key", around.format(pair.secret).encode())
    written(public_path(path), around.format(pair.public).encode())
    assert ClientKeys.read(path, public_path(path)).own == pair


@pytest.mark.parametrize(
    ("text", "because"),
    [
        (b"", "holds 0 characters, expected the 40"),
        (b"x" * 39, "holds 39 characters"),
        (b"x" * 40 + b"\nx", "holds 42 characters"),
        (b"~" * 40, "is no Z85"),
        (b"\xff" * 40, "is no Z85"),
        (b"#" * 40, "is no Z85"),
    ],
)
def test_what_is_no_key_is_said_without_repeating_it(tmp_path: Path, text: bytes, because: str) -> None:
    path = written(tmp_path / "a.key", text)
    with pytest.raises(KeyFileUnusable, match=because) as refused:
        read_pair(path)
    assert text.decode("latin-1")[:3] not in str(refused.value).replace(str(path), "") or not text


def test_a_secret_that_others_can_read_and_one_in_place_of_a_public_key_are_refused(
    tmp_path: Path, pair: KeyPair
) -> None:
    path = written(tmp_path / "a.key", pair.secret.encode(), 0o640)
    with pytest.raises(KeyFileUnusable, match="mode 0640, expected 0600"):
        read_pair(path)
    with pytest.raises(KeyFileUnusable, match=r"is a secret key, expected a public one: .*a\.key\.pub"):
        read_public(path)
    with pytest.raises(KeyFileUnusable, match=r"No such file.*tablectl keys create"):
        read_public(public_path(path))
    assert pair.secret not in repr(pair) and pair.secret not in repr(ClientKeys(pair, pair.public))


def test_a_public_key_in_the_place_of_its_secret_one_is_refused(tmp_path: Path, pair: KeyPair) -> None:
    """Any 32 bytes are a secret key: a table would take it, and no consumer would come in again."""
    path = tmp_path / "a.key"
    write_pair(path, pair)
    path.write_text(pair.public + "\n")
    with pytest.raises(KeyFileUnusable, match="holds the public key, expected the secret one"):
        read_pair(path)


@pytest.mark.parametrize("kind", ["pipe", "directory", "device", "long"])
def test_what_is_no_file_of_keys_is_refused_and_not_waited_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.key"
    match kind:
        case "pipe":
            os.mkfifo(path, 0o600)
        case "directory":
            path.mkdir()
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            written(path, b"k" * (1 << 21))
    for read in (read_pair, read_allowed):
        with pytest.raises(KeyFileUnusable, match=r"is no file, expected one with keys|is longer than"):
            read(path)


def test_the_list_says_who_may_what(tmp_path: Path) -> None:
    path = tmp_path / "allowed.json"
    assert read_allowed(path) == AllowList(), "no file allows nobody"
    one, other = (AllowedKey(KeyPair.draw().public, roles) for roles in ((KeyRole.PUBLIC,), tuple(KeyRole)))
    allowed = AllowList().with_key("overlay", one).with_key("wallet-1", other)
    written(path, msgspec.json.encode(allowed))
    assert read_allowed(path) == allowed
    assert allowed.may(KeyRole.PUBLIC) == {one.public, other.public}
    assert allowed.may(KeyRole.AUDIT) == {other.public}
    assert allowed.holder_of(one.public) == "overlay" and allowed.holder_of(KeyPair.draw().public) is None
    assert allowed.without("overlay").may(KeyRole.PUBLIC) == {other.public}
    doors = ("live.audit", "replay.audit", "commands.betting", "live.betting")
    assert [role_of(door) for door in doors] == ["audit", "audit", "commands.betting", "betting"]


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("{", "is no list of keys"),
        ('{"keys": {"A b": {"public": "%s", "roles": []}}}', "is no list of keys"),
        ('{"keys": {"a": {"public": "%s", "roles": ["boss"]}}}', "boss"),
        ('{"keys": {"a": {"public": "short", "roles": []}}}', "holds 5 characters"),
        ('{"keys": {"a": {"public": "%s", "roles": [], "note": 1}}}', "note"),
        ('{"key": {}}', "key"),
    ],
)
def test_a_list_that_is_none_is_refused(tmp_path: Path, text: str, because: str) -> None:
    path = written(tmp_path / "allowed.json", text.replace("%s", KeyPair.draw().public).encode())
    with pytest.raises(KeyFileUnusable, match=because):
        read_allowed(path)


def test_a_list_that_others_can_change_or_with_one_key_twice_is_refused(tmp_path: Path) -> None:
    key = AllowedKey(KeyPair.draw().public, ())
    twice = msgspec.json.encode(AllowList().with_key("a", key).with_key("b", key))
    path = written(tmp_path / "allowed.json", twice)
    with pytest.raises(KeyFileUnusable, match="one key stands under two names"):
        read_allowed(path)
    path.chmod(0o620)
    with pytest.raises(KeyFileUnusable, match="mode 0620, expected 0600: others can allow themselves"):
        read_allowed(path)
