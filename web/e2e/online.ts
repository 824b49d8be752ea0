// A local server that replays the formats of online services, and the records that they answer with.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface OnlineServices {
  /** The hosts and paths of the requests so far. */
  readonly requests: string[];
  /** The arguments that make Readyok send its requests here. */
  readonly args: string[];
  readonly stop: () => void;
}

/** Starts the server. */
export async function startServices(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<OnlineServices> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.headers.host}${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { requests, args: ['--online-substitute', `127.0.0.1:${port}`], stop };
}

/** A line of the games of Lichess. The moves end with the result. */
export function lichessGame(moves: string, number: number): string {
  const id = `game${String(number).padStart(4, '0')}`;
  const createdAt = 1_783_000_000_000 + 60_000 * number;
  const headers = {
    Event: 'rated blitz game',
    Site: `https://lichess.org/${id}`,
    Date: new Date(createdAt).toISOString().slice(0, 10).replaceAll('-', '.'),
    White: 'anna',
    Black: 'bela',
    Result: moves.split(' ').at(-1),
    GameId: id,
    TimeControl: '180+2',
  };
  const tags = Object.entries(headers).map(([name, value]) => `[${name} "${value}"]\n`);
  const pgn = `${tags.join('')}\n${moves}\n\n\n`;
  return JSON.stringify({
    id,
    rated: true,
    variant: 'standard',
    speed: 'blitz',
    status: 'resign',
    createdAt,
    pgn,
  });
}
