import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { ownApp } from '../../../test/support/shared-app.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { clientSources } from '../support/client-sources.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { endPrograms, startProgram } from '../support/example-process.ts';

const SOURCE = join(import.meta.dirname, '../../../examples/terminal/ticker.mjs');

let folder: string;
let program: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ticker-'));
  program = join(folder, 'ticker.mjs');
  const bundle = await rolldown({ input: SOURCE, platform: 'node', plugins: [clientSources()] });
  await bundle.write({ file: program });
  await bundle.close();
});
afterAll(() => rmSync(folder, { recursive: true }));
const app = ownApp({ POSITIONS_POLL_MS: '100', LOGIN_LIMIT_PER_MINUTE: '1000' });
const proxy = startedForEach(() => startCutProxy(app.url));
afterEach(endPrograms);

const start = (...args: readonly string[]) =>
  startProgram(
    process.execPath,
    [program, ...args],
    { TRADING_GRAPH_URL: `${proxy.url}/graphql` },
    folder,
  );

test('the ticker waits for its server, prints each change, continues after a lost connection, and ends with Ctrl-C', async () => {
  await proxy.refuse();
  const ticker = start();
  const says = (text: RegExp) =>
    eventually(() => expect(ticker.out).toMatch(text), ticker.whileOpen);
  await says(/^OFFLINE/m);
  await proxy.heal();
  await says(/^LIVE \S+Z \S+ .*AAPL -?\d/m);
  await proxy.refuse();
  await says(/^OFFLINE \S+Z \S+ .*AAPL .*\n$/m);
  await proxy.heal();
  await says(/\nLIVE .*\n$/);
  expect(await ticker.kill('SIGINT')).toEqual([0, null]);
  expect(ticker.err).toBe('');
  await eventually(() => expect(proxy.open).toBe(0));
});

test('the ticker buys once', async () => {
  // A service that has just started refuses a key of the same second, because its records possibly do not cover that key.
  await eventually(async () => {
    const ticker = start('buy');
    await eventually(() => expect(ticker.out).toMatch(/^order /m), ticker.whileOpen);
    await ticker.kill('SIGINT');
    expect(ticker.out).toContain('order accepted');
  });
  expect(app.sandbox.orders()).toHaveLength(1);
});
