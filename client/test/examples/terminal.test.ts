import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { ownApp } from '../../../test/support/shared-app.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { clientSources } from '../support/client-sources.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { endPrograms, type Program, startProgram } from '../support/example-process.ts';

const SOURCE = join(import.meta.dirname, '../../../examples/terminal/ticker.ts');
// A pseudo-terminal of fixed size, as far as a program that only writes to it can tell.
const TERMINAL = 'Object.assign(process.stdout, { isTTY: true, columns: 60, rows: 9 });';

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

function start(environment: Readonly<Record<string, string>> = {}, onTerminal = false): Program {
  const preload = onTerminal ? ['--import', `data:text/javascript,${TERMINAL}`] : [];
  const env = { TRADING_GRAPH_URL: `${line.url}/graphql`, TZ: 'UTC', ...environment };
  return startProgram(process.execPath, [...preload, program], env);
}

test('in a pipe it waits for its server, writes a line for each change, goes on after a lost line, and ends with Ctrl-C', async () => {
  await line.refuse();
  const ticker = start();
  await eventually(() => /OFFLINE\n$/.test(ticker.out));
  await line.heal();
  // The lines may come in several pieces.
  const rows = () => ticker.out.match(/Z [A-Z]\S+ +(BUY|SELL) +[\d.]+ +[\d.]+ +[+-].*\n/g) ?? [];
  await eventually(() => /LIVE\n/.test(ticker.out) && rows().length >= 6);
  expect(rows()).toHaveLength(6);
  expect(ticker.out).toMatch(/AAPL +BUY /);
  expect(ticker.out).not.toContain('\x1b');

  ticker.news();
  app.sandbox.putPrice('AAPL', 230);
  await eventually(() => /AAPL.* 230\.00 /.test(ticker.out));
  expect(ticker.news()).toMatch(/^\S+Z AAPL .*\n$/);

  await line.refuse();
  await eventually(() => /OFFLINE\n$/.test(ticker.out));
  app.sandbox.putPrice('AAPL', 231);
  await line.heal();
  await eventually(() => /AAPL.* 231\.00 /.test(ticker.out));
  // It resumed by its cursor: no other row came again.
  expect(ticker.news().match(/ (BUY|SELL) /g)).toHaveLength(1);

  // Below its stop-loss.
  app.sandbox.putPrice('AAPL', 150);
  await eventually(() => ticker.out.includes('AAPL BUY closed'));

  expect(await ticker.kill('SIGINT')).toEqual([0, null]);
  expect(ticker.err).toBe('');
  await eventually(() => line.open === 0);
});

test('in a terminal it redraws in place, within its size, and leaves the terminal as it was', async () => {
  const ticker = start({}, true);
  await eventually(() => /LIVE/.test(ticker.out) && /Profit/.test(ticker.out));
  const frames = () => ticker.out.split('\x1b[H');
  const rows = stripVTControlCharacters(frames().at(-1) ?? '').split('\n');
  expect(rows.length).toBeLessThanOrEqual(9);
  expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(60);
  expect(rows.join('\n')).toContain('… and 2 more');
  expect(ticker.out).toContain('\x1b[32m');
  app.sandbox.putPrice('AAPL', 230);
  await eventually(() => / 230\.00 /.test(stripVTControlCharacters(frames().at(-1) ?? '')));
  line.cut();
  await eventually(() => /OFFLINE/.test(ticker.out));
  await eventually(() => /LIVE/.test(frames().at(-1) ?? ''));
  expect(await ticker.kill('SIGINT')).toEqual([0, null]);
  expect(ticker.out.startsWith('\x1b[?1049h\x1b[?25l')).toBe(true);
  expect(ticker.out.endsWith('\x1b[?25h\x1b[?1049l')).toBe(true);
  expect(ticker.err).toBe('');
});

test('a refused token is renewed; a refused sign-in ends it with the reason', async () => {
  const ticker = start();
  await eventually(() => /LIVE/.test(ticker.out));
  app.sandbox.revoke({ login: 700_001 });
  await eventually(() => app.sandbox.calls('login') === 2);
  app.sandbox.putPrice('AAPL', 232);
  await eventually(() => / 232\.00 /.test(ticker.out));
  app.sandbox.fail({ operation: 'login', kind: 'status', status: 401 });
  app.sandbox.revoke({ login: 700_001 });
  expect(await ticker.ended).toEqual([1, null]);
  expect(ticker.err).toMatch(/./);

  const refused = start({ TRADING_GRAPH_PASSWORD: 'wrong' });
  expect(await refused.ended).toEqual([1, null]);
  expect(refused.err).toMatch(/./);
});
