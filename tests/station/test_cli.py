"""What all commands have in common: what their help says first, and an end without a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from controller.cli import main

COMMAND = [sys.executable, "-u", "-m", "controller.cli"]


@pytest.mark.parametrize("words", [["status"], ["keys", "create"], ["bridge", "nats"]])
def test_help_begins_with_what_a_command_does(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    usage, purpose, *_ = capsys.readouterr().out.split("\n\n")
    assert usage.startswith(f"usage: tablectl {' '.join(words)} ")
    assert "config" not in usage
    assert purpose[0].isupper()
    assert purpose.endswith(".")


def test_an_output_that_nobody_reads_is_no_fault() -> None:
    with subprocess.Popen(
        [*COMMAND, "rules", "baccarat", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.close()
        assert command.stderr.read() == b""
    assert command.returncode == 0


def test_a_file_without_its_keys_is_told_all_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'table = "mine"\nenvironment = "live"\nrun_dir = "run"\ngame = "baccarat"\ndeck = "blue"\n'
    )
    assert main(["status", str(path)]) == 2
    told = capsys.readouterr().err
    assert f"{path}: required keys are missing: `profile`, `people`, `times`," in told
    assert "config/" in told
