import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { postQuery } from '../../support/app.ts';
import { compileCache } from '../../support/compile-cache.ts';
import { eventually } from '../../support/eventually.ts';
import { rawRequest } from '../../support/raw-request.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/** Starts the program, and calls `read` with its output up to the hint that names Ctrl+C. */
async function withWelcome(
  environment: Readonly<Record<string, string>>,
  read: (written: string) => Promise<void> | void,
): Promise<void> {
  const child = spawn(process.execPath, ['src/cli/main.ts', 'start'], {
    cwd: root,
    env: { ...compileCache(), PORT: '0', ADMIN_PORT: '0', SANDBOX_SEED: 'tests', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let written = '';
    child.stdout.on('data', (text) => {
      written += text;
    });
    await eventually(() => expect(written).toContain('Ctrl+C'));
    await read(written);
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
  }
}

test('without GraphiQL the message names no missing page', async () => {
  await withWelcome({ GRAPHIQL: 'off' }, (written) => {
    expect(written).toContain('Try ');
    expect(written).not.toMatch(/Open|GraphiQL/);
  });
});

test('`trading-graph start` prints what to open, what to query and how to sign in, and everything works', async () => {
  await withWelcome({}, async (written) => {
    expect(written).toContain('sandbox');
    expect(written.trim().split('\n').length).toBeLessThan(12);

    const [, open = ''] = / {2}Open +(\S+)/.exec(written) ?? [];
    const demo = await rawRequest(open, { headers: { accept: 'text/html' } });
    expect(demo.text).toContain('<h1>One query for a whole screen.');

    const url = /GraphiQL +(\S+)/.exec(written)?.[1] ?? '';
    const page = await rawRequest(url, { headers: { accept: 'text/html' } });
    expect(page.text).toContain('<title>Trading Graph</title>');

    const [query, signIn] = ['Try', 'Sign in'].map(
      (name) => new RegExp(`${name} +([^\\n]*})`).exec(written)?.[1] ?? '',
    );
    const granted = await postQuery(url, signIn ?? '', {});
    expect(granted.errors).toEqual([]);
    const token = granted.data.login.accessToken;
    const answer = await postQuery(url, query ?? '', { token });
    expect(answer.errors).toEqual([]);
    expect(answer.data.session.balance).toBe(50_000);
    expect(answer.data.positions.length).toBeGreaterThan(0);
  });
});
