// Numbers by which the server knows things.
export type GameId = number;
export type NodeId = number;
export type EngineId = number;
export type ProcessId = number;
export type MatchId = number;
