import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { eventually } from './eventually.ts';

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Called with each line that it writes. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/** It ends as by a power cut, at the end of its scope or before. */
export interface Program extends AsyncDisposable {
  signal(signal: NodeJS.Signals): void;
}

/** Another program, once it is ready. */
export async function startProgram(
  path: string,
  args: readonly string[],
  isReady: () => unknown,
  { cwd, env = process.env, onLine }: ProgramOptions = {},
): Promise<Program> {
  const child = spawn(path, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let last = '';
  const exited = once(child, 'exit');
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      last = line;
      onLine?.(line);
    });
  }
  const program = {
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
  try {
    const leaves = exited.then(([code]) => {
      throw new Error(`${path} left with ${code} before it was ready: ${last}`);
    });
    await Promise.race([eventually(async () => (await isReady()) as boolean), leaves]);
    return program;
  } catch (error) {
    await program[Symbol.asyncDispose]();
    throw error;
  }
}
