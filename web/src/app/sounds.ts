// Sounds, synthesized by the browser.
import { prefs } from './prefs.svelte';

export type Sound = 'move' | 'capture' | 'check' | 'low' | 'tick' | 'end';

interface Tone {
  /** In hertz, at the start and the end. */
  from: number;
  to: number;
  /** In seconds from the start of the sound. */
  at: number;
  length: number;
  gain: number;
  wave: OscillatorType;
}

const tone = (
  from: number,
  to: number,
  at: number,
  length: number,
  gain: number,
  wave: OscillatorType = 'sine',
): Tone => ({ from, to, at, length, gain, wave });

// Short falling tones resemble wood on wood.
const SOUNDS: Record<Sound, Tone[]> = {
  move: [tone(420, 130, 0, 0.07, 0.5, 'triangle'), tone(1800, 900, 0, 0.02, 0.12)],
  capture: [
    tone(520, 120, 0, 0.06, 0.5, 'triangle'),
    tone(330, 90, 0.05, 0.1, 0.5, 'triangle'),
    tone(2400, 1000, 0, 0.025, 0.16),
  ],
  check: [tone(420, 130, 0, 0.07, 0.5, 'triangle'), tone(880, 880, 0.06, 0.16, 0.22)],
  low: [tone(740, 740, 0, 0.11, 0.3), tone(740, 740, 0.17, 0.11, 0.3), tone(740, 740, 0.34, 0.11, 0.3)],
  tick: [tone(1200, 1100, 0, 0.04, 0.2)],
  end: [tone(523, 523, 0, 0.18, 0.25), tone(659, 659, 0.14, 0.18, 0.25), tone(784, 784, 0.28, 0.34, 0.25)],
};

let context: AudioContext | undefined;

/** Plays a sound unless sounds are muted. */
export function play(sound: Sound) {
  if (prefs.sound !== 'true' || typeof AudioContext === 'undefined') return;
  context ??= new AudioContext();
  // Browsers suspend a context until the first input of the user.
  if (context.state === 'suspended') void context.resume().catch(() => {});
  const start = context.currentTime + 0.01;
  for (const { from, to, at, length, gain, wave } of SOUNDS[sound]) {
    const oscillator = context.createOscillator();
    const volume = context.createGain();
    oscillator.type = wave;
    oscillator.frequency.setValueAtTime(from, start + at);
    oscillator.frequency.exponentialRampToValueAtTime(to, start + at + length);
    volume.gain.setValueAtTime(gain, start + at);
    volume.gain.exponentialRampToValueAtTime(0.001, start + at + length);
    oscillator.connect(volume).connect(context.destination);
    oscillator.start(start + at);
    oscillator.stop(start + at + length + 0.02);
  }
}
