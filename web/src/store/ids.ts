// Identifiers of the server.
export type GameId = number;
export type NodeId = number;
export type EngineId = number;
export type ProcessId = number;
export type MatchId = number;
