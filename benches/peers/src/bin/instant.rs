//! An engine that replies immediately, so that the client determines the latency.

use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut searching = false;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let answer = match line.as_str() {
            "uci" => "id name Instant\nuciok\n",
            "isready" => "readyok\n",
            "go infinite" => {
                searching = true;
                "info depth 1 score cp 0 pv e2e4\n"
            }
            "stop" if searching => {
                searching = false;
                "bestmove e2e4\n"
            }
            "quit" => break,
            line if line.starts_with("go ") => "bestmove e2e4\n",
            _ => continue,
        };
        out.write_all(answer.as_bytes())?;
        out.flush()?;
    }
    Ok(())
}
