# Imports PGN into a new database of SCID: tkscid scid.tcl FILE DATABASE
set base [sc_base create SCID4 [lindex $argv 1]]
sc_base import $base [lindex $argv 0]
puts "[sc_base numGames $base] games"
sc_base close $base
exit
