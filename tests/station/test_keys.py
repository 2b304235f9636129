"""`[bus]` in a table's file, `tablectl keys`, and a daemon whose keys change while it runs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import zmq
from bus.house import free_ports
from station.recorded import write_config

from controller.bus.client import ClientKeys, CommandClient
from controller.bus.endpoints import connect
from controller.bus.keys import KeyPair, public_path, read_pair, write_pair
from controller.cli import main
from controller.station import keys_check
from controller.station.config import load
from controller.station.errors import ConfigError
from controller.table.inputs import BetsTaken

DOORS = ("live.public", "replay.public", "live.settlement", "replay.settlement", "commands.betting")


def keys(*words: object) -> int:
    return main(["keys", *map(str, words)])


def with_bus(folder: Path, section: str) -> Path:
    path = write_config(folder)
    path.write_text(path.read_text() + "\n" + section)
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table whose bus leaves the machine, with keys of its own."""
    live, replay, settled, again, bets = (f'"tcp://127.0.0.1:{port}"' for port in free_ports(len(DOORS)))
    path = with_bus(
        tmp_path,
        f"[bus.live]\npublic = {live}\nsettlement = {settled}\n[bus.replay]\npublic = {replay}\n"
        f"settlement = {again}\n[bus.commands]\nbetting = {bets}\n",
    )
    assert keys("create", path) == 0
    return path


@pytest.fixture
def wallet(tmp_path: Path) -> Path:
    """A consumer's secret key."""
    path = tmp_path / "wallet.key"
    assert keys("create", path) == 0
    return path


# The table's file.


def test_a_table_without_the_section_stays_on_its_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_config(tmp_path)
    assert load(path).bus is None
    assert keys("list", path) == 1
    assert "needs no keys; write [bus]" in capsys.readouterr().err


def test_key_and_list_lie_beside_the_journal_or_where_the_file_says(tmp_path: Path) -> None:
    addresses = '[bus.commands]\nbetting = "tcp://10.0.0.5:5600"\n'
    path = with_bus(tmp_path, addresses)
    found = load(path).bus
    assert found is not None
    run = load(path).table_dir
    assert (found.key, found.allowed) == (run / "bus.key", run / "bus.allowed.json")
    assert found.doors == {"commands.betting": "tcp://10.0.0.5:5600"}
    found = load(with_bus(tmp_path, '[bus]\nkey = "../k/a.key"\nallowed = "../k/a.json"\n' + addresses)).bus
    assert found is not None
    assert (found.key, found.allowed) == (tmp_path / "k" / "a.key", tmp_path / "k" / "a.json")


@pytest.mark.parametrize(
    ("section", "because"),
    [
        ('[bus]\nkey = "a.key"\n', "names no address"),
        ('[bus]\nkeys = "a.key"\n', "bus.*did you mean 'key'|bus.*key"),
        ('[bus.commands]\nbeting = "tcp://10.0.0.5:5600"\n', "betting"),
        ('[bus.commands]\nbetting = "ipc:///x"\n', r"bus.commands.betting: ipc:///x: .*take no keys"),
        ('[bus.commands]\nbetting = "tcp://studio:5600"\n', "an address of this machine"),
        ('[bus.commands]\nbetting = "tcp://*:5600"\n', "an address of this machine"),
        ('[bus.commands]\nbetting = "tcp://10.0.0.5:0"\n', "port '0'"),
        ('[bus.live]\naudit = "tcp://10.0.0.5:5600"\n', "bus.replay.audit: missing"),
        ('[bus.replay]\naudit = "tcp://10.0.0.5:5600"\n', "bus.live.audit: missing"),
        (
            '[bus.commands]\nbetting = "tcp://10.0.0.5:5600"\noperator = "tcp://10.0.0.5:5600"\n',
            r"tcp://10.0.0.5:5600 stands twice",
        ),
    ],
)
def test_a_section_that_makes_no_sense_is_refused(tmp_path: Path, section: str, because: str) -> None:
    with pytest.raises(ConfigError, match=because):
        load(with_bus(tmp_path, section))


# The command.


