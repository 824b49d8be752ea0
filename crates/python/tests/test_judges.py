"""Comparisons with python-chess and cshogi over random games and the test files of python-chess. No difference is expected."""

import random
import re
from pathlib import Path

import chess
import chess.pgn
import chess.syzygy
import cshogi
import pytest
import readyok
from readyok import Position

FILES = Path(__file__).resolve().parents[3] / "target" / "python" / "chess-data"
# Results of python-chess that count as ours; it lists fivefold repetition and 75 moves only if they are not claimed before.
NAMES = {
    chess.Termination.CHECKMATE: "checkmate",
    chess.Termination.STALEMATE: "stalemate",
    chess.Termination.INSUFFICIENT_MATERIAL: "insufficient-material",
    chess.Termination.THREEFOLD_REPETITION: "repetition",
    chess.Termination.FIVEFOLD_REPETITION: "repetition",
    chess.Termination.FIFTY_MOVES: "fifty-moves",
    chess.Termination.SEVENTYFIVE_MOVES: "fifty-moves",
}


def compare(board, position):
    """Compares everything that both know about a position."""
    moves = list(board.legal_moves)
    assert sorted(position.legal_moves) == sorted(move.uci() for move in moves), board.fen()
    for move in moves:
        san = board.san(move)
        assert position.notation(move.uci()) == san and position.parse(san) == move.uci(), (board.fen(), move)
    assert position.in_check == board.is_check() and position.turn == ("first" if board.turn else "second")
    assert position.halfmove_clock == board.halfmove_clock and position.move_number == board.fullmove_number
    if board.chess960:
        assert position.text("shredder") == board.shredder_fen(en_passant="legal")
    else:
        assert position.text() == board.fen(en_passant="legal") and position.text("fen") == board.fen(en_passant="fen")
    assert {chess.square_name(square): piece.symbol() for square, piece in board.piece_map().items()} == position.pieces


@pytest.mark.parametrize("chess960", [False, True])
def test_random_games_of_chess(chess960):
    dice = random.Random(17)
    plies = outcomes = 0
    for _ in range(60):
        if chess960:
            number = dice.randrange(960)
            board, position = chess.Board.from_chess960_pos(number), Position.chess960(number)
            assert position.chess960_number == number
        else:
            board, position = chess.Board(), Position()
        for _ in range(dice.choice((30, 120, 400))):
            if plies % 3 == 0:
                compare(board, position)
            ended = board.outcome(claim_draw=True)
            # A claim of the next move is not an outcome of the position.
            if ended and ended.termination in (chess.Termination.THREEFOLD_REPETITION, chess.Termination.FIFTY_MOVES):
                claimed = board.is_repetition(3) or board.halfmove_clock >= 100
                ended = ended if claimed else None
            ours = position.outcome
            if (ours is None) != (ended is None):
                # Dead positions by other reasons than the pieces are ours alone.
                assert ours is not None and ours.termination == "dead-position", (board.fen(), ours, ended)
            elif ended:
                assert (ours.result, ours.termination) == (ended.result(), NAMES[ended.termination]), board.fen()
                outcomes += 1
            moves = list(board.legal_moves)
            if not moves:
                break
            move = dice.choice(moves)
            board.push(move)
            position.push(move.uci())
            plies += 1
            if dice.random() < 0.05:
                assert position.pop() == board.pop().uci()
    assert plies > 4000 and outcomes > 5


# Games of variants that we do not know.
OTHER_GAMES = {"antichess-programfox.pgn", "knightvuillaume-jannlee-zh-lichess.pgn", "saturs-jannlee-zh-lichess.pgn"}


def games(path):
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        while game := chess.pgn.read_game(file):
            yield game


def nodes(game):
    node = game.root
    while node := node.next:
        yield node


@pytest.mark.parametrize("path", sorted((FILES / "pgn").glob("*.pgn")), ids=lambda path: path.name)
def test_files_of_python_chess(path):
    if path.name in OTHER_GAMES:
        with pytest.raises(readyok.RecordError, match="not supported"):
            next(readyok.read(path))
        return
    ours, theirs = list(readyok.read(path)), list(games(path))
    assert len(ours) == len(theirs) > 0
    for game, known in zip(ours, theirs):
        assert game.moves == [move.uci() for move in known.mainline_moves()]
        assert game.last.position.text() == known.end().board().fen(en_passant="legal")
        assert game.result == known.headers["Result"]
        # python-chess adds missing headers of the roster.
        players = [game.player(side) or "?" for side in ("first", "second")]
        assert players == [known.headers["White"], known.headers["Black"]]
        for node, other in zip(nodes(game), known.mainline()):
            assert set(node.nags) == other.nags and len(node.parent.children) == len(other.parent.variations)
            # Comments of match runners, such as "+0.13/12 0.29s", are evaluations and times of ours.
            has_text = bool(node.comment or node.evaluation or node.elapsed)
            assert node.clock == other.clock() and has_text >= (without_commands(other.comment) != "")


