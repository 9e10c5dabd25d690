import { expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

test.each([
  ['gzip, br', 'gzip'],
  ['identity', undefined],
])(
  'an event stream’s headers are sent immediately, before there is any event: %s',
  async (accepted, used) => {
    const clock = createScriptedClock(Date.now());
    await using gateway = await startSandbox({ clock, tickMs: 0 });
    await using app = await startTestApp({ POSITIONS_POLL_MS: '100' }, { gateway });
    // The gateway answers only after the headers are here.
    gateway.fail({ operation: 'getOpenPositions', kind: 'delay', delayMs: 1_000, times: 1 });
    const token = gateway.token({ email: 'demo@example.com' });
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'accept-encoding': accepted,
      },
      body: JSON.stringify({ query: 'subscription { positionChanges { cursor } }' }),
    });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': expect.stringMatching(/^text\/event-stream/),
      'cache-control': 'no-store',
      vary: 'Authorization, Accept, Accept-Encoding, Origin',
      'x-accel-buffering': 'no',
    });
    expect(response.headers.get('content-encoding') ?? undefined).toBe(used);
    await response.body?.cancel();
  },
);
