import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { catalogStops } from '../../bench/support/phones/catalog-stops.ts';
import { hermesPath, instruments, onHermes } from '../../bench/support/phones/run-phones.ts';

/** Other programs add to single stops of most rounds. */
const ROUNDS = 8;
/** The answer is parsed in one stop on each engine, which is some three times what a piece may take. */
const OF_THE_WHOLE = 0.6;

const { hermes, reason } = await hermesPath().then(
  (path) => ({ hermes: path, reason: '' }),
  ({ message }: Error) => ({ hermes: '', reason: ` (${message.split('\n')[0]})` }),
);

describe.skipIf(reason !== '')(`the catalog on React Native's engine${reason}`, () => {
  test('is read, changed, kept and searched as on Node, and stops the app for pieces alone', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'phones-'));
    const rows = await instruments(5_000);
    const stops = await onHermes(hermes, { rows, rounds: ROUNDS, folder: folder.path });
    const there = await catalogStops(
      {
        turn: (value) => turn(value),
        longestStop: async (task) => task().then(() => 0),
        nowMs: () => 0,
      },
      rows,
      1,
    );
    expect(stops.found).toEqual(there.found);
    expect(stops.found.some((count) => count > 0)).toBe(true);
    const most = stops.firstLoad * OF_THE_WHOLE;
    expect(stops.firstLoadInParts).toBeLessThan(most);
    expect(stops.restart).toBeLessThan(most);
    expect(stops.save).toBeLessThan(most);
    expect(stops.search).toBeLessThan(most);
  });
});
