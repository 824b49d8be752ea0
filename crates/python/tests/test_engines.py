"""Engines: results, limits, errors, cancellation."""

import asyncio
import os
import signal
import threading
import time

import pytest
import readyok
from conftest import script
from readyok import Engine, Position

HANDSHAKE = ["read uci", 'echo "id name Test"', "echo uciok"]


@pytest.fixture
def engine(stockfish):
    with Engine(stockfish, options={"Hash": 16}, log=True) as engine:
        yield engine


def test_a_move_has_reports_and_times(engine):
    result = engine.play(Position(), depth=4)
    assert result.move in Position().legal_moves and result.info.depth == 4 and result.time > 0
    assert result.info.pv[0] == result.move and result.answer == result.move
    assert engine.protocol == "uci" and engine.name.startswith("Stockfish") and engine.pid


def test_an_analysis_is_iterated_and_stopped(engine):
    with engine.analyse(Position(), lines=3) as search:
        for info in search:
            if (info.depth or 0) >= 6:
                break
    result = search.wait()
    assert len(result.lines) == 3 == len(search.lines) and search.is_over
    assert list(search) == [] and search.wait().move == result.move


def test_options_are_declared_set_and_checked(engine):
    options = {option.name: option for option in engine.options}
    assert options["Hash"].type == "spin" and options["Hash"].min == 1 and engine.option("Hash") == 16
    engine.set_option("Hash", 8)
    engine.set_option("Clear Hash")
    engine.ready()
    assert engine.option("Hash") == 8
    for name, value in (("Nope", 1), ("Hash", -1), ("Hash", "x")):
        with pytest.raises(readyok.EngineUsageError):
            engine.set_option(name, value)
    assert engine.play(Position(), nodes=1, options={"Hash": 4}).move


def test_limits_are_checked(engine):
    position = Position()
    for limits in ({}, {"lines": 2}, {"time": -1.0}, {"time": float("nan")}, {"increment": (1, 1)}, {"moves_to_go": 1}):
        with pytest.raises(ValueError):
            engine.play(position, **limits)
    for limits in ({"depths": 1}, {"depth": "1"}, {"clock": 1}, {"moves": 3}):
        with pytest.raises(TypeError):
            engine.play(position, **limits)
    assert engine.play(position, clock=(1, 1), increment=(0.1, 0.1), moves_to_go=10).move
    assert engine.play(position, depth=2, moves=["a2a3"]).move == "a2a3"


def test_mates_pondering_and_deadlines(engine):
    mate = Position("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")
    result = engine.play(mate, mate=1)
    assert (result.checkmate, result.mate_line, result.info.score.mate_moves) == ("mate", ["a1a8"], 1)
    search = engine.begin(Position(moves=["e4"]), depth=3, ponder=True)
    with pytest.raises(TimeoutError):
        search.wait(0.2)
    search.ponder_hit()
    assert search.wait().move
    with pytest.raises(readyok.EngineTimeoutError) as raised:
        engine.play(Position(), depth=90, deadline=0.2)
    assert raised.value.recoverable and isinstance(raised.value, TimeoutError)
    assert engine.play(Position(), nodes=1).move


def test_a_newer_search_replaces_an_older_one(engine):
    old = engine.begin(Position())
    assert engine.play(Position(), nodes=1).move
    with pytest.raises(readyok.EngineError):
        waiting = engine.begin(Position())
        newer = engine.begin(Position(), nodes=1)
        newer.wait()
        waiting.wait(10)
        old.wait(10)
        raise readyok.EngineError("both had time to answer")


def test_a_deleted_search_is_stopped(engine):
    search = engine.analyse(Position())
    next(search)
    del search
    engine.ready()
    lines = [line for _, source, line in engine.log() if source == "gui"]
    assert lines[-2:] == ["stop", "isready"]


def test_a_search_is_stopped_from_another_thread(engine):
    search = engine.begin(Position())
    threading.Timer(0.2, search.stop).start()
    assert search.wait(30).move


def test_logs_are_iterators(engine):
    engine.play(Position(), nodes=1)
    lines = [(source, line) for _, source, line in engine.log()]
    assert ("gui", "uci") in lines and ("engine", "uciok") in lines
    assert list(engine.log()) == []


