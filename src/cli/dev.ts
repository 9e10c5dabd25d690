import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../config.ts';
import { readArguments } from './arguments.ts';
import { type Command, EXIT_OK, type Terminal } from './dispatch.ts';

/** Runs the service, and reloads it on a change that it can start with. */
export const devCommand: Command = {
  usage: [
    'Usage: trading-graph dev',
    '',
    'Runs the service, and starts it anew when a file of an extension is saved, or one that it imports. Where the',
    'extension cannot be loaded, it says why, and the service goes on with what it had.',
  ].join('\n'),
  async run(args, terminal) {
    readArguments({ args: [...args] });
    const { extensions: files } = readConfig(terminal.environment);
    const stopped = terminal.stopped();
    let isBroken = false;
    // A failed load may lack a file that is not followed yet: then each file counts.
    using changes = new Changes(() => isBroken || !isRunning(service));
    for (const file of files) changes.follow(resolve(file));
    let service = start(changes, terminal);
    let isStopping = false;
    const ended = stopped.then(() => {
      isStopping = true;
      changes.end();
    });
    for await (const file of changes) {
      const problem = await problemOf(changes, stopped);
      if (isStopping) break;
      isBroken = problem !== null;
      if (problem !== null) {
        const now = isRunning(service) ? 'what ran before goes on' : 'nothing runs until it is';
        terminal.err(`${problem}\n${file} cannot be loaded: ${now}.`);
        continue;
      }
      // A file has changed since the trial, whose result says nothing of it.
      if (changes.isWaiting) continue;
      terminal.err(`${file} has changed: the service starts anew.`);
      await stop(service);
      service = start(changes, terminal);
    }
    await ended;
    await stop(service);
    return EXIT_OK;
  },
};

/** Reports the address of each file as it is loaded, and ends with the process that has started it. */
const REPORTING = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      if (process.connected && !url.includes('/node_modules/')) process.send(url);
      return next(url, context);
    },
  });
  process.once('disconnect', () => process.kill(process.pid));
  process.channel?.unref();
`)}`;

/** An extension may loop. */
const TRIAL_MS = 30_000;
/** A program that asks for its end a second time gets it at once: an app that stays connected holds nobody up. */
const PATIENCE_MS = 2_000;

function run(command: string, changes: Changes, isQuiet: boolean): ChildProcess {
  const program = process.argv[1] ?? '';
  const args = [...process.execArgv, `--import=${REPORTING}`, program, command];
  const output = isQuiet ? (['ignore', 'pipe'] as const) : (['inherit', 'inherit'] as const);
  // It has a process group of its own: Ctrl+C is for this process, which ends the other.
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', ...output, 'ipc'],
    detached: true,
  });
  child.on('message', (url: string) => {
    if (url.startsWith('file:')) changes.follow(fileURLToPath(url));
  });
  return child;
}

function start(changes: Changes, terminal: Terminal): ChildProcess {
  const service = run('start', changes, false);
  service.once('exit', (code) => {
    if (code !== 0 && !service.killed)
      terminal.err('The service has ended: save a file to start it.');
  });
  return service;
}

/** Loads the extensions in a process of their own; null where they can be served. */
async function problemOf(changes: Changes, stopped: Promise<void>): Promise<string | null> {
  const trial = run('schema', changes, true);
  const exit = once(trial, 'exit');
  let late = '';
  const end = () => trial.kill('SIGKILL');
  const timer = setTimeout(() => {
    late = `It was not loaded within ${TRIAL_MS / 1_000} s.`;
    end();
  }, TRIAL_MS);
  stopped.then(end, end);
  const said = trial.stderr ? await text(trial.stderr) : '';
  const [code] = await exit;
  clearTimeout(timer);
  return code === 0 ? null : `${said}${late}`.trim();
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

async function stop(service: ChildProcess): Promise<void> {
  if (!isRunning(service)) return;
  const exit = once(service, 'exit');
  service.kill();
  const again = setTimeout(() => service.kill(), PATIENCE_MS);
  await exit;
  clearTimeout(again);
}

const SOURCE = /\.(?:[cm]?[jt]s|json)$/;
/** Editors write a file in several steps. */
const QUIET_MS = 100;

/** The changes of files, one for all that come while the last is dealt with. */
class Changes implements Disposable {
  readonly #takesAny: () => boolean;
  readonly #files = new Set<string>();
  readonly #watchers = new Map<string, FSWatcher>();
  #wake = Promise.withResolvers<void>();
  #changed: string | null = null;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;

  /** Where `takesAny`, a change of any source file beside a followed one counts. */
  constructor(takesAny: () => boolean) {
    this.#takesAny = takesAny;
  }

  /** Whether another change has come since the last. */
  get isWaiting(): boolean {
    return this.#changed !== null;
  }

  /** Watches its folder: an editor may put a new file in place of the old, and one that is missing may come. */
  follow(path: string): void {
    this.#files.add(path);
    const folder = dirname(path);
    if (this.#watchers.has(folder) || this.#isOver) return;
    try {
      const watcher = watch(folder, (_event, file) => {
        if (file === null || !SOURCE.test(file)) return;
        if (this.#files.has(join(folder, file)) || this.#takesAny()) this.#note(file);
      });
      watcher.on('error', () => watcher.close());
      this.#watchers.set(folder, watcher);
    } catch {
      // The folder is not there: what is wrong with the file says so.
    }
  }

  #note(file: string): void {
    this.#changed = basename(file);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#wake.resolve(), QUIET_MS);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    while (!this.#isOver) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
      const file = this.#changed;
      this.#changed = null;
      if (file !== null && !this.#isOver) yield file;
    }
  }

  end(): void {
    this.#isOver = true;
    this.#wake.resolve();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
  }
}