def without_commands(comment):
    return re.sub(r"\[%[^\]]*\]", "", comment).strip()


@pytest.mark.parametrize("name", ["endgame.epd", "endgame-dm-4.epd", "endgame-dm-5.epd"])
def test_positions_of_python_chess(name):
    lines = (FILES / name).read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    assert len(lines) > 20
    for line in lines[:300]:
        board = chess.Board(" ".join(line.split()[:4]) + " 0 1")
        compare(board, Position(board.fen(en_passant="fen")))


def test_tablebases_of_python_chess():
    theirs = chess.syzygy.open_tablebase(str(FILES / "syzygy" / "regular"))
    ours = readyok.Tablebase(FILES / "syzygy" / "regular")
    names = {2: "win", 1: "cursed_win", 0: "draw", -1: "blessed_loss", -2: "loss"}
    dice = random.Random(5)
    compared = 0
    while compared < 200:
        pieces = dice.choice(("KQk", "KRk", "KPk", "KBNk", "KQkr", "KRkb", "KPkp"))
        squares = dice.sample(range(64), len(pieces))
        board = chess.Board(None)
        for square, letter in zip(squares, pieces):
            board.set_piece_at(square, chess.Piece.from_symbol(letter))
        board.turn = dice.random() < 0.5
        if not board.is_valid() or board.is_game_over():
            continue
        wdl = theirs.get_wdl(board)
        dtz = theirs.get_dtz(board)
        if wdl is None or dtz is None:
            continue
        result = ours.probe(Position(board.fen()))
        assert result.category == names[wdl], board.fen()
        # Tables can be rounded by one ply.
        assert abs(result.dtz - dtz) <= 1 and len(result.moves) == board.legal_moves.count()
        compared += 1


def test_random_games_of_shogi():
    dice = random.Random(23)
    plies = 0
    for _ in range(40):
        board, position = cshogi.Board(), Position(game="shogi")
        for _ in range(dice.choice((40, 150, 300))):
            moves = list(board.legal_moves)
            theirs = sorted(cshogi.move_to_usi(move) for move in moves)
            # cshogi omits moves that are legal and never better: no promotion of pawns, bishops and rooks, and of lances on the
            # second rank.
            extra = set(position.legal_moves) - set(theirs)
            assert set(theirs) <= set(position.legal_moves), board.sfen()
            assert all(f"{move}+" in theirs for move in extra), (board.sfen(), extra)
            if not moves:
                assert position.outcome.termination in ("checkmate", "stalemate")
                break
            assert position.in_check == board.is_check()
            move = dice.choice(moves)
            usi = cshogi.move_to_usi(move)
            assert position.notation(usi, "csa")[1:] == cshogi.move_to_csa(move)
            board.push(move)
            position.push(usi)
            assert position.text() == board.sfen(), (position.text(), board.sfen())
            plies += 1
    assert plies > 3000


def test_the_wrapper_of_stockfish_drives_narikin() -> None:
    """The package `stockfish` reads `d`, `eval` and `go perft`, and the version from the name."""
    stockfish = pytest.importorskip("stockfish")
    engine = stockfish.Stockfish(path=readyok.narikin(), depth=6, parameters={"Threads": 1})
    assert (engine.get_stockfish_major_version(), engine.get_stockfish_minor_version()) == (0, 1)
    engine.make_moves_from_start(["e2e4", "e7e5"])
    after = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
    assert engine.get_fen_position() == after
    assert engine.get_board_visual().count("\n") == 18
    assert -2 < engine.get_static_eval() < 2
    leaves, moves = engine.get_perft(2)
    assert (leaves, len(moves), moves["g1f3"]) == (835, 29, 29)
    assert chess.Move.from_uci(engine.get_best_move()) in chess.Board(after).legal_moves
    assert engine.get_evaluation()["type"] == "cp"
    assert len(engine.get_top_moves(3)) == 3
    assert engine.get_wdl_stats() is not None
    engine.set_fen_position("4k3/8/8/8/8/8/8/4QK2 b - - 0 1")
    assert engine.get_static_eval() is None
    assert engine.is_fen_valid("8/2n5/2B5/8/5p1p/5P1P/5kP1/7K w - - 2 2")
    engine.send_quit_command()
