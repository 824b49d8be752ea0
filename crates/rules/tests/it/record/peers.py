"""Reads and writes game records with python-chess and cshogi, for peers.rs."""

import datetime
import io
import json
import re
import sys
import tempfile

COMMAND = re.compile(r"\[%(?:eval|clk|emt|csl|cal)\s[^\]]*\] ?")
# What match runners say of a move: the mover's score or the plies to the mate, the depth, the seconds.
JUDGEMENT = re.compile(r"([+-]?)(?:M(\d+)|(\d+\.\d+))/(\d+)(?:\s(\d+\.\d+)s)?(?:,\s*(.*))?$", re.DOTALL)


def millis(seconds):
    """Seconds as they were written: python-chess adds hours and minutes up as floats."""
    return None if seconds is None else round(seconds, 3)


def judged(node, found):
    """The notes with what a match runner says, which is plain text to python-chess."""
    judgement = JUDGEMENT.match(found["comment"])
    if node.parent is None or found["score"] is not None or judgement is None:
        return found
    sign, plies, pawns, depth, seconds, rest = judgement.groups()
    side = 1 if (sign == "-") != node.parent.board().turn else -1
    score = [side * ((int(plies) + 1) // 2)] if plies else side * round(100 * float(pawns))
    found |= {"score": score, "depth": int(depth), "comment": rest or ""}
    return found | ({"elapsed": millis(float(seconds))} if seconds else {})


def notes(node):
    """What python-chess understood of a node."""
    score = node.eval()
    white = score and score.white()
    return {
        "nags": sorted(node.nags),
        "comment": COMMAND.sub("", node.comment).strip(),
        "before": node.starting_comment,
        "clock": millis(node.clock()),
        "elapsed": millis(node.emt()),
        "score": white and ([white.mate()] if white.is_mate() else white.score()),
        "depth": node.eval_depth(),
        "marks": [[arrow.color, arrow.tail, arrow.head] for arrow in node.arrows()],
    }


def tree(game):
    """All nodes, each after its parent and after the variations before it."""
    nodes, open_nodes = [], [game]
    while open_nodes:
        node = open_nodes.pop()
        move = node.parent.board().uci(node.move, chess960=node.board().chess960) if node.parent else ""
        nodes.append({"move": move, "ply": node.ply() - game.ply(), **judged(node, notes(node))})
        # A null move is none to us.
        open_nodes.extend(child for child in reversed(node.variations) if child.move)
    return nodes


def chess_games(text):
    import chess.pgn

    # As from a file: any line end is one.
    source, games = io.StringIO(text, newline=None), []
    while (game := chess.pgn.read_game(source)) is not None:
        games.append(
            {
                "errors": [str(error) for error in game.errors],
                "headers": {
                    name: value for name, value in game.headers.items() if value not in ("?", "????.??.??")
                },
                "fen": game.board().fen(en_passant="legal"),
                "nodes": tree(game),
                "pgn": str(game),
            }
        )
    return games


def exported(module, suffix, write):
    """What an exporter of cshogi writes into its file."""
    with tempfile.NamedTemporaryFile(suffix=suffix) as file:
        exporter = module.Exporter(file.name)
        write(exporter)
        exporter.close()
        return file.read().decode("utf-8" if suffix == ".kifu" else "cp932")


def shogi_game(kif, ki2, csa):
    import cshogi
    from cshogi import CSA, KI2, KIF

    by_kif, by_ki2 = KIF.Parser.parse_str(kif), KI2.Parser.parse_str(ki2)
    [by_csa] = CSA.Parser.parse_str(csa)
    moves = list(by_csa.moves)
    start = by_csa.sfen

    def kif_file(exporter):
        exporter.header(["a", "b"], datetime.datetime(2026, 11, 21), by_kif_handicap(kif))
        for move in moves:
            exporter.move(move, 61, 122)
        exporter.end("resign")

    def ki2_file(exporter):
        exporter.header(["a", "b"], datetime.datetime(2026, 11, 21))
        for move in moves:
            exporter.move(move)
        exporter.end("resign")

    def csa_file(exporter):
        exporter.info(cshogi.Board(sfen=start), ["a", "b"], {"EVENT": "c"}, version="V2.2")
        for move in moves:
            exporter.move(move, time=61, comment="* 30")
        exporter.endgame("%TORYO", time=1)

    usi = lambda game: [cshogi.move_to_usi(move) for move in game.moves]
    return {
        "kif": {"moves": usi(by_kif), "sfen": by_kif.sfen, "names": by_kif.names, "times": by_kif.times, "win": by_kif.win},
        "ki2": {"moves": usi(by_ki2)},
        "csa": {
            "moves": usi(by_csa),
            "sfen": by_csa.sfen,
            "names": list(by_csa.names),
            "times": list(by_csa.times),
            "end": by_csa.endgame,
            "win": by_csa.win,
        },
        "written": {
            "kif": exported(KIF, ".kif", kif_file),
            # Its KI2 knows no other start position.
            "ki2": exported(KI2, ".ki2", ki2_file) if start == cshogi.STARTING_SFEN else None,
            "csa": exported(CSA, ".csa", csa_file),
        },
    }


def by_kif_handicap(kif):
    return re.search("手合割：(.*)", kif).group(1)


request = json.load(sys.stdin)
if "pgn" in request:
    answer = chess_games(request["pgn"])
else:
    answer = [shogi_game(**game) for game in request["shogi"]]
json.dump(answer, sys.stdout)
