// Generated from crates/rules/src/record/formats.rs by `READYOK_BLESS=1 cargo test -p readyok-server`.
// Do not edit.
import type { Variant } from './wire';

/** A format of exported games. */
export type RecordFormat = "pgn" | "kif" | "ki2" | "csa" | "jkf" | "epd" | "position" | "line";

export const recordFormats: readonly { name: RecordFormat; extension: string; variants: readonly Variant[] }[] = [
  { name: "pgn", extension: "pgn", variants: ["chess","chess960"] },
  { name: "kif", extension: "kif", variants: ["shogi"] },
  { name: "ki2", extension: "ki2", variants: ["shogi"] },
  { name: "csa", extension: "csa", variants: ["shogi"] },
  { name: "jkf", extension: "jkf", variants: ["shogi"] },
  { name: "epd", extension: "epd", variants: ["chess","chess960","shogi"] },
  { name: "position", extension: "txt", variants: ["chess","chess960","shogi"] },
  { name: "line", extension: "txt", variants: ["chess","chess960","shogi"] },
];

/** The extensions of record files, for file inputs. */
export const recordExtensions = ".pgn,.kif,.kifu,.ki2,.ki2u,.csa,.jkf,.json,.uci,.fen,.epd,.usi,.sfen";
