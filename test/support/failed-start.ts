import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Environment } from '../../src/config.ts';
import { compileCache } from './compile-cache.ts';
import { PROGRAM } from './program.ts';

export interface FailedStart {
  /** Null if the program had to be killed because it did not exit. */
  readonly code: number | null;
  readonly stdout: string;
  /** The lines of stderr. */
  readonly problems: readonly string[];
}

/** Long enough for a busy machine. */
const EXITS_WITHIN_MS = 150_000;
const run = promisify(execFile);

/** Starts the program like an operator, with only this environment, and waits until it has exited. */
export async function failedStart(
  environment: Environment,
  program: readonly string[] = [PROGRAM],
): Promise<FailedStart> {
  const {
    code = 0,
    stdout,
    stderr,
  } = await run(process.execPath, program, {
    env: { PORT: '0', ADMIN_PORT: '0', ...compileCache(), ...environment },
    timeout: EXITS_WITHIN_MS,
    killSignal: 'SIGKILL',
  }).catch((error) => error);
  return { code, stdout, problems: stderr.trimEnd().split('\n') };
}
