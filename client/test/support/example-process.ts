import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const children: ChildProcess[] = [];

/** A program in a process group of its own; `endPrograms` ends it with its children at the latest. */
export function startProgram(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd?: string,
) {
  const child = spawn(command, args, { env, cwd, stdio: 'pipe', detached: true });
  children.push(child);
  const ended = once(child, 'exit');
  let read = 0;
  let left: string | null = null;
  const program = {
    out: '',
    err: '',
    /** The output since the last call. */
    news() {
      const text = program.out.slice(read);
      read = program.out.length;
      return text;
    },
    type: (command: string) => void child.stdin.write(`${command}\n`),
    /** Ends the whole group, like Ctrl+C in a terminal. */
    kill(signal: 'SIGINT' | 'SIGKILL') {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
      return ended;
    },
    ended,
    /** For `eventually`: the end of the process fails the wait. */
    whileOpen: { ended: () => left },
  };
  child.stdout.on('data', (text) => {
    program.out += text;
  });
  child.stderr.on('data', (text) => {
    program.err += text;
  });
  // All of its output has arrived by then.
  child.once('close', (code, signal) => {
    left = `${command} left with ${code ?? signal}: ${program.err}`;
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