def test_keys_are_allowed_changed_and_revoked(
    table: Path, wallet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    public, allowed = public_path(wallet), load(table).bus
    assert allowed is not None
    assert keys("allow", table, "wallet", public, "--role", "settlement", "--role", "commands.consumer") == 0
    assert allowed.allowed.stat().st_mode & 0o777 == 0o600
    assert keys("allow", table, "wallet", public, "--role", "settlement") == 0, "other roles"
    capsys.readouterr()
    assert keys("list", table, "--json") == 0
    own, entry = map(json.loads, capsys.readouterr().out.splitlines())
    assert own == {"table": read_pair(allowed.key).public, "doors": dict(allowed.doors)}
    assert entry == {"name": "wallet", "public": read_pair(wallet).public, "roles": ["settlement"]}
    assert keys("list", table) == 0
    assert "wallet" in capsys.readouterr().out

    def refused(because: str, *words: object) -> None:
        assert keys(*words) == 1
        assert because in capsys.readouterr().err

    other = tmp_path / "other.key"
    write_pair(other, KeyPair.draw())
    refused("is wallet's", "allow", table, "thief", public, "--role", "audit")
    refused("keys rotate CONFIG wallet", "allow", table, "wallet", public_path(other), "--role", "audit")
    refused("is a secret key", "allow", table, "w2", other, "--role", "audit")
    refused("nothing was changed", "allow", table, "No Name", public_path(other), "--role", "audit")
    refused("there is wallet", "revoke", table, "walet")
    refused("there is wallet", "rotate", table, "walet", public_path(other))
    assert keys("rotate", table, "wallet") == 2
    assert keys("rotate", table, "wallet", public_path(other)) == 0
    capsys.readouterr()
    assert keys("list", table, "--json") == 0
    assert json.loads(capsys.readouterr().out.splitlines()[1]) == {
        "name": "wallet",
        "public": read_pair(other).public,
        "roles": ["settlement"],
    }
    assert keys("revoke", table, "wallet") == 0
    refused("there is nobody", "revoke", table, "wallet")


def test_a_tables_own_pair_is_drawn_anew_only_by_rotate(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bus = load(table).bus
    assert bus is not None
    first = read_pair(bus.key)
    assert keys("create", table) == 1
    assert read_pair(bus.key) == first
    assert keys("rotate", table) == 0
    second = read_pair(bus.key)
    assert second != first and public_path(bus.key).read_text().strip() == second.public
    assert [path.stat().st_mode & 0o777 for path in (bus.key, public_path(bus.key))] == [0o600, 0o600]
    assert not any(pair.secret in "".join(capsys.readouterr()) for pair in (first, second))


def test_generated_keys_never_come_into_git(table: Path, wallet: Path) -> None:
    root = Path(__file__).parents[2]
    bus = load(table).bus
    assert bus is not None
    for path in (wallet, public_path(wallet), bus.key, public_path(bus.key)):
        ignored = subprocess.run(["git", "check-ignore", "-q", path.name], cwd=root, check=False)
        assert ignored.returncode == 0, path.name


def test_the_check_says_which_key_is_wrong(
    table: Path, wallet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bus = load(table).bus
    assert bus is not None
    public, server = public_path(wallet), public_path(bus.key)
    asked = ("check", table, "--key", wallet, "--server", server)

    def found(because: str, *words: object) -> None:
        capsys.readouterr()
        assert keys(*words) == 1
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1 and because in lines[0], lines

    assert keys("check", table) == 0
    found("is not in", *asked)
    assert keys("allow", table, "wallet", public, "--role", "public") == 0
    assert keys(*asked) == 0 == keys("check", table, "--key", public, "--role", "public")
    found("is wallet's, with the role public, expected settlement", *asked, "--role", "settlement")
    assert keys("allow", table, "wallet", public, "--role", "audit") == 0
    found("no endpoint of audit leaves the machine", *asked, "--role", "audit")
    other = tmp_path / "other.key"
    write_pair(other, KeyPair.draw())
    found("is not this table's public key", "check", table, "--server", public_path(other))
    found(
        "own public key, expected the table's", "check", "tcp://127.0.0.1:9", *asked[2:4], "--server", public
    )
    wallet.chmod(0o644)
    found("mode 0644, expected 0600", *asked)
    wallet.chmod(0o600)
    wallet.write_text(wallet.read_text() + "\n\n")
    assert keys(*asked) == 0, "stray newlines do not count"
    wallet.write_text(read_pair(other).secret)
    found("are not of one pair", *asked)
    bus.allowed.write_text("{")
    found("is no list of keys", "check", table)
    bus.allowed.unlink()
    server.write_text(read_pair(other).public)
    found("are not of one pair", "check", table)
    bus.key.unlink()
    found("tablectl keys create", "check", table)
    assert keys("check", "tcp://127.0.0.1:9", "--key", other) == 2


# A daemon.


@contextmanager
def running(table: Path) -> Iterator[list[dict[str, Any]]]:
    """Run the daemon of a table; it ends within two seconds, whoever is connected. Its log, in the end."""
    words = [sys.executable, "-m", "controller.cli", "run", str(table)]
    daemon = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    log: list[dict[str, Any]] = []
    assert daemon.stderr is not None
    try:
        assert any("the table runs" in line for line in daemon.stderr), "the daemon has not started"
        yield log
    finally:
        at = time.monotonic()
        daemon.terminate()
        log += [json.loads(line) for line in daemon.stderr]
        assert daemon.wait(5) == 0, log
        assert time.monotonic() - at < 2


class Listener:
    """Hears settlement as libzmq gives it, without the client that would ask again."""

    def __init__(self, endpoint: str, own: Path, server: Path) -> None:
        self.socket = zmq.Context.instance().socket(zmq.SUB)
        self.socket.subscribe(b"")
        connect(self.socket, endpoint, ClientKeys.read(own, server))

    def hears(self, for_s: float) -> int:
        """Return how many messages come within a time."""
        end, count = time.monotonic() + for_s, 0
        while (left := end - time.monotonic()) > 0:
            if self.socket.poll(max(1, int(left * 1_000))):
                self.socket.recv()
                count += 1
        return count


def test_a_running_table_lets_in_who_is_allowed_and_throws_out_who_is_revoked(
    table: Path,
    wallet: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bus = load(table).bus
    assert bus is not None
    server, backup, live = public_path(bus.key), tmp_path / "backup.key", bus.doors["live.settlement"]
    write_pair(backup, KeyPair.draw())

    def found(because: str, *words: object, knock_s: float = keys_check.KNOCK_S) -> None:
        capsys.readouterr()
        monkeypatch.setattr(keys_check, "KNOCK_S", knock_s)
        assert keys("check", *words) == 1
        assert because in capsys.readouterr().err
        monkeypatch.undo()

    found("nobody listens there", live, "--key", wallet, "--server", server, knock_s=0.3)
    for name, path in (("wallet", wallet), ("backup", backup)):
        roles = ("--role", "settlement", "--role", "commands.betting")
        assert keys("allow", table, name, public_path(path), *roles) == 0
    with running(table) as log:
        assert keys("check", live, "--key", wallet, "--server", server) == 0
        assert keys("check", bus.doors["replay.settlement"], "--key", wallet, "--server", server) == 0
        found("refuses", bus.doors["live.public"], "--key", wallet, "--server", server)
        found("not the public key", live, "--key", wallet, "--server", public_path(backup), knock_s=1.0)
        bets = CommandClient(bus.doors["commands.betting"], "bets", keys=ClientKeys.read(wallet, server))
        assert bets.send(BetsTaken({}), round_no=1).reason is not None, "answered, though no round is open"
        revoked, kept = (Listener(live, path, server) for path in (wallet, backup))
        assert revoked.hears(1.2) and kept.hears(0.1)
        assert keys("revoke", table, "wallet") == 0
        revoked.hears(2.0)
        assert revoked.hears(1.2) == 0 and kept.hears(1.5) > 0
        for listener in (revoked, kept):
            listener.socket.close(linger=0)
        bets.close()
    refused = [(one["reason"], one["address"]) for one in log if one["what"] == "handshake refused"]
    assert ("WRONG_ROLE", "127.0.0.1") in refused and ("UNKNOWN_KEY", "127.0.0.1") in refused
    assert ("PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC", None) in refused


def test_a_table_with_an_open_key_or_list_refuses_to_start(table: Path) -> None:
    bus = load(table).bus
    assert bus is not None
    bus.key.chmod(0o644)
    words = [sys.executable, "-m", "controller.cli", "run", str(table)]
    daemon = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
    assert daemon.returncode == 3 and "mode 0644, expected 0600" in daemon.stderr
