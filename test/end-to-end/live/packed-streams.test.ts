import { constants, gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { rawResponse } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import type { ChangesEvent } from './watcher.ts';

const QUERY = `subscription { positionChanges {
  cursor snapshot upserted { id symbol side units priceOpen priceCurrent profit } opened closed
  totals { count invested profit } status asOf
} }`;

const app = sharedApp({ POSITIONS_POLL_MS: '100' });
const tokenOf = (email: string) => app.sandbox.token({ email });

async function openStream(encodings: string, token: string) {
  const response = await rawResponse(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      accept: 'text/event-stream',
      'accept-encoding': encodings,
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ query: QUERY }),
  });
  response.on('error', () => {});
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  const bytes = () => Buffer.concat(chunks);
  return {
    response,
    /** All that has come, as it came. */
    bytes,
    /** What a stream that goes on has brought so far. */
    text: () =>
      response.headers['content-encoding'] === undefined
        ? bytes().toString()
        : gunzipSync(bytes(), { finishFlush: constants.Z_SYNC_FLUSH }).toString(),
    [Symbol.dispose]: () => void response.destroy(),
  };
}

function eventsIn(text: string): ChangesEvent[] {
  return [...text.matchAll(/^data: (\{.*\})$/gm)].map(
    ([, json]) => JSON.parse(json as string).data.positionChanges,
  );
}

/** The events by the cursors between which they lead: readers may have begun at different versions. */
function steps(events: readonly ChangesEvent[]): Map<string, ChangesEvent> {
  return new Map(
    events.slice(1).map((event, at) => [`${events[at]?.cursor} ${event.cursor}`, event]),
  );
}

test('an event stream is packed for a client that takes gzip, says the same in a third of the bytes, and ends whole', async () => {
  // An account of 25 positions.
  const ending = tokenOf('pro@example.com');
  using packed = await openStream('gzip, deflate, br', ending);
  using plain = await openStream('br, gzip;q=0', tokenOf('pro@example.com'));
  const streams = [packed, plain];
  const encodings = streams.map(({ response }) => response.headers['content-encoding']);
  expect(encodings).toEqual(['gzip', undefined]);
  for (let count = 1; count <= 4; count += 1) {
    await eventually(() => streams.every((each) => eventsIn(each.text()).length >= count));
    app.sandbox.tick();
  }
  const known = steps(eventsIn(plain.text()));
  const shared = [...steps(eventsIn(packed.text()))].filter(([step]) => known.has(step));
  expect(shared.length).toBeGreaterThan(1);
  for (const [step, event] of shared) expect(known.get(step)).toEqual(event);
  expect(packed.bytes().length / plain.bytes().length).toBeLessThan(0.36);
  app.sandbox.revoke({ token: ending });
  await eventually(() => packed.response.complete);
  // Its checksum included.
  const text = gunzipSync(packed.bytes()).toString();
  expect(text).toContain('"code":"UNAUTHENTICATED"');
  expect(text).toMatch(/event: complete\ndata:\n\n$/);
});

test.each([
  ['gzip, br', 'gzip'],
  ['identity', undefined],
])(
  'a stream’s headers are sent immediately, before there is any event: %s',
  async (taken, used) => {
    app.sandbox.fail({ operation: 'getOpenPositions', kind: 'hang' });
    onTestFinished(() => app.sandbox.clearFaults());
    using stream = await openStream(taken, tokenOf('fresh@example.com'));
    expect(stream.response.statusCode).toBe(200);
    expect(stream.response.headers).toMatchObject({
      'content-type': expect.stringMatching(/^text\/event-stream/),
      'cache-control': 'no-store',
      vary: 'Authorization, Accept, Accept-Encoding, Origin',
      'x-accel-buffering': 'no',
    });
    expect(stream.response.headers['content-encoding']).toBe(used);
  },
);
