import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { countedEnvironment } from '../support/counted-environment.ts';
import { cutLine } from '../support/cut-line.ts';
import { CHANGES, Events } from '../support/events.ts';

// Shortens back-off; watchdogs, handshakes and requests keep their time.
const hurriedEnvironment = (changed = {}) =>
  countedEnvironment({ hurry: (ms) => (ms < 10_000 ? Math.min(ms, 20) : ms), ...changed });

// A subscription ends with an error if no list has arrived within this timeout.
const { app, open } = cutLine({ GATEWAY_TIMEOUT_MS: '3000' });

test('events arrive until the subscription ends, and then nothing stays open', async () => {
  using core = open({ environment: hurriedEnvironment() });
  const events = new Events();
  const leave = core.subscribe(CHANGES, events.variables, events);
  await eventually(() => events.results.length > 0);
  expect(events.results[0]?.data?.positionChanges).toMatchObject({
    snapshot: true,
    status: 'LIVE',
  });
  app.sandbox.tick();
  await eventually(() => expect(events.results.length).toBeGreaterThan(1));
  expect(events.connections).toEqual(['connected']);
  leave();
  leave();
  expect(core.countedEnvironment.pending).toBe(0);
  expect(events.end).toBeUndefined();
});
