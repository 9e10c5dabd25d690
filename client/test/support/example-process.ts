import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const children: ChildProcess[] = [];

/** A program of the examples that runs as a process; `endPrograms` ends it at the latest. */
export function startProgram(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
) {
  const child = spawn(command, args, { env: { ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  children.push(child);
  const ended = once(child, 'exit');
  let out = '';
  let err = '';
  let read = 0;
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  return {
    get out() {
      return out;
    },
    get err() {
      return err;
    },
    /** The output since the last call. */
    news() {
      const text = out.slice(read);
      read = out.length;
      return text;
    },
    type: (command: string) => void child.stdin.write(`${command}\n`),
    kill(signal: 'SIGINT' | 'SIGKILL') {
      child.kill(signal);
      return ended;
    },
    ended,
  };
}

export type Program = ReturnType<typeof startProgram>;

export async function endPrograms(): Promise<void> {
  const gone = children.splice(0).map((child) => {
    child.kill('SIGKILL');
    return child.exitCode ?? child.signalCode ?? once(child, 'exit');
  });
  await Promise.all(gone);
}
