//! Command lines of fastchess, as scripts write them.

use readyok_arena::fastchess::{ArgumentError, Invocation, Request, parse};
use readyok_arena::plan::{
    BookFormat, Colours, Format, GamesPerPairing, OpeningOrder, OpeningPolicy, OpeningSource,
    TimeControl,
};
use readyok_arena::stats::Model;
use readyok_rules::Game;

fn read(line: &str) -> Result<Request, ArgumentError> {
    let words: Vec<String> = shlex::split(line).unwrap_or_default();
    parse(&words, 1)
}

fn play(line: &str) -> Invocation {
    match read(line) {
        Ok(Request::Play(invocation)) => *invocation,
        other => panic!("{line}: {other:?}"),
    }
}

const TWO: &str = "-engine cmd=a tc=10+0.1 -engine cmd=b tc=10+0.1";

#[test]
fn a_line_as_a_test_framework_writes_it() {
    let read = play(
        "-engine dir=engines/ cmd=./new proto=uci tc=8.0+0.08 timemargin=250 option.Threads=1 \
         option.Hash=16 name=new -engine dir=engines/ cmd=./base proto=uci tc=8.0+0.08 \
         timemargin=250 option.Threads=1 option.Hash=16 name=base -variant standard -recover \
         -concurrency 4 -resign movecount=3 score=400 -draw movenumber=40 movecount=8 score=10 \
         -openings file=books/uho.epd format=epd order=random start=1201 -srand 7 -games 2 \
         -rounds 32 -repeat -pgnout file=out.pgn nodes=true seldepth=true -report penta=true \
         -sprt elo0=0 elo1=5 alpha=0.05 beta=0.1 model=logistic -use-affinity 0,2-4",
    );
    let (plan, options) = (&read.plan, &read.options);
    assert_eq!(plan.game, Game::Chess);
    let names: Vec<&str> = plan.engines.iter().map(|engine| engine.name.as_str()).collect();
    assert_eq!(names, ["new", "base"]);
    let [first, _] = plan.engines.as_slice() else { panic!("two engines") };
    assert_eq!(first.command, "engines/./new");
    assert_eq!(first.options.get("Hash").map(String::as_str), Some("16"));
    assert_eq!(first.limits.margin_ms, 250);
    assert_eq!(first.limits.tc, "8+0.08".parse::<TimeControl>().ok());
    assert_eq!((plan.rounds, plan.games, plan.seed), (32, GamesPerPairing::Two, 7));
    assert_eq!(plan.openings.skip, 1200);
    assert_eq!(plan.openings.order, OpeningOrder::Fastchess);
    let path = "books/uho.epd".to_owned();
    let source = OpeningSource::File { path, format: Some(BookFormat::Epd) };
    assert_eq!(plan.openings.source, source);
    let sprt = plan.sprt.unwrap();
    assert_eq!((sprt.model, sprt.elo1, sprt.beta), (Model::Logistic, 5.0, 0.1));
    let draw = plan.adjudication.draw.unwrap();
    assert_eq!((draw.from_move, draw.moves, draw.score), (40, 8, 10));
    assert!(plan.adjudication.as_fastchess, "games end as there");
    assert!(options.recover && options.penta);
    assert_eq!((options.concurrency, options.affinity.as_deref()), (4, Some(&[0, 2, 3, 4][..])));
    let pgn = options.pgn.as_ref().unwrap();
    assert!(pgn.nodes && pgn.seldepth && pgn.append && !pgn.nps);
}

#[test]
fn each_holds_for_all_engines_wherever_it_stands() {
    let read = play("-each nodes=100 option.Hash=8 -engine cmd=a nodes=5 -engine cmd=b");
    for engine in &read.plan.engines {
        assert_eq!(engine.limits.nodes, Some(100), "{}", engine.name);
        assert_eq!(engine.options.get("Hash").map(String::as_str), Some("8"));
    }
}

