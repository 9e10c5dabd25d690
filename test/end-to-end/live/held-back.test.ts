import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { initializedSocket, type RawSocket } from './raw-socket.ts';
import { CHANGES, sseClient } from './watcher.ts';

const PRO = { email: 'pro@example.com' };
// One token has half of its account's budget: three use all of it up.
const TOKENS = 3;
const SUBSCRIPTIONS = 14;

let app: TestApp;
let heavy: readonly RawSocket[];

beforeEach(async () => {
  app = await startTestApp({ MAX_COST: '320', POSITIONS_POLL_MS: '100' });
  const tokens = Array.from({ length: TOKENS }, () => app.sandbox.token(PRO));
  heavy = await Promise.all(tokens.map((token) => initializedSocket(app, token)));
  // Far more than the 1,600 fields of a minute, so that the last of them wait for more than a
  // minute. What is shared would count once, so each has a document of its own.
  for (const [by, socket] of heavy.entries()) {
    for (let at = 0; at < SUBSCRIPTIONS; at += 1) {
      const document = CHANGES.replace('positionChanges(', `own${by}_${at}: positionChanges(`);
      socket.subscribe(`heavy ${at}`, document);
    }
  }
  // The fields of sixteen events, behind the acknowledgements: from here on events wait.
  const received = () => heavy.reduce((sum, { messages }) => sum + messages.length, 0);
  await eventually(() => received() >= 16 + TOKENS);
});
afterEach(async () => {
  for (const socket of heavy) socket[Symbol.dispose]();
  await app.close();
});

/** Its subscription has proved the token, whose feed is running already. */
async function follows(token: string): Promise<void> {
  await eventually(() => app.sandbox.calls('getSession') === TOKENS + 1);
  expect((await app.query('{ session { login } }', { token })).errors).toEqual([]);
}

test('a token that is refused closes its socket at once, though its event is held back', async () => {
  const token = app.sandbox.token(PRO);
  using socket = await initializedSocket(app, token);
  socket.subscribe('a', CHANGES);
  await follows(token);
  app.sandbox.revoke({ token });
  await eventually(() => socket.closed !== null);
  expect(socket.closed).toEqual({ code: 4403, reason: 'UNAUTHENTICATED' });
  expect(socket.messages.map(({ type }) => type)).toEqual(['connection_ack']);
});

test('a token that is refused ends its event stream at once, though its event is held back', async () => {
  const token = app.sandbox.token(PRO);
  const client = sseClient(app, token);
  const watcher = client.watch();
  await follows(token);
  app.sandbox.revoke({ token });
  await eventually(() => watcher.ended !== null);
  expect(watcher.ended).toBe('complete');
  expect(watcher.events).toEqual([]);
  expect(watcher.errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
  client.dispose();
});

test('events of subscriptions that have left hold nobody back', async () => {
  using socket = await initializedSocket(app, app.sandbox.token(PRO));
  for (const each of heavy) each.socket.terminate();
  socket.subscribe('a', CHANGES);
  await eventually(() => socket.messages.some(({ type }) => type === 'next'));
});
