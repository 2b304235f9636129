"""An overlay that believes the live feed: it starts from nothing, and puts down what it hears."""

from __future__ import annotations

import json
import sys
from typing import Any

import zmq


class NaiveOverlay:
    def __init__(self, live: str) -> None:
        self.seq = 0
        self.shown: dict[str, Any] = {"roundno": 0, "phase": "", "places": {}, "burned": 0, "incident": None}
        self.shown |= {"cancelled": None, "rev": 0, "stale": False}
        self.socket = zmq.Context.instance().socket(zmq.SUB)
        self.socket.subscribe(b"")
        self.socket.connect(live)

    def hear(self) -> None:
        while self.socket.poll(0):
            message = json.loads(self.socket.recv())
            if "type" in message:
                self.seq = message["seq"]
                self.shown["phase"] = message["phase"]
                self.act(message["type"].removeprefix("tablectl.").rpartition(".")[0], message["data"])

    def act(self, kind: str, data: dict[str, Any]) -> None:
        shown = self.shown
        match kind:
            case "round.opened":
                shown |= {"roundno": data["round_no"], "places": {}, "burned": 0, "incident": None,
                          "cancelled": None, "rev": 0}  # fmt: skip
            case "card.dealt":
                shown["places"].setdefault(data["place"], []).append(data.get("card"))
            case "card.withdrawn":
                shown["places"][data["place"]].pop()
                if not shown["places"][data["place"]]:
                    del shown["places"][data["place"]]
            case "card.revealed":
                for card in data["cards"]:
                    shown["places"][card["place"]][card["n"] - 1] = card["card"]
            case "card.burned":
                shown["burned"] += 1
            case "incident.opened":
                shown["incident"] = data["prompt"]
            case "incident.closed":
                shown["incident"] = None
            case "round.confirmed" | "round.corrected":
                shown["rev"] = data["rev"]
            case "round.cancelled":
                shown |= {"cancelled": data["reason"], "rev": 1}


def main() -> None:
    overlay: NaiveOverlay | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        answer: dict[str, Any] = {}
        if asked["do"] == "start":
            overlay = NaiveOverlay(asked["live"])
        else:
            assert overlay is not None
            overlay.hear()
            answer = overlay.shown if asked["do"] == "shown" else {"seq": overlay.seq, "state": "running"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
