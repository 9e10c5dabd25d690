import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Clock } from '../../lib/clock.ts';
import { watchPath } from '../../lib/watch-path.ts';
import { eventually } from '../support/eventually.ts';
import { ownFolder } from '../support/own-folder.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';

const folder = ownFolder();

async function watched(path: string) {
  const clock = createScriptedClock();
  let changes = 0;
  const onChange = () => {
    changes += 1;
  };
  let ask = () => {};
  const after: Clock['after'] = (ms, task) => {
    ask = task;
    return clock.after(ms, task);
  };
  const close = await watchPath({ path, clock: { ...clock, after }, onChange });
  /** A file that is being written may be seen in two states. */
  const seen = (least: number, ms: number) =>
    eventually(async () => {
      await clock.advance(ms);
      return changes >= least;
    });
  return { clock, close, seen, ask: () => ask() };
}

test('a path is asked for its changes again and again', async () => {
  // Nothing is there yet.
  const path = join(folder.path, 'later', 'file');
  const { clock, close, seen } = await watched(path);
  await mkdir(join(folder.path, 'later'));
  for (const [at, text] of ['one', 'another'].entries()) {
    await writeFile(path, text);
    await seen(at + 1, 2_000);
  }
  close();
  expect(clock.pending).toBe(0);
});

test('a change is heard of within two seconds', async () => {
  const path = join(folder.path, 'file');
  await writeFile(path, 'one');
  const { clock, close, seen } = await watched(path);
  const untilMs = clock.now() + 2_000;
  await writeFile(path, 'another');
  await seen(1, 1);
  expect(clock.now()).toBeLessThan(untilMs);
  expect(clock.pending).toBe(1);
  close();
  expect(clock.pending).toBe(0);
});

test('nothing is asked after the end, and no answer heard', async () => {
  const { clock, close, ask } = await watched(folder.path);
  ask();
  close();
  const other = await watched(folder.path);
  await writeFile(join(folder.path, 'file'), 'one');
  await other.seen(1, 1);
  other.close();
  expect(clock.pending).toBe(0);
});
