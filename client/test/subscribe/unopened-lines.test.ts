import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { WebSocket as NodeWebSocket, WebSocketServer } from 'ws';
import { eventually } from '../../../test/support/eventually.ts';
import { listenLocally } from '../../../test/support/local-server.ts';
import { createCore } from '../../src/create-core.ts';
import type { Environment } from '../../src/environment.ts';
import type { TradingGraphError } from '../../src/errors.ts';
import { createPositions } from '../../src/live/positions.ts';
import { handshakeError } from '../../src/subscribe/handshake-error.ts';
import { countedEnvironment } from '../support/counted-environment.ts';
import { asksForStream, cutLine } from '../support/cut-line.ts';

type Platform = Partial<Environment>;

const { proxy, open } = cutLine();

/** As React Native's on Android does, the socket names an origin; behind a proxy that rewrites `Host` it is a foreign one. */
class ForeignSocket extends NodeWebSocket {
  constructor(url: string, protocol: string) {
    super(url, protocol, { origin: 'https://api.example.com' });
  }
}
const WebSocket = ForeignSocket as unknown as typeof globalThis.WebSocket;

/** As in a browser, nothing is said of why it did not open. */
class SilentSocket extends ForeignSocket {
  override addEventListener(...[type, listener]: Parameters<NodeWebSocket['addEventListener']>) {
    const told = type === 'error' ? () => (listener as (event: object) => void)({}) : listener;
    super.addEventListener(type, told as typeof listener);
  }
}

/** As React Native's, it gives whole bodies only. */
const unstreamed: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init);
  const { status, headers } = answer;
  return { status, headers, text: () => answer.text() } as Response;
};

function follow(platform: Platform) {
  const core = open({ environment: countedEnvironment({ random: () => 0, ...platform }) });
  const positions = createPositions(core);
  const errors: (TradingGraphError | null)[] = [];
  positions(({ error }) => {
    if (error !== errors.at(-1)) errors.push(error);
  });
  return { core, positions, errors, [Symbol.dispose]: () => core.dispose() };
}

test('a WebSocket that the server refuses is told of by its status, and that nothing stands in for it', async () => {
  using phone = follow({ WebSocket, fetch: unstreamed });
  await eventually(() => phone.positions.state().error?.message.includes('cannot read') === true);
  expect(phone.positions.state()).toMatchObject({
    status: 'OFFLINE',
    error: { code: 'NETWORK', retryable: true, extensions: { status: 403 } },
  });
  expect(phone.errors.filter((error) => error !== null)).toHaveLength(2);
  expect(phone.errors.at(-1)?.message).toContain('rewrites `Host`');
});

test('where sockets are refused and `fetch` streams an event stream takes over, and the error is gone', async () => {
  using phone = follow({ WebSocket });
  await eventually(() => phone.positions.state().status === 'LIVE');
  expect(phone.errors.some((error) => error?.extensions.status === 403)).toBe(true);
  expect(phone.positions.state().error).toBeNull();
});

test('a platform that says nothing of the socket has the status from the event stream that is tried', async () => {
  const refused: typeof fetch = async (input, init) =>
    asksForStream(init) ? new Response('no', { status: 406 }) : fetch(input, init);
  const Silent = SilentSocket as unknown as typeof globalThis.WebSocket;
  using phone = follow({ WebSocket: Silent, fetch: refused });
  await eventually(() => phone.positions.state().error?.extensions.status === 406);
});

test('an error is gone once a socket opens', async () => {
  proxy.blockUpgrades();
  using phone = follow({ fetch: unstreamed });
  await eventually(() => phone.positions.state().error !== null);
  await proxy.heal();
  await eventually(() => phone.positions.state().status === 'LIVE');
  expect(phone.positions.state().error).toBeNull();
});

test.each([
  ['Unexpected server response: 403', { status: 403 }],
  ["Expected HTTP 101 response but was '503 Service Unavailable'", { status: 503 }],
  ['Received bad response code from server: 404.', { status: 404 }],
  ['connect ECONNREFUSED 10.0.0.1:443', {}],
  ['Received network error or non-101 status code.', {}],
])('what a platform says, %j, has the status %j', (said, extensions) => {
  expect(handshakeError(said).extensions).toEqual(extensions);
});

/** What the first handshakes with a server come to. */
async function told(url: string, platform: Platform = {}, token: () => string = () => 'one') {
  const environment = countedEnvironment({ random: () => 0, ...platform });
  const core = createCore({ url, token, storage: null, route: false, environment });
  const error = await new Promise<TradingGraphError>((resolve) => {
    core.subscribe('subscription { positionChanges { cursor } }', () => ({}), {
      next() {},
      ended() {},
      disconnected: (why) => why && resolve(why),
    });
  });
  core.dispose();
  expect(environment.timers.size).toBe(0);
  return error;
}

test('a socket that is closed before it is acknowledged is told of by its code', async () => {
  const http = createServer();
  new WebSocketServer({ server: http }).on('connection', (socket) =>
    socket.close(4408, 'too slow'),
  );
  await using server = await listenLocally(http);
  const error = await told(server.url);
  expect(error).toMatchObject({ code: 'NETWORK', extensions: { closeCode: 4408 } });
  expect(error.message).toContain('too slow');
});

test('an event stream that is answered with something else is told of by the status', async () => {
  const http = createServer((_, response) => response.writeHead(406).end('no'));
  await using server = await listenLocally(http);
  const error = await told(server.url, { WebSocket: null });
  expect(error.extensions).toEqual({ status: 406 });
});

test('a token that the app cannot fetch, and a socket that the platform refuses, are told of', async () => {
  const noToken = () => {
    throw new Error('the keychain is locked');
  };
  expect((await told(`${proxy.url}/graphql`, {}, noToken)).message).toContain('keychain');
  class Forbidden {
    constructor() {
      throw new Error('a content security policy');
    }
  }
  const Refused = Forbidden as unknown as typeof globalThis.WebSocket;
  expect((await told(proxy.url, { WebSocket: Refused })).message).toContain('security policy');
});
