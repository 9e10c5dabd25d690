import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { constants, gunzipSync } from 'node:zlib';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';
import type { ChangesEvent } from './watcher.ts';

const QUERY = `subscription { positionChanges {
  cursor snapshot upserted { id symbol side units priceOpen priceCurrent profit } opened closed
  totals { count invested profit } status asOf
} }`;

const app = sharedApp({ POSITIONS_POLL_MS: '100' });
let token: string;

beforeAll(() => {
  // An account of 25 positions.
  token = app.sandbox.token({ email: 'pro@example.com' });
});

interface RawStream extends Disposable {
  readonly response: IncomingMessage;
  /** All that has come, as it came. */
  bytes(): Buffer;
}

async function openStream(encodings: string, of = token): Promise<RawStream> {
  const outgoing = request(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      accept: 'text/event-stream',
      'accept-encoding': encodings,
      'content-type': 'application/json',
      authorization: `Bearer ${of}`,
    },
  });
  outgoing.on('error', () => {});
  outgoing.end(JSON.stringify({ query: QUERY }));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  return {
    response,
    bytes: () => Buffer.concat(chunks),
    [Symbol.dispose]: () => outgoing.destroy(),
  };
}

/** What a stream that goes on has brought so far. */
function textOf({ response, bytes }: RawStream): string {
  if (response.headers['content-encoding'] === undefined) return bytes().toString();
  return gunzipSync(bytes(), { finishFlush: constants.Z_SYNC_FLUSH }).toString();
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

test('an event stream is packed for a client that takes gzip, and says the same in a third of the bytes', async () => {
  using packed = await openStream('gzip, deflate, br');
  using plain = await openStream('br, gzip;q=0');
  const streams = [packed, plain];
  const encodings = streams.map(({ response }) => response.headers['content-encoding']);
  expect(encodings).toEqual(['gzip', undefined]);
  for (let count = 1; count <= 4; count += 1) {
    await eventually(() => streams.every((each) => eventsIn(textOf(each)).length >= count));
    app.sandbox.tick();
  }
  const known = steps(eventsIn(textOf(plain)));
  const shared = [...steps(eventsIn(textOf(packed)))].filter(([step]) => known.has(step));
  expect(shared.length).toBeGreaterThan(1);
  for (const [step, event] of shared) expect(known.get(step)).toEqual(event);
  expect(packed.bytes().length / plain.bytes().length).toBeLessThan(0.36);
});

test('a packed stream that ends is whole, checksum included', async () => {
  const ending = app.sandbox.token({ email: 'demo@example.com' });
  using stream = await openStream('gzip', ending);
  await eventually(() => eventsIn(textOf(stream)).length === 1);
  app.sandbox.revoke({ token: ending });
  await eventually(() => stream.response.complete);
  const text = gunzipSync(stream.bytes()).toString();
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
    using stream = await openStream(taken, app.sandbox.token({ email: 'fresh@example.com' }));
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
