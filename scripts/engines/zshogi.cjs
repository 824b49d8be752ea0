// Connects the library of Z Shogi to standard input and output. Usage: zshogi.cjs DIRECTORY
const readline = require('node:readline');

const { Engine } = require(`${process.argv[2]}/dist/lib/zshogi.umd.cjs`);

Engine.init().then((engine) => {
  readline
    .createInterface({ input: process.stdin })
    .on('line', (line) => {
      if (line.trim() === 'quit') process.exit(0);
      const output = engine.run(line);
      if (output) process.stdout.write(output.endsWith('\n') ? output : `${output}\n`);
    })
    .on('close', () => process.exit(0));
});
