import { expect, test } from 'vitest';
import { WebSocket as NodeWebSocket } from 'ws';
import { eventually } from '../../../test/support/eventually.ts';
import type { TradingGraphError } from '../../src/errors.ts';
import { createPositions } from '../../src/live/positions.ts';
import { handshakeError } from '../../src/subscribe/handshake-error.ts';
import {
  type CountedEnvironmentOptions,
  countedEnvironment,
} from '../support/counted-environment.ts';
import { cutLine } from '../support/cut-line.ts';
import { subscribe } from '../support/events.ts';

const { proxy, open } = cutLine();

/** Like React Native on Android, this socket sends an origin. The origin counts as foreign if a proxy rewrites `Host`. */
class ForeignSocket extends NodeWebSocket {
  constructor(url: string, protocol: string) {
    super(url, protocol, { origin: 'https://api.example.com' });
  }
}
const WebSocket = ForeignSocket as unknown as typeof globalThis.WebSocket;

function follow(platform: CountedEnvironmentOptions) {
  const core = open({ environment: countedEnvironment({ random: () => 0, ...platform }) });
  const positions = createPositions(core);
  const errors: (TradingGraphError | null)[] = [];
  positions(({ error }) => {
    if (error !== errors.at(-1)) errors.push(error);
  });
  return { core, positions, errors, [Symbol.dispose]: () => core.dispose() };
}

test('a WebSocket that the server refuses is reported with its status, and the list is polled in its place', async () => {
  using phone = follow({ WebSocket });
  await eventually(() => expect(phone.positions.state().status).toBe('DELAYED'));
  expect(phone.positions.state()).toMatchObject({
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

/** A client of the test's own server; waits of seconds are shortened. */
function openAt(url: string, platform: CountedEnvironmentOptions = {}, token = () => 'one') {
  const hurry = (ms: number) => (ms < 10_000 ? Math.min(ms, 20) : ms);
  return open({ url, token, environment: countedEnvironment({ hurry, ...platform }) });
}

test('a token that the app cannot fetch, and a socket that the platform refuses, are reported', async () => {
  const noToken = () => {
    throw new Error('the keychain is locked');
  };
  using signedOut = openAt(proxy.url, {}, noToken);
  const { losses: noTokens } = subscribe(signedOut);
  await eventually(() => expect(noTokens[0]?.message).toContain('keychain'));
  let tries = 0;
  class Forbidden {
    constructor() {
      tries += 1;
      throw new Error('a content security policy');
    }
  }
  const Refused = Forbidden as unknown as typeof globalThis.WebSocket;
  using core = openAt(`${proxy.url}/graphql`, { WebSocket: Refused });
  const { losses } = subscribe(core);
  await eventually(() => expect(tries).toBeGreaterThan(1));
  expect(losses[0]?.message).toContain('security policy');
});
