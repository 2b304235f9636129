// The connection to the table. Nothing is kept for later: a press goes out now, or it is dropped.

const SILENCE_MS = 2200; // No sign of life for so long, and the page is covered.
const LOOK_MS = 200;
const COUNTS_MS = 2000; // For so long a press counts; the daemon drops what comes later.
const ANSWER_MS = 4000;
const AGAIN_MS = [200, 500, 1000, 2000];
const SAMPLES = 30;
const SESSION_OVER = 4401;

export class Link {
  constructor(view, hears) {
    this.view = view;
    this.hears = hears; // { shown(state), covered(isCovered), over(reason) }
    this.live = false;
    this.waiting = new Map();
    this.tries = 0;
    this.stopped = true;
    setInterval(() => this.#look(), LOOK_MS);
  }

  open() {
    this.stopped = false;
    this.tries = 0;
    this.#connect();
  }

  close() {
    this.stopped = true;
    this.#drop();
  }

  // The table's time in milliseconds, by the sample that was under way for the shortest time.
  now() {
    return performance.now() + (this.offset ?? 0);
  }

  // Returns { fate: "accepted" | "refused" | "lost" | "dropped", reason }.
  press(command, state) {
    return this.#send({ frame: "press", round_no: state.view.picture.round_no, command }, state);
  }

  draw(state) {
    return this.#send({ frame: "draw" }, state);
  }

  // Say something that needs no answer. Returns whether it went out.
  tell(frame) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(frame));
    return true;
  }

  #send(frame, state) {
    if (!this.live || this.socket?.readyState !== WebSocket.OPEN) return Promise.resolve({ fate: "dropped" });
    if (this.socket.bufferedAmount > 0) return Promise.resolve({ fate: "dropped" });
    const request = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
    const until_us = Math.floor((this.now() + COUNTS_MS) * 1000);
    this.socket.send(JSON.stringify({ ...frame, request, moment: state.moment, until_us }));
    return new Promise((done) => {
      const timer = setTimeout(() => this.#fate(request, { fate: "lost" }), ANSWER_MS);
      this.waiting.set(request, { done, timer });
    });
  }

  #fate(request, fate) {
    const waiting = this.waiting.get(request);
    if (!waiting) return;
    clearTimeout(waiting.timer);
    this.waiting.delete(request);
    waiting.done(fate);
  }

  #connect() {
    if (this.stopped) return;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/live/${this.view}`);
    this.socket = socket;
    this.samples = [];
    this.heard = performance.now();
    socket.onmessage = (message) => socket === this.socket && this.#hear(JSON.parse(message.data));
    socket.onclose = (event) => {
      if (socket !== this.socket) return;
      if (event.code === SESSION_OVER) this.#over(event.reason);
      else this.#again();
    };
  }

  #hear(frame) {
    this.heard = performance.now();
    if (frame.at_us !== undefined) {
      this.samples = [...this.samples, frame.at_us / 1000 - this.heard].slice(-SAMPLES);
      this.offset = Math.max(...this.samples);
    }
    if (frame.frame === "welcome") this.welcome = frame;
    else if (frame.frame === "view") this.#show(frame);
    else if (frame.frame === "answer") {
      this.#fate(frame.request, { fate: frame.accepted ? "accepted" : "refused", reason: frame.reason });
    } else if (frame.frame === "over") this.#over(frame.reason);
  }

  #show(frame) {
    this.tries = 0;
    const isFirst = !this.live;
    this.live = true;
    this.hears.shown({ me: this.welcome, hall: this.welcome.hall, moment: frame.moment, view: frame.view, isFirst });
    if (isFirst) this.hears.covered(false);
  }

  #look() {
    if (!this.stopped && performance.now() - this.heard > SILENCE_MS) this.#again();
  }

  #again() {
    this.#drop();
    const wait = AGAIN_MS[Math.min(this.tries++, AGAIN_MS.length - 1)];
    this.heard = performance.now() + wait;
    setTimeout(() => this.#connect(), wait);
  }

  #over(reason) {
    this.close();
    this.hears.over(reason);
  }

  #drop() {
    this.live = false;
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    for (const request of [...this.waiting.keys()]) this.#fate(request, { fate: "lost" });
    this.hears.covered(true);
  }
}
