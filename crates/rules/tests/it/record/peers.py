"""Reads and writes game records with python-chess and cshogi, for peers.rs."""

import datetime
import io
import json
import re
import sys
import tempfile

COMMAND = re.compile(r"\[%(?:eval|clk|emt|csl|cal)\s[^\]]*\] ?")
# Comments of match runners: the mover's score or the plies to mate, the depth, the seconds.
ENGINE_OUTPUT = re.compile(r"([+-]?)(?:M(\d+)|(\d+\.\d+))/(\d+)(?:\s(\d+\.\d+)s)?(?:,\s*(.*))?$", re.DOTALL)


def unwrap(comment):
    """The comment on one line: python-chess keeps the line breaks of the file."""
    return re.sub(r"\s*\n\s*", " ", comment)


def millis(seconds):
    """Rounds seconds, because python-chess adds hours and minutes as floats."""
    return round(seconds, 3) if isinstance(seconds, float) else seconds


def with_engine_output(node, found):
    """The annotations including the comments of match runners, which python-chess does not parse."""
    output = ENGINE_OUTPUT.match(found["comment"])
    if not node.parent or found["score"] is not None or not output:
        return found
    sign, plies, pawns, depth, seconds, rest = output.groups()
    side = 1 if (sign == "-") != node.parent.board().turn else -1
    score = [side * ((int(plies) + 1) // 2)] if plies else side * round(100 * float(pawns))
    found |= {"score": score, "depth": int(depth), "comment": rest or ""}
    return found | ({"elapsed": millis(float(seconds))} if seconds else {})


def notes(node):
    """The annotations of a node as read by python-chess."""
    score = node.eval()
    white = score and score.white()
    return {
        "nags": sorted(node.nags),
        "comment": unwrap(COMMAND.sub("", node.comment).strip()),
        "before": unwrap(node.starting_comment),
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
        nodes.append({"move": move, "ply": node.ply() - game.ply(), **with_engine_output(node, notes(node))})
        open_nodes.extend(reversed(node.variations))
    return nodes


def chess_games(text):
    import chess.pgn

    # All line ends are converted, as in a text file.
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
    """The file that an exporter of cshogi writes."""
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
            # KI2 of cshogi supports no other start position.
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
