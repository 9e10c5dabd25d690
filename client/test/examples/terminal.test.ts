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
import { endPrograms, type Program, startProgram } from '../support/example-process.ts';

const SOURCE = join(import.meta.dirname, '../../../examples/terminal/ticker.ts');

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
const line = startedForEach(() => startCutProxy(app.url));
afterEach(endPrograms);

function start(environment: Readonly<Record<string, string>> = {}): Program {
  const env = { TRADING_GRAPH_URL: `${line.url}/graphql`, TZ: 'UTC', ...environment };
  return startProgram(process.execPath, [program], env);
}

test('in a pipe it waits for its server, writes a line for each change, goes on after a lost line, and ends with Ctrl-C', async () => {
  await line.refuse();
  const ticker = start();
  await eventually(() => expect(ticker.out).toMatch(/OFFLINE\n$/), ticker.whileOpen);
  await line.heal();
  // The lines may come in several pieces.
  const rows = () => ticker.out.match(/Z [A-Z]\S+ +(BUY|SELL) +[\d.]+ +[\d.]+ +[+-].*\n/g) ?? [];
  await eventually(() => /LIVE\n/.test(ticker.out) && rows().length >= 6);
  expect(rows()).toHaveLength(6);
  expect(ticker.out).toMatch(/AAPL +BUY /);
  expect(ticker.out).not.toContain('\x1b');

  ticker.news();
  app.sandbox.putPrice('AAPL', 230);
  await eventually(() => expect(ticker.out).toMatch(/AAPL.* 230\.00 /), ticker.whileOpen);
  expect(ticker.news()).toMatch(/^\S+Z AAPL .*\n$/);

  await line.refuse();
  await eventually(() => expect(ticker.out).toMatch(/OFFLINE\n$/), ticker.whileOpen);
  app.sandbox.putPrice('AAPL', 231);
  await line.heal();
  await eventually(() => expect(ticker.out).toMatch(/AAPL.* 231\.00 /), ticker.whileOpen);
  // It resumed by its cursor: no other row came again.
  expect(ticker.news().match(/ (BUY|SELL) /g)).toHaveLength(1);

  // Below its stop-loss.
  app.sandbox.putPrice('AAPL', 150);
  await eventually(() => expect(ticker.out).toContain('AAPL BUY closed'), ticker.whileOpen);

  expect(await ticker.kill('SIGINT')).toEqual([0, null]);
  expect(ticker.err).toBe('');
  await eventually(() => expect(line.open).toBe(0));
});

test('a refused sign-in ends it with the reason', async () => {
  const refused = start({ TRADING_GRAPH_PASSWORD: 'wrong' });
  expect(await refused.ended).toEqual([1, null]);
  expect(refused.err).toMatch(/./);
});
