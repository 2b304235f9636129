"""A consumer of the bus with nothing but ZeroMQ, JSON and SHA-256, to be written again in any language.

    python plain_consumer.py LIVE REPLAY TABLE AUDIENCE ENVIRONMENT EFFECTS [--from-first]

LIVE and REPLAY are the two endpoints of the audience. EFFECTS is a file with one line for each message that
was acted on: the effect, and the cursor, which are so stored together or not at all. A start goes on after
its last line; without one it joins at the table's snapshot, or with --from-first at message 1, as a wallet.

The rules, of which each is a few lines below:

1. Subscribe first, then ask. What arrives twice is dropped by its number.
2. The next message has the next number, and in `prevhash` the SHA-256 of the exact bytes of the one before.
3. Anything else on the live feed is a gap: ask for replay from the next number, and take no new bets.
4. In a replay anything else means that two histories have met: stop, a person must look.
5. A live message of a lower epoch than was heard is of a process that should be dead: leave it.
6. No `alive` for three seconds: the table is not heard. Take no new bets; open rounds wait.
7. Unknown fields are nothing; on an unknown type a wallet stops.
"""

import contextlib
import hashlib
import json
import os
import sys
import time

import zmq

STALE_S = 3.0
RETRY_S = 1.0
SETTLEMENT = {
    f"tablectl.{event}.v1"
    for event in (
        "round.opened", "betting.opened", "bets.closed", "round.redealt", "round.confirmed",
        "round.cancelled", "round.corrected", "round.closed", "incident.opened", "incident.closed",
    )
}  # fmt: skip


