import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createKnownKeys } from '../../lib/limits/known-keys.ts';
import { startSandbox } from '../../sandbox/start.ts';
import { openKnownFile } from '../../src/store/known-file.ts';
import { startTestApp } from '../support/app.ts';
import { ownFolder } from '../support/own-folder.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';

const LIFE_MS = 60_000;
const folder = ownFolder();

/** The known keys of a process that begins. */
async function begun(path: string, clock = createScriptedClock()) {
  const warnings: string[] = [];
  const file = await openKnownFile({ path, clock, onWarn: (text) => warnings.push(text) });
  const keys = createKnownKeys(clock, LIFE_MS, file.keys('token'));
  return { clock, file, keys, warnings };
}

test('keys are known after a restart for as long as they would be without, each kind for itself, and none that was erased', async () => {
  const path = join(folder.path, 'known');
  const first = await begun(path);
  for (const key of ['kept', 'erased', 'again', 'not']) first.keys.add(key);
  first.keys.delete('erased');
  first.keys.delete('again');
  first.keys.add('again');
  first.keys.delete('never there');
  await first.clock.advance(1_000);
  await first.file.close();
  expect(await readFile(path, 'utf8')).not.toContain('never');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  // Another process that shares the file.
  const other = await begun(path, first.clock);
  other.keys.delete('not');
  await other.file.close();
  await first.clock.advance(LIFE_MS - 2_000);
  const next = await begun(path, first.clock);
  const known = () => ['kept', 'again', 'erased', 'not'].map(next.keys.hasHere);
  expect(known()).toEqual([true, true, false, false]);
  expect(next.keys.isNew('kept')).toBe(true);
  const pairs = createKnownKeys(first.clock, LIFE_MS, next.file.keys('pair'));
  expect(await pairs.has('kept')).toBe(false);
  await first.clock.advance(1_001);
  expect(known()).toEqual([false, false, false, false]);
});

test('a key stays erased that another process had read before it wrote the file anew', async () => {
  const path = join(folder.path, 'anew');
  const { clock, file, keys } = await begun(path);
  keys.add('erased');
  await file.close();
  const before = await readFile(path);
  keys.delete('erased');
  await file.close();
  await writeFile(path, before);
  await clock.advance(31_000);
  await file.close();
  expect((await begun(path, clock)).keys.hasHere('erased')).toBe(false);
});

test('the file has a bound: the newest keys stay, and lines that no longer count go', async () => {
  const path = join(folder.path, 'full');
  const clock = createScriptedClock();
  const end = clock.date() + LIFE_MS;
  const lines = Array.from({ length: 150_000 }, (_, at) => `token ${at} ${end}\n`);
  await writeFile(path, lines.join(''));
  await appendFile(path, 'half a li');
  const { file, keys, warnings } = await begun(path, clock);
  expect([keys.hasHere('0'), keys.hasHere('149999')]).toEqual([false, true]);
  keys.add('new');
  await file.close();
  expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(100_001);
  expect(warnings).toEqual([]);
});

test('a file that cannot be used is told once, and stops nobody', async () => {
  const { file, keys, warnings } = await begun(folder.path);
  expect(warnings).toEqual([expect.stringContaining('cannot be read')]);
  for (const key of ['a', 'b']) {
    keys.add(key);
    await file.close();
  }
  expect(warnings).toEqual([expect.anything(), expect.stringContaining('cannot be written')]);
  expect(keys.hasHere('a')).toBe(true);
});

test('the start says what it costs that no signature can be verified, and where one can it does not', async () => {
  await using gateway = await startSandbox({ instruments: 40, tickMs: 0 });
  for (const [environment, times] of [
    [{}, 1],
    [{ JWT_SECRET: 'a secret of thirty-two characters' }, 0],
  ] as const) {
    await using app = await startTestApp(environment, { gateway });
    expect(app.logged.filter((line) => line.includes('JWT_JWKS_URL'))).toHaveLength(times);
  }
});
