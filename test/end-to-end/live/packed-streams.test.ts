import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { constants, gunzipSync } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithChromium } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { type ChangesEvent, sseClient, webSocketClient } from './watcher.ts';

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

function expectSameEvents([first = [], ...others]: readonly (readonly ChangesEvent[])[]): void {
  for (const other of others) {
    const known = steps(other);
    const shared = [...steps(first)].filter(([step]) => known.has(step));
    expect(shared.length).toBeGreaterThan(1);
    for (const [step, event] of shared) expect(known.get(step)).toEqual(event);
  }
}

test('an event stream is packed for a client that takes gzip, and says the same in a third of the bytes', async () => {
  using packed = await openStream('gzip, deflate, br');
  using beside = await openStream('br;q=1, gzip;q=0.5');
  using plain = await openStream('br, gzip;q=0');
  const streams = [packed, beside, plain];
  expect(streams.map(({ response }) => response.headers['content-encoding'])).toEqual([
    'gzip',
    'gzip',
    undefined,
  ]);
  for (let count = 1; count <= 4; count += 1) {
    await eventually(() => streams.every((each) => eventsIn(textOf(each)).length >= count));
    app.sandbox.tick();
  }
  expectSameEvents(streams.map((each) => eventsIn(textOf(each))));
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

test('the client libraries unpack each event as it comes, over both transports', async () => {
  const clients = [sseClient(app, token), webSocketClient(app, token)];
  const watchers = clients.map((client) => client.watch({}, QUERY));
  for (let count = 1; count <= 4; count += 1) {
    await eventually(() => watchers.every(({ events }) => events.length >= count));
    app.sandbox.tick();
  }
  expectSameEvents(watchers.map(({ events }) => events));
  for (const client of clients) await client.dispose();
});

describeWithChromium('a browser', (executablePath) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  });
  afterAll(() => browser.close());

  const followStream = `async ({ token, query }) => {
    window.seen = [];
    const headers = {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      authorization: 'Bearer ' + token,
    };
    const body = JSON.stringify({ query });
    const response = await fetch('/graphql', { method: 'POST', headers, body });
    window.extension = response.headers.get('content-encoding');
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      window.seen = [...text.matchAll(/^data: (\\{.*\\})$/gm)].map(([, json]) => JSON.parse(json));
    }
  }`;
  const followSocket = `({ token, query }) => {
    window.seen = [];
    const socket = new WebSocket('/graphql', 'graphql-transport-ws');
    const say = (message) => socket.send(JSON.stringify(message));
    socket.onopen = () => {
      window.extension = socket.extensions;
      say({ type: 'connection_init', payload: { authorization: 'Bearer ' + token } });
    };
    socket.onmessage = ({ data }) => {
      const { type, payload } = JSON.parse(data);
      if (type === 'connection_ack') say({ type: 'subscribe', id: '1', payload: { query } });
      if (type === 'next') window.seen.push(payload);
    };
  }`;

  test.each([
    ['an event stream', followStream, /^gzip$/],
    ['a WebSocket', followSocket, /^permessage-deflate; server_no_context_takeover/],
  ])('unpacks each event as it comes, of %s', async (_what, follow, extension) => {
    const page = await browser.newPage();
    await page.goto(`${app.url}/health/live`);
    void page.evaluate(`(${follow})(${JSON.stringify({ token, query: QUERY })})`).catch(() => {});
    for (let count = 1; count <= 4; count += 1) {
      await page.waitForFunction(`window.seen?.length >= ${count}`);
      app.sandbox.tick();
    }
    expect(await page.evaluate('window.extension')).toMatch(extension);
    const rows = await page.evaluate('window.seen[0].data.positionChanges.upserted.length');
    expect(rows).toBe(25);
    await page.close();
  });
});
