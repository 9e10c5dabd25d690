import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';

const main = join(import.meta.dirname, '..', '..', '..', 'src', 'cli', 'main.ts');

/** Runs the check at its own terminal, which `script` creates. */
function startAtTerminal(url: string) {
  const child = spawn('script', ['-qec', `'${process.execPath}' '${main}' check`, '/dev/null'], {
    env: { ...process.env, GATEWAY_URL: url, ORDER_STORE: 'memory', PORT: '0', ADMIN_PORT: '0' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => {
    shown += String(chunk);
  });
  const ended = once(child, 'close');
  return {
    ended: async () => ({ code: (await ended)[0] as number, shown }),
    /** Types a line once the question is shown. */
    async answer(question: string, line: string) {
      await eventually(() => expect(shown).toContain(question));
      child.stdin.write(line);
    },
  };
}

// On other systems `script` has other arguments.
test.skipIf(process.platform !== 'linux')(
  'the console asks for a password without an echo',
  async () => {
    await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
    const { answer, ended } = startAtTerminal(gateway.url);
    await answer('E-mail (none to give a token): ', 'demo@example.com\r');
    await answer('Password: ', 'demo\r');
    const { code, shown } = await ended();
    expect(shown).toContain('No problem.');
    expect(code).toBe(0);
    expect(shown.replaceAll('demo@example.com', '')).not.toContain('demo');
  },
);