#[test]
fn engines_of_one_name_are_told_apart() {
    let read = play("-each depth=1 -engine cmd=x/a -engine cmd=y/a.exe -engine cmd=z/a");
    let names: Vec<&str> = read.plan.engines.iter().map(|engine| engine.name.as_str()).collect();
    assert_eq!(names, ["a", "a_2", "a_3"]);
}

#[test]
fn time_may_be_infinite_and_seconds_may_say_so() {
    let read = play("-engine cmd=a tc=inf nodes=5 -engine cmd=b tc=40/1:9.65s+0.1s");
    let [first, second] = read.plan.engines.as_slice() else { panic!("two engines") };
    assert_eq!(first.limits.tc, None);
    assert_eq!(second.limits.tc, "40/69.65+0.1".parse::<TimeControl>().ok());
    let read = play("-each st=0.05 -engine cmd=a -engine cmd=b");
    assert!(read.plan.engines.iter().all(|engine| engine.limits.move_time_ms == Some(50)));
}

#[test]
fn limits_that_scripts_compute_are_understood() {
    let engines = "-engine cmd=a -engine cmd=b";
    let limits = |each: &str| play(&format!("{engines} -each {each}")).plan.engines[0].limits;
    assert_eq!(limits("tc=7.84313725+0.0784313725").tc, "7.843+0.078".parse().ok());
    assert_eq!(limits("tc=40/1:02.00009s+0.5s").tc, "40/62+0.5".parse().ok());
    assert_eq!(limits("st=0.123456").move_time_ms, Some(123));
    let none = limits("tc=1 nodes=0 depth=0");
    assert_eq!((none.nodes, none.depth), (None, None));
    let none = limits("tc=0+0 st=0 nodes=1");
    assert_eq!((none.tc, none.move_time_ms, none.nodes), (None, None, Some(1)));
    let error = read_error(&format!("{engines} -each nodes=0 tc=0")).to_string();
    assert_eq!(error, "engine `a` has no limit: give tc, st, nodes or depth");
}

#[test]
fn games_and_rounds_are_understood_either_way_round() {
    assert_eq!(play(TWO).plan.games, GamesPerPairing::Two);
    let four = play(&format!("{TWO} -games 4 -rounds 2"));
    assert_eq!((four.plan.games, four.plan.rounds), (GamesPerPairing::Two, 4));
    let one = play(&format!("{TWO} -games 1"));
    assert_eq!((one.plan.games, one.options.penta), (GamesPerPairing::One, false));
    assert!(matches!(read(&format!("{TWO} -games 4 -rounds 5")), Err(ArgumentError::Conflict(_))));
    let gauntlet = play(&format!("{TWO} -seeds 2 -tournament gauntlet"));
    assert_eq!(gauntlet.plan.format, Format::Gauntlet { seeds: 2 });
}

#[test]
fn a_quick_match_has_its_own_settings() {
    let read = play("-quick cmd=a cmd=a book=uho.epd");
    assert_eq!((read.plan.rounds, read.plan.engines.len()), (25_000, 2));
    assert!(read.options.recover && !read.options.penta);
    let names: Vec<&str> = read.plan.engines.iter().map(|engine| engine.name.as_str()).collect();
    assert_eq!(names, ["a1", "a2"]);
    assert!(matches!(read_error("-quick cmd=a book=b.epd"), ArgumentError::Conflict(_)));
}

#[test]
fn games_that_count_alone_are_pairings_of_their_own() {
    let check = |options: &str, expected| {
        let Invocation { plan, options: read } = play(&format!("{TWO} -rounds 5 {options}"));
        assert_eq!((plan.rounds, plan.legs, plan.games, read.penta), expected, "{options}");
        plan
    };
    let (one, two) = (GamesPerPairing::One, GamesPerPairing::Two);
    let plan = check("-noswap -reverse", (5, 1, two, true));
    assert_eq!(plan.colours, Colours { fixed: true, reversed: true });
    check("-report penta=true", (5, 1, two, true));
    let plan = check("-report penta=false", (5, 2, one, false));
    assert_eq!(plan.openings.policy, OpeningPolicy::Meeting);
    check("-noswap -report penta=false", (5, 2, one, false));
    check("-output format=cutechess", (5, 2, one, false));
    check("-games 1", (5, 1, one, false));
    let test = "-sprt elo0=0 elo1=5 alpha=0.05 beta=0.05";
    check(test, (5, 1, two, true));
    check(&format!("{test} model=bayesian"), (5, 2, one, false));
}

