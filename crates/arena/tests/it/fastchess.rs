//! Command lines of fastchess, as scripts write them.

use readyok_arena::fastchess::{ArgumentError, Invocation, Request, parse};
use readyok_arena::plan::{
    BookFormat, Colors, Format, GamesPerPairing, OpeningOrder, OpeningPolicy, OpeningSource,
    TimeControl,
};
use readyok_arena::stats::Model;
use readyok_client::unstable::split_command_line;
use readyok_rules::Game;

fn read(line: &str) -> Result<Request, ArgumentError> {
    let args: Vec<String> = split_command_line(line).unwrap_or_default();
    parse(&args, 1)
}

fn play(line: &str) -> Invocation {
    match read(line) {
        Ok(Request::Play(invocation)) => *invocation,
        other => panic!("{line}: {other:?}"),
    }
}

const TWO: &str = "-engine cmd=a tc=10+0.1 -engine cmd=b tc=10+0.1";

#[test]
fn parses_a_command_line_of_openbench() {
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
    assert!(plan.adjudication.as_fastchess, "adjudication as in fastchess");
    assert!(options.recover && options.penta);
    assert_eq!((options.concurrency, options.affinity.as_deref()), (4, Some(&[0, 2, 3, 4][..])));
    let pgn = options.pgn.as_ref().unwrap();
    let fields = pgn.style.fields;
    assert!(fields.nodes && fields.seldepth && pgn.append && !fields.nps);
}

#[test]
fn each_applies_to_all_engines_regardless_of_position() {
    let read = play("-each nodes=100 option.Hash=8 -engine cmd=a nodes=5 -engine cmd=b");
    for engine in &read.plan.engines {
        assert_eq!(engine.limits.nodes, Some(100), "{}", engine.name);
        assert_eq!(engine.options.get("Hash").map(String::as_str), Some("8"));
    }
}

#[test]
fn numbers_equal_engine_names() {
    let read = play("-each depth=1 -engine cmd=x/a -engine cmd=y/a.exe -engine cmd=z/a");
    let names: Vec<&str> = read.plan.engines.iter().map(|engine| engine.name.as_str()).collect();
    assert_eq!(names, ["a", "a_2", "a_3"]);
}

#[test]
fn parses_infinite_time_and_units_of_seconds() {
    let read = play("-engine cmd=a tc=inf nodes=5 -engine cmd=b tc=40/1:9.65s+0.1s");
    let [first, second] = read.plan.engines.as_slice() else { panic!("two engines") };
    assert_eq!(first.limits.tc, None);
    assert_eq!(second.limits.tc, "40/69.65+0.1".parse::<TimeControl>().ok());
    let read = play("-each st=0.05 -engine cmd=a -engine cmd=b");
    assert!(read.plan.engines.iter().all(|engine| engine.limits.move_time_ms == Some(50)));
}

#[test]
fn truncates_computed_times_to_milliseconds() {
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
    assert_eq!(error, "engine `a` has no limit: use tc, st, nodes or depth");
}

#[test]
fn swaps_games_and_rounds_like_fastchess() {
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
fn quick_has_default_settings() {
    let read = play("-quick cmd=a cmd=a book=uho.epd");
    assert_eq!((read.plan.rounds, read.plan.engines.len()), (25_000, 2));
    assert!(read.options.recover && !read.options.penta);
    let names: Vec<&str> = read.plan.engines.iter().map(|engine| engine.name.as_str()).collect();
    assert_eq!(names, ["a1", "a2"]);
    assert!(matches!(read_error("-quick cmd=a book=b.epd"), ArgumentError::Conflict(_)));
}

#[test]
fn games_that_count_alone_are_separate_pairings() {
    let check = |options: &str, expected| {
        let Invocation { plan, options: read } = play(&format!("{TWO} -rounds 5 {options}"));
        assert_eq!(
            (plan.rounds, plan.pairs_per_encounter, plan.games, read.penta),
            expected,
            "{options}"
        );
        plan
    };
    let (one, two) = (GamesPerPairing::One, GamesPerPairing::Two);
    let plan = check("-noswap -reverse", (5, 1, two, true));
    assert_eq!(plan.colors, Colors { fixed: true, reversed: true });
    check("-report penta=true", (5, 1, two, true));
    let plan = check("-report penta=false", (5, 2, one, false));
    assert_eq!(plan.openings.policy, OpeningPolicy::Encounter);
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
fn errors_name_the_argument() {
    let check = |line: &str, text: &str| assert_eq!(read_error(line).to_string(), text, "{line}");
    check("-engne cmd=a", "no option `-engne`; did you mean `-engine`?");
    check("-nonsense", "no option `-nonsense`");
    check("-concurrency", "`-concurrency` requires exactly one value");
    check("-recover true", "`-recover` has no value");
    check("-log level", "`-log` requires key=value pairs, not `level`");
    check("-engine cmd=", "`-engine` requires key=value pairs, not `cmd=`");
    check("-engine cmd=a restart=true", "`-engine` has no `restart=true`: expected on or off");
    check("-engine cmd=a x=1", "`-engine` has no `x=1`");
    check("-rounds x", "`-rounds` cannot be `x`: expected a number");
    check("-srand -1", "`-srand` cannot be `-1`: expected a number");
    check(
        "-engine cmd=a tc=1 -engine cmd=b",
        "engine `b` has no limit: use tc, st, nodes or depth",
    );
    check("-each tc=1 st=1 -engine cmd=a -engine cmd=b", "engine `a` has both tc and st");
    check("-each tc=1 -engine cmd=a", "a match requires at least two engines");
    check("-use-affinity 3-1", "`-use-affinity` cannot be `3-1`: expected a list like 3,5,7-11");
    let test = format!("{TWO} -sprt elo0=2 elo1=0 alpha=0.05 beta=0.05");
    check(&test, "`-sprt`: elo0 `2` must be below elo1 `0`, both between -4000 and 4000");
    check(&format!("{TWO} -variant fischerandom"), "`-variant fischerandom` requires `-openings`");
    assert_eq!(read("-version"), Ok(Request::Version));
    assert_eq!(read(""), Ok(Request::Help));
    check("-debug", "`-debug` is not supported: use `-log` with `engine=true`");
    check("-config file=a.json discard=true", "a match requires at least two engines");
}

#[test]
fn resumes_with_only_a_results_file() {
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
fn compliance_accepts_engine_arguments() {
    let check = |line: &str, args: &[&str]| {
        let args = args.iter().map(|&arg| arg.to_owned()).collect();
        let checked = Request::Compliance { command: "x".to_owned(), args };
        assert_eq!(read(line), Ok(checked), "{line}");
    };
    check("--compliance x", &[]);
    check("--compliance x --uci", &["--uci"]);
    check("--compliance x '--uci -h 16'", &["--uci", "-h", "16"]);
    check("--compliance x -a 'b c'", &["-a", "b c"]);
    assert_eq!(read_error("--compliance"), ArgumentError::EngineWithoutCommand);
}
