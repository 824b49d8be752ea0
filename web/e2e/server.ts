// A real server for journeys: its program, with an empty folder of data of its own.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { TIMEOUT } from './timeout';

/** The program: what `cargo build -p readyok` has made, or the one that `READYOK_BIN` names. */
export const PROGRAM = process.env.READYOK_BIN ?? resolve('../target/debug/readyok');

/** What its processes have in their environment, and with them all that they start. */
const MARK = 'READYOK_JOURNEY';

export class RealServer {
  readonly data = mkdtempSync(join(tmpdir(), 'readyok-e2e-'));
  #process: ChildProcess | undefined;
  #link = '';

  /** Starts it and waits for the link that it prints. */
  async start(args: string[] = []): Promise<void> {
    if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not there: see scripts/check-page.sh`);
    const child = this.#run(args);
    this.#process = child;
    this.#link = await linkOf(child);
  }

  #run(args: string[] = []): ChildProcess {
    return spawn(PROGRAM, ['serve', '--no-open', '--data', this.data, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, [MARK]: this.data },
    });
  }

  /** A link lets one browser in. Another start of the program gives another one. */
  async nextLink(): Promise<string> {
    const link = this.#link;
    this.#link = '';
    return link || (await linkOf(this.#run()));
  }

  /** The command lines of all that runs because of it: the server, engines, and what they have started. */
  processes(): string[] {
    const mark = `${MARK}=${this.data}\0`;
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        try {
          // What has ended and is not yet buried has no environment.
          if (!readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark)) return [];
          return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()];
        } catch {
          // It is gone, or somebody else's.
          return [];
        }
      });
  }

  /** Stops it, as Ctrl-Z does, and has it go on. */
  async suspend(milliseconds: number): Promise<void> {
    this.#process?.kill('SIGSTOP');
    await new Promise((done) => setTimeout(done, milliseconds));
    this.#process?.kill('SIGCONT');
  }

  /** Ends it at once, as a crash would. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Ends it as a person would, and starts it with the same data. */
  async restart(args: string[] = []): Promise<void> {
    await this.#end('SIGTERM');
    await this.start(args);
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
    rmSync(this.data, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill(signal);
    await ended;
  }

  /** A browser that the server knows, at a page. */
  async page(browser: Browser, hash = '', options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const page = await this.newBrowser(browser, options);
    await page.goto(await this.nextLink());
    await page.locator('nav').waitFor();
    if (hash) await page.goto(new URL(`/${hash}`, page.url()).href);
    return page;
  }

  /** A browser that the server does not know, at an empty page. */
  async newBrowser(browser: Browser, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width: 1366, height: 860 },
      locale: 'en-GB',
      ...options,
    });
    context.setDefaultTimeout(TIMEOUT);
    return context.newPage();
  }
}

function linkOf(child: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    let said = '';
    const hear = (text: Buffer) => {
      said += text.toString();
      const link = /http:\/\/\S+/.exec(said)?.[0];
      if (link) found(link);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.on('exit', (code) => failed(new Error(`the server ended with ${code}: ${said}`)));
  });
}