class Consumer:
    def __init__(self, live, replay, table, audience, environment, effects, from_first):
        self.table, self.stream = table, f"{table}/{audience}"
        self.source = f"tablectl/{table}/{environment}"
        self.known_types = SETTLEMENT if audience == "settlement" else None
        self.effects = effects
        self.seq, self.hash = last_cursor(effects) or ((0, "0" * 64) if from_first else (None, None))
        self.epoch = 0
        self.last_known = 0  # the highest number that was heard of
        self.caught_up = False
        self.request = 0
        self.asked_at = None
        self.heard_at = time.monotonic()
        self.last_alive = None
        self.may_bet = None
        context = zmq.Context.instance()
        self.sub, self.dealer = context.socket(zmq.SUB), context.socket(zmq.DEALER)
        self.sub.subscribe(b"")
        self.sub.connect(live)
        self.dealer.connect(replay)

    def run(self):
        poller = zmq.Poller()
        poller.register(self.sub, zmq.POLLIN)
        poller.register(self.dealer, zmq.POLLIN)
        while True:
            ready = dict(poller.poll(250))
            if self.dealer in ready:
                self.take_replay(self.dealer.recv_multipart())
            if self.sub in ready:
                self.take_live(self.sub.recv())
            self.ask()
            self.say_whether_bets_may_open()

    # The live feed.

    def take_live(self, raw):
        message = json.loads(raw)
        if "alive" in message:
            self.take_alive(message)
            return
        self.check_origin(message)
        if message["epoch"] < self.epoch:
            return
        self.last_known = max(self.last_known, message["seq"])
        is_next = self.seq is not None and message["seq"] == self.seq + 1
        if is_next and message["prevhash"] == self.hash:
            self.act(message, raw)

    def take_alive(self, alive):
        if alive["source"] != self.source:
            sys.exit(f"alive of {alive['source']}, expected {self.source}")
        last = self.last_alive
        if (
            last
            and alive["at_us"] > last["at_us"]
            and (alive["epoch"], alive["seq"]) < (last["epoch"], last["seq"])
        ):
            sys.exit(f"{self.stream}: the table's journal has lost what it sent: {last}, then {alive}")
        if alive["epoch"] < self.epoch:
            return
        is_new_run = alive["epoch"] > self.epoch
        self.last_alive = alive
        self.epoch = alive["epoch"]
        self.heard_at = time.monotonic()
        self.last_known = max(self.last_known, alive["seq"])
        if self.seq is None:
            return
        if alive["seq"] == self.seq and alive["hash"] != self.hash:
            sys.exit(f"{self.stream}/{self.seq}: the table says another hash than was received")
        if is_new_run and alive["seq"] < self.seq:
            sys.exit(f"{self.stream}: a new run ends at {alive['seq']}, {self.seq} was received")

    # Replay.

    def ask(self):
        """Ask for what is missing, once a second until it has come."""
        is_waiting = self.asked_at is not None and time.monotonic() - self.asked_at < RETRY_S
        if is_waiting or (self.caught_up and self.seq >= self.last_known):
            return
        self.request += 1
        self.asked_at = time.monotonic()
        what = {"ask": "snapshot"} if self.seq is None else {"ask": "from", "seq": self.seq + 1}
        with contextlib.suppress(zmq.Again):  # the table is away; the next second asks again
            self.dealer.send(json.dumps({**what, "request": str(self.request)}).encode(), zmq.NOBLOCK)

    def take_replay(self, frames):
        *frames, marker = frames
        marker = json.loads(marker)
        if marker["request"] != str(self.request):
            return  # the answer to an older question
        if marker.get("reason"):
            sys.exit(f"replay of {self.stream}: {marker['reason']}: {marker.get('text')}")
        if marker.get("snapshot"):
            snapshot = json.loads(frames.pop(0))
            self.seq, self.hash = snapshot.get("seq", 0), snapshot.get("hash", "0" * 64)
            self.epoch = max(self.epoch, snapshot.get("epoch", 0))
            print(f"joined at {self.seq}", flush=True)
        for raw in frames:
            message = json.loads(raw)
            self.check_origin(message)
            if message["seq"] <= self.seq:
                continue
            if message["seq"] != self.seq + 1 or message["prevhash"] != self.hash:
                sys.exit(f"{message['id']}: does not follow {self.seq} with hash {self.hash[:12]}")
            self.act(message, raw)
        if marker.get("last_seq", 0) < self.seq:
            sys.exit(f"{self.stream}: the table ends at {marker.get('last_seq', 0)}, {self.seq} was received")
        self.last_known = max(self.last_known, marker.get("last_seq", 0))
        self.caught_up = True
        if frames or self.seq >= self.last_known:
            self.asked_at = None  # else a second passes before the same is asked again

    # What is done with a message.

    def check_origin(self, message):
        if message["source"] != self.source or message["id"] != f"{self.stream}/{message['seq']}":
            sys.exit(
                f"message {message['id']} of {message['source']}, expected {self.stream} of {self.source}"
            )

    def act(self, message, raw):
        """Do what the message means, and move the cursor: in one write, or one transaction of a database."""
        if self.known_types is not None and message["type"] not in self.known_types:
            sys.exit(
                f"{message['id']}: unknown type {message['type']}; nothing was done, a newer consumer is due"
            )
        self.seq, self.hash = message["seq"], hashlib.sha256(raw).hexdigest()
        self.epoch = max(self.epoch, message["epoch"])
        line = {"seq": self.seq, "hash": self.hash, "effect": effect_of(message)}
        with open(self.effects, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        print(self.seq, message["type"], line["effect"] or "", flush=True)

    def say_whether_bets_may_open(self):
        is_heard = time.monotonic() - self.heard_at < STALE_S
        is_whole = self.caught_up and self.seq >= self.last_known
        if (is_heard and is_whole) != self.may_bet:
            self.may_bet = is_heard and is_whole
            why = "" if self.may_bet else ", a gap" if is_heard else ", the table is not heard"
            print(f"{'bets may open' if self.may_bet else 'no new bets'}{why}", flush=True)


def effect_of(message):
    """Money moves by three messages; the key of a payment is table, round, revision and bet."""
    kind = message["type"].split(".")[2]
    if message["type"].startswith("tablectl.round.") and kind in ("confirmed", "cancelled", "corrected"):
        return f"{message['roundid']} revision {message['data']['rev']}: {kind}"
    return None


def last_cursor(path):
    """Read the last whole line; half a line is an effect that has not happened."""
    try:
        with open(path, "rb+") as file:
            whole = file.read().rpartition(b"\n")[0]
            file.truncate(len(whole) + 1 if whole else 0)
    except FileNotFoundError:
        return None
    if not whole:
        return None
    last = json.loads(whole.rpartition(b"\n")[2])
    return last["seq"], last["hash"]


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--from-first"]
    if len(words) != 6:
        sys.exit(__doc__)
    Consumer(*words, from_first="--from-first" in sys.argv).run()
