// Reads files of shogi N times with tsshogi: node tsshogi.cjs N FILES
const fs = require("fs");
const { importCSA, importKIF, importKI2 } = require("tsshogi");

const [repeat, ...paths] = process.argv.slice(2);
const readers = { csa: importCSA, kif: importKIF, kifu: importKIF, ki2: importKI2, ki2u: importKI2 };
const decode = (bytes) => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("shift_jis").decode(bytes);
  }
};
const files = paths.map((path) => [readers[path.split(".").pop()], fs.readFileSync(path)]);
let [games, moves] = [0, 0];
for (let pass = 0; pass < Number(repeat); pass++) {
  for (const [read, bytes] of files) {
    const record = read(decode(bytes));
    if (record instanceof Error) continue;
    games += 1;
    record.forEach(() => (moves += 1));
  }
}
console.log(`${games} games, ${moves} moves`);