fn read_error(line: &str) -> ArgumentError {
    match read(line) {
        Err(error) => error,
        Ok(request) => panic!("{line}: {request:?}"),
    }
}

#[test]
fn what_is_wrong_is_named() {
    let check = |line: &str, text: &str| assert_eq!(read_error(line).to_string(), text, "{line}");
    check("-engne cmd=a", "no option `-engne`; did you mean `-engine`?");
    check("-nonsense", "no option `-nonsense`");
    check("-concurrency", "`-concurrency` takes exactly one value");
    check("-recover true", "`-recover` takes no value");
    check("-log level", "`-log` takes key=value pairs, and `level` is none");
    check("-engine cmd=", "`-engine` takes key=value pairs, and `cmd=` is none");
    check("-engine cmd=a restart=true", "`-engine` has no `restart=true`: expected on or off");
    check("-engine cmd=a x=1", "`-engine` has no `x=1`");
    check("-rounds x", "`-rounds` cannot be `x`: expected a number");
    check("-srand -1", "`-srand` cannot be `-1`: expected a number");
    check(
        "-engine cmd=a tc=1 -engine cmd=b",
        "engine `b` has no limit: give tc, st, nodes or depth",
    );
    check("-each tc=1 st=1 -engine cmd=a -engine cmd=b", "engine `a` has both tc and st");
    check("-each tc=1 -engine cmd=a", "at least two engines are needed");
    check("-use-affinity 3-1", "`-use-affinity` cannot be `3-1`: expected a list like 3,5,7-11");
    let test = format!("{TWO} -sprt elo0=2 elo1=0 alpha=0.05 beta=0.05");
    check(&test, "`-sprt`: elo0 `2` must be below elo1 `0`, both between -4000 and 4000");
    check(&format!("{TWO} -variant fischerandom"), "`-variant fischerandom` needs `-openings`");
    assert_eq!(read("-version"), Ok(Request::Version));
    assert_eq!(read(""), Ok(Request::Help));
    check("-debug", "there is no `-debug`: `-log` writes what engines are told and say");
    let config = format!("{TWO} -config file=a.json stats=false");
    let kept = "`-config stats=false`: what a match has come to counts when it goes on";
    check(&config, kept);
    assert!(read(&format!("{config} discard=true")).is_ok(), "nothing goes on");
    check("-config file=a.json discard=true", "at least two engines are needed");
}

#[test]
fn a_match_goes_on_with_nothing_but_its_state() {
    let resume = |line| play(line).options.resume;
    let alone = resume("-config file=a.json");
    assert_eq!((alone.used(), alone.rounds), (Some(std::path::Path::new("a.json")), None));
    assert_eq!(resume("-config file=a.json -rounds 300").rounds, Some(300));
    assert_eq!(resume("-config file=a.json -variant fischerandom").rounds, None);
    assert_eq!(resume("-config file=a.json -games 300 -rounds 2").rounds, Some(300));
    let used = resume(&format!("{TWO} -config file=a.json discard=true"));
    assert_eq!(used.used(), None);
}

#[test]
fn an_engine_to_check_comes_with_its_own_arguments() {
    let check = |line: &str, args: &[&str]| {
        let args = args.iter().map(|&word| word.to_owned()).collect();
        let checked = Request::Compliance { command: "x".to_owned(), args };
        assert_eq!(read(line), Ok(checked), "{line}");
    };
    check("--compliance x", &[]);
    check("--compliance x --uci", &["--uci"]);
    check("--compliance x '--uci -h 16'", &["--uci", "-h", "16"]);
    check("--compliance x -a 'b c'", &["-a", "b c"]);
    assert_eq!(read_error("--compliance"), ArgumentError::EngineWithoutCommand);
}
