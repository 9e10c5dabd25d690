import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { watchPath } from '../../../src/engine/documents/watch-path.ts';
import { eventually } from '../../support/eventually.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const folder = ownFolder();

test('each change of a path is heard of within two seconds, also where nothing is there yet', async () => {
  const path = join(folder.path, 'later', 'file');
  const clock = createScriptedClock();
  let changes = 0;
  const onChange = () => {
    changes += 1;
  };
  const close = await watchPath({ path, clock, onChange });
  await mkdir(join(folder.path, 'later'));
  for (const [at, text] of ['one', 'another'].entries()) {
    const untilMs = clock.now() + 2_000;
    await writeFile(path, text);
    // A file that is being written may be seen in two states.
    await eventually(async () => {
      await clock.advance(20);
      return changes > at;
    });
    expect(clock.now()).toBeLessThan(untilMs);
  }
  expect(clock.pending).toBe(1);
  close();
  expect(clock.pending).toBe(0);
});
