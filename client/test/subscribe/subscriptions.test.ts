import { expect, test } from 'vitest';
import { WebSocket as NodeWebSocket } from 'ws';
import { eventually } from '../../../test/support/eventually.ts';
import { ownApp } from '../../../test/support/shared-app.ts';
import { startedForEach } from '../../../test/support/started.ts';
import type { TradingGraphError } from '../../src/errors.ts';
import { createPositions } from '../../src/live/positions.ts';
import { handshakeError } from '../../src/subscribe/handshake-error.ts';
import { fakeClient } from '../../src/testing.ts';
import { startCore, type TestCoreOptions } from '../support/client.ts';
import {
  type CountedEnvironmentOptions,
  countedEnvironment,
} from '../support/counted-environment.ts';
import { startCutProxy } from '../support/cut-proxy.ts';

const app = ownApp({ POSITIONS_POLL_MS: '100' });
const proxy = startedForEach(() => startCutProxy(app.url));
/** Follows the positions through the proxy, and collects the errors that the list shows. */
function listen(platform: CountedEnvironmentOptions, options: TestCoreOptions = {}) {
  const environment = countedEnvironment({ random: () => 0, ...platform });
  const core = startCore(app, { url: `${proxy.url}/graphql`, ...options, environment });
  const positions = createPositions(core);
  const errors: (TradingGraphError | null)[] = [];
  positions(({ error }) => {
    if (error !== errors.at(-1)) errors.push(error);
  });
  return { state: positions.state, errors, [Symbol.dispose]: () => core.dispose() };
}

test('the first list at the very first start needs one socket and no answered query', async () => {
  const steps: string[] = [];
  class RecordedWebSocket extends NodeWebSocket {
    constructor(...given: ConstructorParameters<typeof NodeWebSocket>) {
      super(...given);
      steps.push('upgrade');
      this.once('open', () => steps.push('upgraded'));
      this.once('message', () => steps.push('first message'));
    }
    override send(data: string) {
      steps.push(JSON.parse(data).type);
      super.send(data);
    }
  }
  using phone = listen({
    WebSocket: RecordedWebSocket as unknown as typeof globalThis.WebSocket,
    // No query is ever answered.
    fetch: () => new Promise(() => {}),
  });
  await eventually(() => expect(phone.state().status).toBe('LIVE'));
  expect(proxy.accepted).toBe(1);
  // The client subscribes before the server's first message, so it waits for only two round trips.
  expect(steps).toEqual(['upgrade', 'upgraded', 'connection_init', 'subscribe', 'first message']);
});

test('a connection closes with its last subscription, also after an earlier one has failed for good', async () => {
  const { client, market } = fakeClient();
  const ends: unknown[] = [];
  const follow = async () => {
    const ended = (error: unknown) => void ends.push(error);
    const leave = client.subscribe('subscription { a }', () => ({}), { next() {}, ended });
    await market.pass(0);
    return leave;
  };
  await follow();
  // The server closes the socket because a message is too large.
  market.subscriptions[0]?.cut(1009);
  await market.pass(0);
  expect(ends).toMatchObject([{ retryable: false }]);
  const leave = await follow();
  expect(market.network.connections.size).toBe(1);
  leave();
  expect(market.network.connections.size).toBe(0);
  // The app itself has ended the second.
  expect(ends).toHaveLength(1);
  await follow();
  client.dispose();
  expect(market.network.connections.size).toBe(0);
});

/** Like React Native on Android, this socket sends an origin. The origin counts as foreign if a proxy rewrites `Host`. */
class ForeignSocket extends NodeWebSocket {
  constructor(url: string, protocol: string) {
    super(url, protocol, { origin: 'https://api.example.com' });
  }
}
const WebSocket = ForeignSocket as unknown as typeof globalThis.WebSocket;

test('a WebSocket that the server refuses is reported with its status, and the list is polled in its place', async () => {
  using phone = listen({ WebSocket });
  await eventually(() => expect(phone.state().status).toBe('DELAYED'));
  expect(phone.state()).toMatchObject({
    positions: { length: 6 },
    error: { code: 'NETWORK', retryable: true, extensions: { status: 403 } },
  });
  expect(phone.errors.at(-1)?.message).toContain('rewrites `Host`');
});

test.each([
  ['Unexpected server response: 403', { status: 403 }],
  ["Expected HTTP 101 response but was '503 Service Unavailable'", { status: 503 }],
  ['Received bad response code from server: 404.', { status: 404 }],
  ['connect ECONNREFUSED 10.0.0.1:443', {}],
  ['Received network error or non-101 status code.', {}],
])('the error of a platform with the message %j has the extensions %j', (message, extensions) => {
  expect(handshakeError(message).extensions).toEqual(extensions);
});

test('a token that the app cannot fetch, and a socket that the platform refuses, are reported', async () => {
  const token = () => {
    throw new Error('the keychain is locked');
  };
  using signedOut = listen({}, { token });
  const texts = (errors: readonly (Error | null)[]) => errors.map((error) => error?.message).join();
  await eventually(() => expect(texts(signedOut.errors)).toContain('keychain'));
  class Forbidden {
    constructor() {
      throw new Error('a content security policy');
    }
  }
  using phone = listen({ WebSocket: Forbidden as unknown as typeof globalThis.WebSocket });
  await eventually(() => expect(texts(phone.errors)).toContain('security policy'));
});
