import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** What code that somebody pastes writes, up to the text that is waited for: a subscription does not end by itself. */
export async function runSnippet(title: string, code: string, awaited: string): Promise<string> {
  // The package is not built here.
  const script = code.replace("'trading-graph-client'", "'./client/src/index.ts'");
  const child =
    title === 'curl'
      ? spawn('bash', ['-c', `exec ${code}`], { cwd: ROOT })
      : spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT });
  const ended = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text;
      if (output.includes(awaited)) child.kill();
    });
  }
  await ended;
  return output;
}
