import { expect, test } from 'vitest';
import { heldBytes } from '../../../test/support/heap.ts';
import { createPositions } from '../../src/live/positions.ts';
import type { PositionsState } from '../../src/live/states.ts';
import { ROWS, ScriptedServer } from './scripted-server.ts';

const WARM_UP = 2_000;
const RECONNECTS = 1_000;
const MAX_GROWTH_BYTES = 50_000;

test(`${RECONNECTS} reconnects leave the heap level and no timer behind`, async () => {
  const server = new ScriptedServer();
  const { clock, environment } = server;
  const positions = createPositions(server.core);
  let last: PositionsState | null = null;
  const end = positions((state) => {
    last = state;
  });
  await clock.advance(0);
  server.send(true);
  const pending = environment.pending;

  async function live(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      if (round % 4 === 0) server.end(null);
      else if (round % 4 === 1) server.reconnect();
      // Nothing has come for longer than the watch allows.
      else if (round % 4 === 2) await clock.advance(40_000);
      else environment.hide();
      await clock.advance(1_000);
      environment.comeBack();
      await clock.advance(30_000);
      server.send(round % 2 === 0);
      server.send(false);
      expect(last).toMatchObject({ status: 'LIVE', positions: { length: ROWS } });
      expect(environment.pending).toBe(pending);
    }
  }

  await live(WARM_UP);
  const growths: number[] = [];
  for (let span = 0; span < 3; span += 1) {
    const before = heldBytes();
    await live(RECONNECTS);
    growths.push(heldBytes() - before);
  }
  // Code that is compiled meanwhile is held as well, but once; what leaks is held anew each time.
  expect(Math.min(...growths)).toBeLessThan(MAX_GROWTH_BYTES);
  expect(server.begun).toBeGreaterThan(RECONNECTS / 4);
  end();
  await clock.advance(0);
  expect(server.sink).toBeNull();
  expect(environment.pending).toBe(0);
});
