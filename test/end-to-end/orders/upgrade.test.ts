import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compileCache } from '../../support/compile-cache.ts';

const main = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts');
const HOUR_MS = 3_600_000;

/** Starts the program in a folder of its own; returns its output, and whether it served. */
async function start(
  environment: Readonly<Record<string, string>>,
  prepare: (folder: string) => void = () => {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'trading-graph-upgrade-'));
  prepare(folder);
  const env = {
    ...compileCache(),
    ...{ PORT: '0', ADMIN_PORT: '0', GATEWAY_URL: 'http://127.0.0.1:9' },
    ...environment,
  };
  const child = spawn(process.execPath, [main], { cwd: folder, env, stdio: 'pipe' });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      said += String(text);
      if (said.includes('"serving"')) child.kill('SIGTERM');
    });
  }
  const [code] = await once(child, 'close');
  rmSync(folder, { recursive: true });
  return { said, code, served: said.includes('"serving"') };
}

function leaveJournal(ageMs: number) {
  return (folder: string) => {
    const path = join(folder, 'data', 'orders.journal');
    mkdirSync(join(folder, 'data'));
    writeFileSync(path, 'orders\n');
    const at = (Date.now() - ageMs) / 1_000;
    utimesSync(path, at, at);
  };
}

test('a journal of the last day stops the start, and the error names both remedies', async () => {
  const { said, code, served } = await start({}, leaveJournal(23 * HOUR_MS));
  expect(served).toBe(false);
  expect(code).toBe(1);
  expect(said).toMatch(/ORDER_STORE=.*does not have the orders .*orders\.journal/);
  expect(said).toMatch(/start it after \d{4}-.*or remove that file if they may be sent again/);
});

test.each([
  ['an older journal', {}, leaveJournal(25 * HOUR_MS)],
  ['no journal', {}, undefined],
  ['a journal, and records in memory', { ORDER_STORE: 'memory' }, leaveJournal(0)],
])('%s does not stop the start', async (_, environment, prepare) => {
  const { said, served } = await start(environment, prepare);
  expect(served, said).toBe(true);
});

test.each([
  ['/srv/orders.journal', /ORDER_JOURNAL=.*let the earlier version take no orders for 24 hours/],
  ['memory', /ORDER_JOURNAL=memory: must be unset; the setting is now ORDER_STORE=memory/],
])('ORDER_JOURNAL=%s stops the start', async (value, text) => {
  const { said, code } = await start({ ORDER_JOURNAL: value });
  expect(code).toBe(1);
  expect(said).toMatch(text);
});

test('a file that cannot be used stops the start with one sentence', async () => {
  const { said, code } = await start({}, (folder) => {
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'orders.db'), 'my thesis\n'.repeat(100));
  });
  expect(code).toBe(1);
  const lines = said
    .trim()
    .split('\n')
    .filter((line) => line.includes('ORDER_STORE'));
  expect(lines).toEqual([
    expect.stringMatching(
      /^ORDER_STORE=.*is no database, or is damaged: restore it, or move it away/,
    ),
  ]);
});
