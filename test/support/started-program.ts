import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { eventually } from './eventually.ts';

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** A program that is killed at the end of its scope, or by `kill`. It can be started again. */
export interface Program extends AsyncDisposable {
  /** Every line of all its runs, on stdout and on stderr. */
  readonly logged: readonly string[];
  pid(): number | undefined;
  /** Resolves when it is ready. */
  start(): Promise<void>;
  kill(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the exit code once it has exited; null after a signal. */
  ended(): Promise<number | null>;
}

/** Starts another program, and waits until it is ready: `isReady` gets the lines of this run. */
export async function startProgram(
  path: string,
  args: readonly string[],
  isReady: (lines: readonly string[]) => unknown,
  { cwd, env = process.env }: ProgramOptions = {},
): Promise<Program> {
  const logged: string[] = [];
  let child: ChildProcess;
  let exit: Promise<number | null>;
  const kill = async () => {
    child.kill('SIGKILL');
    await exit;
  };
  const start = async () => {
    const before = logged.length;
    const started = spawn(path, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    exit = once(started, 'close').then(([code]) => code as number | null);
    endWithThisProcess(started);
    for (const input of [started.stdout, started.stderr]) {
      eachLine(input, (line) => logged.push(line));
    }
    let failure: unknown = null;
    exit.then(
      (code) => {
        failure = `${path} exited with ${code} before it was ready: ${logged.at(-1)}`;
      },
      (error) => {
        failure = error;
      },
    );
    try {
      await eventually(() => isReady(logged.slice(before)), { ended: () => failure });
    } catch (error) {
      await kill();
      throw error;
    }
  };
  await start();
  return {
    logged,
    pid: () => child.pid,
    start,
    kill,
    signal: (signal) => void child.kill(signal),
    ended: () => exit,
    [Symbol.asyncDispose]: kill,
  };
}

/** Kills the program if this process dies first: its death closes the stdin of a shell, and the shell's `read` returns. */
function endWithThisProcess(program: ChildProcess): void {
  if (program.pid === undefined) return;
  const args = ['-c', 'read _; kill -9 "$0"', String(program.pid)];
  const shell = spawn('sh', args, { stdio: ['pipe', 'ignore', 'ignore'] });
  program.once('exit', () => shell.kill('SIGKILL'));
}

/** Splits at line feeds alone. `readline` would also split at U+2028, which a client's text may have. */
function eachLine(input: Readable, take: (line: string) => void): void {
  let rest = '';
  input.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
  input.on('end', () => rest !== '' && take(rest));
}
