"""Changes every number in `config/games` by one, one at a time, and prints the changes that no test notices.

    python tests/rules/mutate.py [game ...]

Each mutant is a copy of the settings with one number changed; the tests of the rules run on it and must fail.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parents[1]
CONFIG = TESTS.parent / "config" / "games"
LIVE_TESTS = (
    "games/test_rules.py",
    "games/test_requests.py",
    "games/test_settlement.py",
    "rules/test_examples.py",
)
SISTER_TESTS = ("rules/test_sister_data.py", "games/test_sister_scripts.py")
NUMBER = re.compile(r'(?<![\w./"])\d[\d_]*(?![\w./"])|"\d+/\d+"')


class Mutant(NamedTuple):
    """One changed number: its file, line from 0 and place in the line, and both texts."""

    file: str
    line: int
    start: int
    old: str
    new: str
    context: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line + 1}: {self.context.strip()}  ({self.old} -> {self.new})"


def mutants(file: Path) -> Iterator[Mutant]:
    """Every number of a settings file, comments left out, with one added."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
        values = line.split("#")[0]
        if "=" not in values:
            continue
        for found in NUMBER.finditer(values, values.index("=")):
            yield Mutant(file.name, number, found.start(), found[0], one_more(found[0]), values)


def one_more(text: str) -> str:
    if text.startswith('"'):
        over, under = text.strip('"').split("/")
        return f'"{int(over) + int(under)}/{under}"'
    return str(int(text.replace("_", "")) + 1)


def survives(mutant: Mutant) -> bool:
    """Run the tests on the changed settings; True when none of them fails."""
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(shutil.copytree(CONFIG, Path(folder) / "games")) / mutant.file
        lines = changed.read_text(encoding="utf-8").splitlines()
        line = lines[mutant.line]
        lines[mutant.line] = line[: mutant.start] + mutant.new + line[mutant.start + len(mutant.old) :]
        changed.write_text("\n".join(lines) + "\n", encoding="utf-8")
        tests = LIVE_TESTS if mutant.file == "russian_poker_live.toml" else SISTER_TESTS
        game = [] if tests is LIVE_TESTS else ["-k", f"{changed.stem} or not poker and not oasis"]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *game, *tests]
        environment = os.environ | {"MUTATED_GAMES": str(changed.parent)}
        done = subprocess.run(command, cwd=TESTS, env=environment, capture_output=True, check=False)
    return done.returncode == 0


def main(names: list[str]) -> int:
    files = [CONFIG / f"{name}.toml" for name in names] or sorted(CONFIG.glob("*.toml"))
    every = [mutant for file in files for mutant in mutants(file)]
    survivors = []
    for count, mutant in enumerate(every, start=1):
        if survives(mutant):
            survivors.append(mutant)
            print(f"survives: {mutant}", flush=True)
        if count % 20 == 0:
            print(f"{count} of {len(every)}", file=sys.stderr, flush=True)
    print(f"{len(every)} mutants, {len(survivors)} survivors")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
