# Imports PGN into a new database of SCID, and searches it: tkscid search.tcl FILE DATABASE
proc timed {name command} {
    set start [clock microseconds]
    uplevel 1 $command
    puts "$name [expr {[clock microseconds] - $start}] [sc_filter count]"
}
proc material {options} {
    set all {}
    foreach {piece most} {wq 9 bq 9 wr 10 br 10 wb 10 bb 10 wn 10 bn 10 wm 16 bm 16 wp 8 bp 8} {
        lappend all -$piece [list 0 $most]
    }
    sc_search material {*}$all -flip 0 -filter 2 -range {1 999} -length 1 -bishops Either -diff {-40 40} {*}$options
}
set base [sc_base create SCID4 [lindex $argv 1]]
set start [clock microseconds]
sc_base import $base [lindex $argv 0]
puts "import [expr {[clock microseconds] - $start}] [sc_base numGames $base]"
sc_base switch $base
# The first search of each kind, as a user makes it.
set italian "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
sc_game startBoard $italian
timed position {sc_search board 2 Exact 0 0}
timed endgame {material {-wq {0 0} -bq {0 0} -wr {1 1} -br {1 1} -wb {0 0} -bb {0 0} -wn {0 0} -bn {0 0} -wp {1 8} -bp {0 8} -length 2}}
timed bishops {material {-wq {0 0} -bq {0 0} -wr {0 0} -br {0 0} -wb {1 1} -bb {1 1} -wn {0 0} -bn {0 0} -bishops Opposite -length 4}}
timed balance {material {-diff {3 40} -length 8}}
# A white knight on d5 and a black pawn on e6.
timed squares {material {-patt "Yes wn d 5" -patt "Yes bp e 6"}}
sc_base close $base
exit
