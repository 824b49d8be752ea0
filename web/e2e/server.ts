// A real server with an empty data directory.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { locale } from './labels';
import { TIMEOUT } from './timeout';

/** The server: built by `cargo build -p readyok`, or named by `READYOK_BIN`. */
export const PROGRAM = process.env.READYOK_BIN ?? resolve('../target/debug/readyok');

/** The environment variable that marks the server and all its child processes. */
const MARK = 'READYOK_JOURNEY';

export class RealServer {
  readonly data = mkdtempSync(join(tmpdir(), 'readyok-e2e-'));
  #process: ChildProcess | undefined;
  #link = '';

  /** Starts the server and waits for the printed link. */
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

  /** A link logs in one browser. Starting the program again prints another link. */
  async nextLink(): Promise<string> {
    const link = this.#link;
    this.#link = '';
    return link || (await linkOf(this.#run()));
  }

  /** The command lines of the server, its engines and their child processes. */
  processes(): string[] {
    const mark = `${MARK}=${this.data}\0`;
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        try {
          // A zombie has no environment.
          if (!readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark)) return [];
          return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()];
        } catch {
          // The process has exited or belongs to another user.
          return [];
        }
      });
  }

  /** Suspends the server, as Ctrl-Z does, and resumes it. */
  async suspend(milliseconds: number): Promise<void> {
    this.#process?.kill('SIGSTOP');
    await new Promise((done) => setTimeout(done, milliseconds));
    this.#process?.kill('SIGCONT');
  }

  /** Kills the server, like a crash. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Terminates the server and starts it with the same data. */
  async restart(args: string[] = [], between = () => {}): Promise<void> {
    await this.#end('SIGTERM');
    between();
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

  /** Opens a page in a browser that is logged in. */
  async page(browser: Browser, hash = '', options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const page = await this.newBrowser(browser, options);
    const failures: string[] = [];
    page.on('requestfailed', (request) =>
      failures.push(`${new URL(request.url()).pathname}: ${request.failure()?.errorText}`),
    );
    await page.goto(`${await this.nextLink()}${hash}`);
    try {
      // Boards have none on phones.
      await page.locator('nav').first().waitFor({ state: 'attached' });
    } catch (cause) {
      const text = await page.locator('body').innerText();
      throw new Error(`no navigation: ${text}; failed requests: ${failures.join(', ')}`, { cause });
    }
    return page;
  }

  /** Opens an empty page in a browser that is not logged in. */
  async newBrowser(browser: Browser, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width: 1366, height: 860 },
      locale: locale(),
      ...options,
    });
    context.setDefaultTimeout(TIMEOUT);
    return context.newPage();
  }
}

function linkOf(child: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    let output = '';
    const onData = (text: Buffer) => {
      output += text.toString();
      const link = /http:\/\/\S+/.exec(output)?.[0];
      if (link) found(link);
    };
    child.stdout?.on('data', onData);
    child.stderr?.on('data', onData);
    child.on('exit', (code) => failed(new Error(`the server ended with ${code}: ${output}`)));
  });
}
