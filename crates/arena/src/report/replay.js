"use strict";
(() => {
  const data = JSON.parse(document.getElementById("games").textContent);
  const element = (id) => document.getElementById(id);
  const size = data.shogi ? 9 : 8;
  const glyphs = data.shogi
    ? { K: "玉", R: "飛", B: "角", G: "金", S: "銀", N: "桂", L: "香", P: "歩",
        "+R": "龍", "+B": "馬", "+S": "全", "+N": "圭", "+L": "杏", "+P": "と" }
    : { K: "♚", Q: "♛", R: "♜", B: "♝", N: "♞", P: "♟" };
  const start = data.shogi
    ? "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
    : "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
  const isFirst = (piece) => piece === piece.toUpperCase();

  /** The position of a FEN or SFEN: rows from the top, and the pieces in hand of shogi. */
  function parse(text) {
    const [board, turn, hands] = text.split(" ");
    const rows = board.split("/").map((row) => {
      const squares = [];
      let promoted = "";
      for (const letter of row) {
        if (letter === "+") promoted = "+";
        else if (/\d/.test(letter)) for (let count = Number(letter); count > 0; count--) squares.push("");
        else { squares.push(promoted + letter); promoted = ""; }
      }
      return squares;
    });
    const held = {};
    if (data.shogi && hands && hands !== "-") {
      for (const [, count, piece] of hands.matchAll(/(\d*)([A-Za-z])/g)) held[piece] = Number(count || 1);
    }
    const number = Number(text.trim().split(/\s+/)[data.shogi ? 3 : 5]) || 1;
    return { rows, held, number, turn: turn === (data.shogi ? "w" : "b") ? 1 : 0, from: null, to: null };
  }

  /** Row and column of a square. */
  function square(text) {
    const file = data.shogi ? 9 - Number(text[0]) : text.charCodeAt(0) - 97;
    const row = data.shogi ? text.charCodeAt(1) - 97 : 8 - Number(text[1]);
    return [row, file];
  }

  /** The position after a move in UCI or USI notation. */
  function play(before, move) {
    const rows = before.rows.map((row) => [...row]);
    const held = { ...before.held };
    const after = { rows, held, turn: 1 - before.turn, from: null, to: null };
    if (data.shogi && move[1] === "*") {
      const piece = before.turn ? move[0].toLowerCase() : move[0];
      const [row, file] = square(move.slice(2));
      held[piece] = (held[piece] || 1) - 1;
      rows[row][file] = piece;
      after.to = [row, file];
      return after;
    }
    const [fromRow, fromFile] = square(move);
    const [toRow, toFile] = square(move.slice(2));
    let piece = rows[fromRow][fromFile];
    const target = rows[toRow][toFile];
    after.from = [fromRow, fromFile];
    after.to = [toRow, toFile];
    rows[fromRow][fromFile] = "";
    if (data.shogi) {
      if (target) {
        const taken = target.replace("+", "");
        const own = before.turn ? taken.toLowerCase() : taken.toUpperCase();
        held[own] = (held[own] || 0) + 1;
      }
      if (move[4] === "+") piece = "+" + piece;
      rows[toRow][toFile] = piece;
      return after;
    }
    const takesOwnRook = piece.toLowerCase() === "k" && target && isFirst(piece) === isFirst(target);
    if (takesOwnRook || (piece.toLowerCase() === "k" && Math.abs(toFile - fromFile) === 2)) {
      const isShort = toFile > fromFile;
      const rook = isFirst(piece) ? "R" : "r";
      let rookFile = takesOwnRook ? toFile : isShort ? 7 : 0;
      rows[fromRow][rookFile] = "";
      rows[fromRow][isShort ? 6 : 2] = piece;
      rows[fromRow][isShort ? 5 : 3] = rook;
      return after;
    }
    if (piece.toLowerCase() === "p" && fromFile !== toFile && !target) rows[fromRow][toFile] = "";
    if (move[4]) piece = isFirst(piece) ? move[4].toUpperCase() : move[4];
    rows[toRow][toFile] = piece;
    return after;
  }

  let game = null;
  let positions = [];
  let ply = 0;

  function drawBoard(position) {
    const table = element("board");
    table.replaceChildren();
    position.rows.forEach((squares, row) => {
      const line = table.insertRow();
      squares.forEach((piece, file) => {
        const cell = line.insertCell();
        const is = (at) => at && at[0] === row && at[1] === file;
        cell.className = (row + file) % 2 && !data.shogi ? "dark" : "light";
        if (is(position.from) || is(position.to)) cell.classList.add("last");
        if (!piece) return;
        const mark = document.createElement("span");
        mark.textContent = glyphs[piece.toUpperCase()] || piece;
        mark.className = isFirst(piece.replace("+", "")) ? "first" : "second";
        if (piece.startsWith("+")) mark.classList.add("promoted");
        cell.append(mark);
      });
    });
    const hand = (first) => Object.entries(position.held)
      .filter(([piece, count]) => count > 0 && isFirst(piece) === first)
      .map(([piece, count]) => glyphs[piece.toUpperCase()] + (count > 1 ? count : "")).join(" ");
    element("hand-second").textContent = data.shogi ? "☖ " + (hand(false) || "–") : "";
    element("hand-first").textContent = data.shogi ? "☗ " + (hand(true) || "–") : "";
  }

  /** A score in pawns, or in moves to mate; shogi counts centipawns and plies. */
  function scoreText(score) {
    if (!score || data.shogi) return score || "–";
    const mate = /^#(-?)(\d+)$/.exec(score);
    if (mate) return `#${mate[1]}${Math.ceil(Number(mate[2]) / 2)}`;
    const pawns = Number(score) / 100;
    return Number.isNaN(pawns) ? score : `${pawns > 0 ? "+" : ""}${pawns.toFixed(2)}`;
  }

  function show(to) {
    ply = Math.max(0, Math.min(to, positions.length - 1));
    drawBoard(positions[ply]);
    for (const [index, link] of [...element("moves").children].entries()) {
      link.classList.toggle("current", index === ply - 1);
      if (index === ply - 1) link.scrollIntoView({ block: "nearest" });
    }
    const index = ply - 1 - game.book;
    const [score, depth, time] = [game.scores, game.depths, game.times].map((list) => list.split(" ")[index]);
    element("info").textContent = ply === 0 ? "Start position"
      : index < 0 ? "Opening move" : `Score ${scoreText(score)}, depth ${depth || "–"}, ${time || "–"} ms`;
  }

  /** A move with its number: `1. e4 e5 2. Nf3`; shogi numbers each move. */
  function numbered(text, index) {
    const { number, turn } = positions[0];
    if (data.shogi) return `${number + index} ${text}`;
    const ply = index + turn;
    if (ply % 2 === 0) return `${number + ply / 2}. ${text}`;
    return index === 0 ? `${number}… ${text}` : text;
  }

  function open(index) {
    game = data.games[index];
    if (!game) return;
    const moves = game.moves ? game.moves.split(" ") : [];
    positions = [parse(game.position || start)];
    for (const move of moves) positions.push(play(positions[positions.length - 1], move));
    const texts = game.texts.split(" ");
    const list = element("moves");
    list.replaceChildren();
    moves.forEach((move, index) => {
      const link = document.createElement("button");
      link.type = "button";
      link.textContent = numbered(texts[index] || move, index);
      link.className = index < game.book ? "book" : "";
      link.addEventListener("click", () => show(index + 1));
      list.append(link);
    });
    const name = (engine) => data.engines[engine] || "?";
    element("players").textContent = `${name(game.first)} – ${name(game.second)}  ${game.result}  ${game.end}`;
    show(game.book);
  }

  const list = element("game");
  data.games.forEach((game, index) => {
    const name = (engine) => data.engines[engine] || "?";
    const text = `${game.id}  ${name(game.first)} – ${name(game.second)}  ${game.result}`;
    list.append(new Option(text, String(index)));
  });
  list.addEventListener("change", () => open(Number(list.value)));
  const steps = { "to-start": () => show(0), back: () => show(ply - 1), forward: () => show(ply + 1),
                  "to-end": () => show(positions.length - 1) };
  for (const [id, step] of Object.entries(steps)) element(id).addEventListener("click", step);
  element("replay").addEventListener("keydown", (event) => {
    const step = { ArrowLeft: steps.back, ArrowRight: steps.forward, Home: steps["to-start"], End: steps["to-end"] }[event.key];
    if (step && event.target !== list) { step(); event.preventDefault(); }
  });
  open(0);
})();
