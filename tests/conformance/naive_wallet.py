"""A wallet as it is written on the first afternoon: it believes the live feed, and keeps its books in memory.

It pays `confirmed` at once, refunds `cancelled`, pays a correction anew, checks no number, no chain, no epoch
and no source, asks for no replay, and takes bets between `betting.opened` and `bets.closed`.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from typing import Any

import zmq


class NaiveWallet:
    def __init__(self, live: str) -> None:
        self.purses: dict[str, int] = {}
        self.bets: dict[str, dict[tuple[str, str], int]] = {}
        self.open = False
        self.seq = 0
        self.socket = zmq.Context.instance().socket(zmq.SUB)
        self.socket.subscribe(b"")
        self.socket.connect(live)

    def hear(self) -> None:
        while self.socket.poll(0):
            try:
                message = json.loads(self.socket.recv())
                if "type" in message:
                    self.act(message, message["data"])
            except (ValueError, KeyError, RecursionError):
                continue

    def act(self, message: dict[str, Any], data: dict[str, Any]) -> None:
        self.seq = max(self.seq, message["seq"])
        kind = message["type"].removeprefix("tablectl.").rpartition(".")[0]
        if kind == "betting.opened":
            self.open = True
        elif kind == "bets.closed":
            self.open = False
        elif kind in ("round.confirmed", "round.corrected"):
            self.pay(message["roundid"], data["outcome"])
        elif kind == "round.cancelled":
            for (player, _), stake in self.bets.pop(message["roundid"], {}).items():
                self.purses[player] += stake

    def pay(self, roundid: str, outcome: dict[str, Any]) -> None:
        row = outcome["boxes"][0]["hands"][0]["rows"]["plain"]
        for (player, wager), stake in self.bets.get(roundid, {}).items():
            told = row[wager]
            if told["outcome"] == "WIN":
                self.purses[player] += stake + int(stake * Fraction(told["odds"]))
            elif told["outcome"] in ("PUSH", "REFUND"):
                self.purses[player] += stake

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        match asked["do"]:
            case "deposit":
                self.purses[asked["player"]] = self.purses.get(asked["player"], 0) + asked["amount"]
                return {}
            case "debit":
                return {"accepted": self.debit(asked)}
            case "withdraw":
                stake = self.bets.get(asked["roundid"], {}).pop((asked["player"], asked["wager"]), 0)
                self.purses[asked["player"]] += stake
                return {"accepted": stake > 0}
            case "balance":
                return {"balance": self.purses.get(asked["player"], 0), "claim": 0}
            case "betting":
                return {"open": self.open}
            case _:
                return {"seq": self.seq, "state": "running"}

    def debit(self, asked: dict[str, Any]) -> bool:
        player, amount = asked["player"], asked["amount"]
        if self.purses.get(player, 0) < amount:
            return False
        self.purses[player] -= amount
        bets = self.bets.setdefault(asked["roundid"], {})
        key = (player, asked["wager"])
        bets[key] = bets.get(key, 0) + amount
        return True


def main() -> None:
    wallet: NaiveWallet | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "start":
            wallet = NaiveWallet(asked["live"])
            answer: dict[str, Any] = {}
        else:
            assert wallet is not None
            wallet.hear()
            answer = wallet.answer(asked)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
