// Connects a Stockfish package for browsers to standard input and output. Usage: stockfish-wasm.cjs DIRECTORY
const readline = require('node:readline');

require(`${process.argv[2]}/stockfish.js`)().then((engine) => {
  engine.addMessageListener((line) => process.stdout.write(`${line}\n`));
  readline
    .createInterface({ input: process.stdin })
    .on('line', (line) => (line.trim() === 'quit' ? process.exit(0) : engine.postMessage(line)))
    .on('close', () => process.exit(0));
});
