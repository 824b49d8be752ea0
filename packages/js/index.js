// Chess, Chess960 and shogi: positions and game records.
export { Game } from './game.js';
export { Position } from './position.js';
export { read, readStream } from './read.js';
export { IllegalMoveError, PositionError, ReadyokError, RecordError, load } from './wasm.js';
