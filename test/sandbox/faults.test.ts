import { expect, test } from 'vitest';
import { openSandbox } from './sandbox-client.ts';

const DEMO = 'demo@example.com';

test('a fault ends after its duration', async () => {
  await using place = await openSandbox();
  const demo = place.as(DEMO);
  place.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', forMs: 5_000 });
  await place.clock.advance(4_999);
  expect((await demo.ask('getOpenPositions')).status).toBe(500);
  await place.clock.advance(1);
  expect((await demo.ask('getOpenPositions')).status).toBe(200);
});
