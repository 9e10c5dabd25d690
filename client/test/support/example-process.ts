import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const children: ChildProcess[] = [];

/** Starts a program in its own process group. `endPrograms` ends it and its children, if nothing else has. */
export function startProgram(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd?: string,
) {
  const child = spawn(command, args, { env, cwd, stdio: 'pipe', detached: true });
  children.push(child);
  const ended = once(child, 'exit');
  let failure: string | null = null;
  const program = {
    out: '',
    err: '',
    /** Ends the whole group, like Ctrl+C in a terminal. */
    kill(signal: 'SIGINT' | 'SIGKILL') {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
      return ended;
    },
    ended,
    /** For `eventually`: the end of the process fails the wait. */
    whileOpen: { ended: () => failure },
  };
  child.stdout.on('data', (text) => {
    program.out += text;
  });
  child.stderr.on('data', (text) => {
    program.err += text;
  });
  // At `close` all output of the program has arrived.
  child.once('close', (code, signal) => {
    failure = `${command} exited with ${code ?? signal}: ${program.err}`;
  });
  return program;
}

export type Program = ReturnType<typeof startProgram>;

export async function endPrograms(): Promise<void> {
  const gone = children.splice(0).map((child) => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, 'SIGKILL');
    }
    return child.exitCode ?? child.signalCode ?? once(child, 'exit');
  });
  await Promise.all(gone);
}
