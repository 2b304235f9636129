"""Tower lights: what they show over a table, and that no light ever holds it up."""

from __future__ import annotations

import asyncio
import itertools
import os
from pathlib import Path

import pytest
from station.recorded import Session, write_config
from table.dealt import Dealt

from controller.station.clock import LiveClock
from controller.station.config import load
from controller.station.device_config import LightConfig
from controller.station.errors import ConfigError
from controller.station.tower_lights import TowerLights, light_of
from controller.table import inputs as i
from controller.table.events import HaltReason, IncidentKind
from controller.table.picture import draw
from drivers.pty import PtyDevice
from drivers.tower_light import Light, Mode, encode
from simulators.devices.tower_light import TowerLight

DARK, GREEN, YELLOW = Light(), Light(green=Mode.ON), Light(yellow=Mode.ON)
RED, CALLING = Light(red=Mode.ON), Light(red=Mode.BLINK)
POLE = '\n[lights.pole]\nport = "./pole"\n'


def shown(d: Dealt) -> Light:
    return light_of(draw(d.table.state))


def test_green_while_the_deal_goes_on_as_it_should() -> None:
    d = Dealt().to_dealing()
    assert shown(d) == GREEN
    assert shown(d.deal(4)) == GREEN


def test_dark_over_a_closed_table() -> None:
    d = Dealt()
    d.start()
    d.plug()
    assert d.phase == "closed"
    assert shown(d) == DARK


def test_yellow_where_the_dealer_is_asked() -> None:
    d = Dealt().to_dealing().deal(4)
    d.fail()
    assert shown(d) == YELLOW, "scan again"
    d.scan()
    assert shown(d) == GREEN
    d.feed(i.CardsTogether(at=d.now + 1, scanner="shoe", count=2))
    assert shown(d) == YELLOW, "a question"


def test_red_where_a_supervisor_is_called_and_blinking_when_he_does_not_come() -> None:
    d = Dealt().to_dealing().deal(4)
    d.press(i.Observed(IncidentKind.DEVICE_FAILED))
    assert shown(d) == RED
    d.advance(d.settings.limits.escalate_after_s * 1_000 + 1)
    assert shown(d) == CALLING
    d.press(i.WithdrawReport())
    assert shown(d) == GREEN


def test_red_while_the_scanner_is_gone() -> None:
    d = Dealt().to_dealing()
    d.unplug()
    assert shown(d) == RED


def test_yellow_in_a_pause() -> None:
    d = Dealt().to_ready()
    d.press(i.PauseTable(HaltReason.BREAK))
    assert shown(d) == YELLOW


# At the station.


@pytest.fixture
def session(tmp_path: Path) -> Session:
    path = write_config(tmp_path)
    path.write_text(path.read_text() + POLE)
    return Session(path)


def test_a_change_is_sent_once_and_everything_again_when_the_light_is_back(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[bytes] = []
    light = session.station.lights._lights["pole"]
    monkeypatch.setattr(light.port, "write", sent.append)
    session.open_table().to_dealing().deal(3)
    assert sent[-1] == encode(GREEN)
    assert all(one != after for one, after in itertools.pairwise(sent)), "changes only"
    count = len(sent)
    light.lost("unplugged")
    session.chunk(b"NOREAD\n")
    session.scan()
    light.opened("/dev/pts/9", None)
    assert sent[count:] == [encode(YELLOW), encode(GREEN), encode(GREEN)]


def test_a_light_that_is_not_there_changes_nothing(session: Session) -> None:
    session.open_table().round()
    assert session.station.kernel.table.state.round_no == 1


@pytest.mark.skipif(os.name != "posix", reason="ptys exist on POSIX alone")
def test_over_a_line_that_is_unplugged_and_plugged_in_again(tmp_path: Path) -> None:
    d = Dealt().to_dealing()

    async def shows(device: PtyDevice, tower: TowerLight, light: Light) -> None:
        async with asyncio.timeout(20):
            while tower.shows != light:
                await asyncio.sleep(0.01)
                tower.feed(device.read())

    async def play() -> None:
        device, tower = PtyDevice(tmp_path / "pole"), TowerLight()
        lights = TowerLights({"pole": LightConfig(str(tmp_path / "pole"))}, LiveClock())
        lights.show(draw(d.table.state))
        running = [asyncio.create_task(port.run()) for port in lights.ports.values()]
        await shows(device, tower, GREEN)
        d.fail()
        lights.show(draw(d.table.state))
        await shows(device, tower, YELLOW)
        device.unplug()
        device.replug()
        tower.shows = DARK
        await shows(device, tower, YELLOW)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        device.unplug()

    asyncio.run(play())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[lights.pole]\nport = "x"\nfamily = "lamp"\n',
            r"lights\.pole\.family: 'lamp' is not .*tower_light",
        ),
        ('[lights.pole]\nprot = "x"\n', r"lights\.pole\.'prot' .*nearest is 'port'"),
    ],
)
def test_what_is_no_light_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = write_config(tmp_path)
    path.write_text(path.read_text() + text)
    with pytest.raises(ConfigError, match=message):
        load(path)
