"""A table's config: what is wrong is said with file, key, value and what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest
from station.recorded import write_config

from controller.games.procedure import BoxState
from controller.games.registry import GAMES
from controller.station.config import load
from controller.station.errors import ConfigError
from controller.station.kernel import Kernel

DEMO = Path(__file__).parents[2] / "config" / "tables" / "demo.toml"


@pytest.mark.parametrize("path", sorted(DEMO.parent.glob("*.toml")), ids=lambda path: path.stem)
def test_every_shipped_table_loads_and_tells_all_its_windows_and_boxes(path: Path) -> None:
    config = load(path)
    assert path.stem in ("baccarat_angel_eye", "demo", "feig", "many_readers", "ssi", config.game.name)
    assert set(config.settings.windows_ms) == set(GAMES[config.game.name].stages)
    assert set(config.settings.boxes_not_told) == set(config.game.boxes)


def test_the_shipped_tables_play_every_game_under_names_of_their_own() -> None:
    configs = [load(path) for path in DEMO.parent.glob("*.toml")]
    assert {config.game.name for config in configs} == set(GAMES)
    assert len({config.settings.table for config in configs}) == len(configs)


def test_boxes_that_the_game_has_not_are_refused(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    path.write_text((DEMO.parent / "royal_poker.toml").read_text().replace('box1 = "open"', 'box2 = "open"'))
    with pytest.raises(ConfigError, match="boxes_not_told: 'box2' is not one of box1"):
        load(path)


def test_windows_that_the_game_has_not_are_refused(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    text = (DEMO.parent / "caribbean_poker.toml").read_text()
    path.write_text(text.replace("options = 15_000", "options = 15_000\nbuy_time = 8_000"))
    with pytest.raises(ConfigError, match=r"times\.windows_ms: 'buy_time' is not one of options"):
        load(path)


def test_the_demo_table_is_a_good_config() -> None:
    config = load(DEMO)
    assert config.settings.table == "rp1" and config.game.name == "russian_poker_live"
    assert config.settings.boxes_not_told["box2"] is BoxState.OPEN
    assert config.people == DEMO.parents[2] / "run" / "people.json"
    assert config.scanners["shoe"].port == str(DEMO.parents[2] / "run/rp1/devices/shoe")
    assert len(config.rules) == 64 and len(config.documents) == 6


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("betting_ms = 15_000", "beting_ms = 15_000", "times.'beting_ms'"),
        ("betting_ms = 15_000", "betting_ms = 0", "$.times.betting_ms"),
        ("guard_ms = 1_000", "guard_ms = 100", "guard_ms 100 is shorter than grace_ms 500"),
        ("baud = 9600", "baud = 960", "960 is not one of"),
        (
            '../run/rp1/devices/shoe"\n\n[scanners.shoe.line]\nbaud = 9600',
            'socket://10.0.0.7:4001"\n\n[scanners.shoe.line]\nbaud = 19200',
            "scanners.shoe.line.baud: got 19200, which has no effect on socket://10.0.0.7:4001: set it at",
        ),
        ("baud = 9600", "boud = 9600", "nearest is 'baud'"),
        ('family = "delimited"', 'family = "delimitted"', "nearest is 'delimited'"),
        ('terminator = "lf"', 'terminater = "lf"', "nearest is 'terminator'"),
        ('terminator = "lf"', 'terminator = "xx"', "terminator"),
        ('environment = "simulated"', 'environment = "simulatet"', "environment: 'simulatet' is not one of"),
        ('box2 = "open"', 'box2 = "opn"', "nearest is 'open'"),
        ('deck = "blue"', 'deck = "green"', "deck 'green', which the table names"),
        ('game = "russian_poker_live"', 'game = "russian_roulette"', "'russian_roulette' is not one of"),
        ("options = 15_000", "optiones = 15_000", "times.windows_ms: 'optiones' is not one of"),
        ("buy_time = 8_000", "", "times.windows_ms.buy_time: missing"),
        ('box2 = "open"', 'box2 = "empty"', "boxes_not_told.box2"),
        ('box3 = "dark"', 'box4 = "dark"', "boxes_not_told: 'box4' is not one of box1, box2, box3"),
        ("[times]", "[times", "is no TOML"),
        (
            "../run/rp1/devices/shoe",
            "usb:c2e:0b61:1",
            "scanners.shoe.port: 'usb:c2e:0b61:1': expected usb:",
        ),
        ('deck = "blue"', f"deck = {'[' * 20_000}", "nested too deep"),
        ("scanners.shoe", 'scanners."my shoe"', "scanners.'my shoe': expected a name of 1 to 32 letters"),
        (
            "[scanners.shoe]",
            '[lights.tower]\nport = "./../run/rp1/devices/shoe"\n\n[scanners.shoe]',
            "lights.tower.port: ./../run/rp1/devices/shoe is the port of scanners.shoe already",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = write_config(tmp_path, **{old: new})
    with pytest.raises(ConfigError) as refused:
        load(path)
    assert said in str(refused.value), refused.value
    assert ".toml" in str(refused.value)


@pytest.mark.parametrize("port", ["usb:0c2e:0b61:A1", "usb:0c2e:0b61@1-1.4:1.0", "socket://10.0.0.7:4001"])
def test_a_port_that_is_no_path_stays_as_it_is(tmp_path: Path, port: str) -> None:
    assert load(write_config(tmp_path, **{"../run/rp1/devices/shoe": port})).scanners["shoe"].port == port


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.toml: can't be read: No such file"):
        load(tmp_path / "nothing.toml")


def test_a_spare_deck_may_be_loaded_and_is_not_foreign(tmp_path: Path) -> None:
    config = load(write_config(tmp_path, **{'other_decks = ["red"]': 'spare_decks = ["red"]'}))
    assert [deck.name for deck in config.spare_decks] == ["red"] and config.other_decks == ()
    table = Kernel(config).table
    assert [deck.name for deck in table.state.decks] == ["blue", "red"]


def test_a_deck_is_loaded_here_or_foreign_here(tmp_path: Path) -> None:
    path = write_config(tmp_path, **{'other_decks = ["red"]': 'spare_decks = ["red"]\nother_decks = ["red"]'})
    with pytest.raises(ConfigError, match=r"deck 'red': named twice"):
        load(path)


def test_a_deck_without_a_card_is_refused(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    (tmp_path / "decks" / "blue.toml").write_text('scheme = "table"\n[codes]\n"A1" = "As"\n')
    with pytest.raises(ConfigError, match=r"blue\.toml: deck blue: no code for 2c"):
        load(path)
