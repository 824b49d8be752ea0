// Reads game records with tsshogi, for tsshogi.rs: from each text the start, the players and the tree, and the
// game as it writes it.
"use strict";

const shogi = require("tsshogi");

const formats = {
  kif: [shogi.importKIF, shogi.exportKIF],
  ki2: [shogi.importKI2, shogi.exportKI2],
  csa: [shogi.importCSA, shogi.exportCSA],
  jkf: [shogi.importJKFString, shogi.exportJKFString],
  // It wants no line end.
  usi: [(text) => shogi.Record.newByUSI(text.trim()), (record) => record.getUSI({ allMoves: true })],
};

/** A node and those that it has as siblings, in their order. */
function siblings(node) {
  const nodes = [];
  for (; node; node = node.branch) {
    nodes.push(node);
  }
  return nodes;
}

/** All nodes, each after its parent and after the variations before it. Ends are no nodes. */
function tree(record) {
  const nodes = [];
  const open = [record.first];
  while (open.length) {
    const node = open.pop();
    const children = siblings(node.next);
    const ends = children.filter((child) => !(child.move instanceof shogi.Move));
    const moves = children.filter((child) => child.move instanceof shogi.Move);
    nodes.push({
      move: node.move instanceof shogi.Move ? node.move.usi : "",
      ply: node.ply,
      comment: node.comment,
      millis: node.elapsedMs,
      end: ends.map((end) => [end.move.type, end.comment, end.elapsedMs]),
    });
    open.push(...moves.reverse());
  }
  return nodes;
}

function read(format, text) {
  const [read, write] = formats[format];
  const record = read(text);
  if (record instanceof Error) {
    return { error: `${record.name}: ${record.message}` };
  }
  record.goto(0);
  record.resetAllBranchSelection();
  return {
    start: record.initialPosition.sfen,
    players: [shogi.getBlackPlayerName(record.metadata), shogi.getWhitePlayerName(record.metadata)],
    nodes: tree(record),
    written: write(record),
  };
}

let input = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (part) => (input += part));
process.stdin.on("end", () => {
  const games = JSON.parse(input).shogi.map((texts) =>
    Object.fromEntries(Object.entries(texts).map(([format, text]) => [format, read(format, text)])),
  );
  process.stdout.write(JSON.stringify(games));
});
