import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { compileCache } from './compile-cache.ts';

export interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

/** Runs `trading-graph` in a process of its own, with nothing to read and these variables alone. */
export async function runCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH, ...compileCache(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, out, err };
}