def test_engines_that_do_not_start(tmp_path):
    with pytest.raises(readyok.EngineStartError) as raised:
        Engine("/no/such/engine")
    assert isinstance(raised.value, OSError)
    with pytest.raises(readyok.EngineTimeoutError):
        Engine(script(tmp_path, "sleep 100"), timeout=0.3)
    with pytest.raises(readyok.EngineTerminatedError) as raised:
        Engine(script(tmp_path, "echo broken >&2", "exit 3"))
    assert raised.value.stderr == ["broken"] and not raised.value.recoverable


def test_a_crash_raises_in_waits_iterations_and_tasks(tmp_path):
    lines = [*HANDSHAKE, "while read line; do case $line in isready) echo readyok;; go*) echo info depth 1; exit 7;; esac; done"]
    command = script(tmp_path, *lines)
    with pytest.raises(readyok.EngineTerminatedError, match="exited"):
        with Engine(command, protocol="uci") as engine:
            engine.play(Position(), nodes=1)
    with pytest.raises(readyok.EngineTerminatedError):
        with Engine(command, protocol="uci") as engine:
            for _ in engine.analyse(Position()):
                pass

    async def iterate():
        async with await Engine.open(command, protocol="uci") as engine:
            async for _ in engine.analyse(Position()):
                pass

    async def wait():
        async with await Engine.open(command, protocol="uci") as engine:
            await engine.begin(Position())

    for task in (iterate, wait):
        with pytest.raises(readyok.EngineTerminatedError):
            asyncio.run(task())


def test_a_closed_engine_raises(stockfish):
    engine = Engine(stockfish)
    assert engine.close() == 0 and engine.close() is None
    with pytest.raises(readyok.EngineTerminatedError):
        engine.play(Position(), nodes=1)
    engine = Engine(stockfish)
    engine.kill()
    with pytest.raises(readyok.EngineTerminatedError):
        engine.ready()


def test_notices_name_unknown_lines(tmp_path):
    lines = [*HANDSHAKE, "while read line; do case $line in isready) echo hello; echo readyok;; quit) exit;; esac; done"]
    with Engine(script(tmp_path, *lines), protocol="uci") as engine:
        engine.ready()
        assert "hello" in engine.notices()


def test_shogi_moves_over_uci_have_the_notation_of_usi():
    with Engine(readyok.narikin(), protocol="uci") as engine:
        position = Position(game="shogi", moves=["7g7f", "3c3d"])
        result = engine.play(position, nodes=200)
        assert position.is_legal(result.move) and position.after(*result.info.pv).ply >= 3
        assert engine.play(position, nodes=50, moves=["8h2b+"]).move == "8h2b+"


def test_a_crash_in_a_block_is_raised_once(stockfish):
    with Engine(stockfish) as engine:
        os.kill(engine.pid, signal.SIGKILL)
        with pytest.raises(readyok.EngineTerminatedError):
            engine.play(Position(), nodes=1)
    assert engine.close() is None


def test_shogi_positions_need_an_engine_that_knows_them(engine):
    with pytest.raises((ValueError, readyok.EngineError)):
        engine.play(Position(game="shogi"), nodes=1)


class LoopWithoutReaders(asyncio.SelectorEventLoop):
    """A loop that watches no sockets for programs, as the Proactor loop of Windows."""

    def add_reader(self, fd, callback, *args):
        raise NotImplementedError


@pytest.mark.parametrize("loop", [asyncio.SelectorEventLoop, LoopWithoutReaders])
def test_tasks_await_iterate_and_cancel(stockfish, loop):
    async def play():
        async with await Engine.open(stockfish) as engine:
            assert await engine.ready_async() is None
            async for info in engine.analyse(Position(), depth=6):
                last = info
            assert last.depth == 6
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(engine.begin(Position()), 0.2)
            begun = time.monotonic()
            results = await asyncio.gather(engine.begin(Position(), nodes=1))
            assert results[0].move and time.monotonic() - begun < 60
            search = engine.begin(Position(), nodes=1)
            assert (await search).move == (await search).move == search.wait().move
            async with engine.analyse(Position()) as search:
                pass
            assert (await search).move

    running = loop()
    try:
        running.run_until_complete(play())
    finally:
        running.close()


def test_two_engines_play_in_one_loop(stockfish):
    async def game():
        position = Position()
        async with await Engine.open(stockfish) as one, await Engine.open(stockfish) as two:
            while position.outcome is None and position.ply < 20:
                engine = (one, two)[position.ply % 2]
                position.push((await engine.begin(position, nodes=50)).move)
        return position.ply

    assert asyncio.run(game()) == 20
