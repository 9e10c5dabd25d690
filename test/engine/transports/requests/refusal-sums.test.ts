import { expect, test } from 'vitest';
import { RefusalSums } from '../../../../src/engine/transports/requests/refusal-sums.ts';
import { createScriptedClock } from '../../../support/scripted-clock.ts';

test('a flood from more addresses than are counted apart is summed up as one', async () => {
  const clock = createScriptedClock();
  const written: string[] = [];
  const sums = new RefusalSums(clock, (members) => written.push(members));
  for (let at = 0; at < 1_000; at += 1) expect(sums.add(`"address":"${at}"`)).toBe(true);
  const lines = Array.from({ length: 30 }, (_, at) => sums.add(`"address":"${1_000 + at}"`));
  expect(lines.filter(Boolean)).toHaveLength(10);
  await clock.advance(60_000);
  expect(written).toEqual(['"address":"others","count":20']);
});
