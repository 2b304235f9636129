// Short signs for the ear, made here. A browser lets no sound out before the first touch or key.

let context = null;
let muted = false;

export function mute(isMuted) {
  muted = isMuted;
}

export function wake() {
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume();
}

const SIGNS = {
  taken: [[880, 0, 0.07], [1320, 0.08, 0.11]],
  refused: [[220, 0, 0.16], [175, 0.17, 0.22]],
  attention: [[660, 0, 0.12], [520, 0.16, 0.12], [660, 0.32, 0.12]],
  result: [[523, 0, 0.1], [659, 0.11, 0.1], [784, 0.22, 0.22]],
};

export function play(sign) {
  if (muted || context?.state !== "running") return;
  for (const [frequency, after, length] of SIGNS[sign]) {
    const tone = context.createOscillator();
    const loudness = context.createGain();
    const begin = context.currentTime + after;
    tone.type = sign === "refused" ? "triangle" : "sine";
    tone.frequency.value = frequency;
    loudness.gain.setValueAtTime(0, begin);
    loudness.gain.linearRampToValueAtTime(0.22, begin + 0.012);
    loudness.gain.linearRampToValueAtTime(0, begin + length);
    tone.connect(loudness).connect(context.destination);
    tone.start(begin);
    tone.stop(begin + length + 0.02);
  }
}
