import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { CREDENTIALS, GRANT } from '../../src/gateway/operations/login.ts';
import { readingIn } from '../../src/gateway/scalars.ts';
import { askGateway } from '../support/ask-gateway.ts';
import { compileCache } from '../support/compile-cache.ts';
import { ownFolder } from '../support/own-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly bin: Readonly<Record<string, string>>;
};
const bin = join(root, manifest.bin['trading-graph'] ?? '');

const folder = ownFolder();

/** Runs the command like npx: by a link, in the caller's folder. */
function start(args: readonly string[]) {
  const link = join(mkdtempSync(join(folder.path, 'bin-')), 'trading-graph');
  symlinkSync(bin, link);
  return spawn(link, args, {
    cwd: folder.path,
    env: { PATH: process.env.PATH, ...compileCache(), SANDBOX_INSTRUMENTS: '10' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

async function run(...args: string[]) {
  const child = start(args);
  child.stdin.end();
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, out, err };
}

test('the bin can be executed', () => {
  // Others may execute it too, unless the umask of the clone forbids that.
  expect(statSync(bin).mode & 0o100).toBe(0o100);
  expect(readFileSync(bin, 'utf8')).toMatch(/^#!\/bin\/sh\n/);
});

test('the command runs from any folder, with only its own output and exit code', async () => {
  const { code, out, err } = await run('schema');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(readFileSync(join(root, 'schema.graphql'), 'utf8'));
  expect((await run('nope')).code).toBe(2);
});

test.each(['SIGTERM', 'SIGINT'] as const)('%s ends the program gracefully', async (signal) => {
  const child = start(['sandbox', '--port', '0']);
  const ended = once(child, 'exit');
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const url = String(line).split(' ').at(-1) ?? '';
  const body = CREDENTIALS.toWire({ email: 'demo@example.com', password: 'demo' });
  const issued = await askGateway(url, 'login', { token: null, body });
  const { accessToken = '' } = GRANT.read(await issued.json(), readingIn('auto')) ?? {};
  const catalog = await askGateway(url, 'getAllTickers', { token: accessToken });
  // The environment sets this number.
  expect(await catalog.json()).toHaveLength(10);
  child.kill(signal);
  expect(await ended).toEqual([0, null]);
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});
