import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { initializedSocket, type RawSocket } from './raw-socket.ts';
import { CHANGES, sseClient } from './watcher.ts';

const PRO = { email: 'pro@example.com' };
const SUBSCRIPTIONS = 40;

let app: TestApp;
let heavy: RawSocket;

beforeEach(async () => {
  app = await startTestApp({ MAX_COST: '320', POSITIONS_POLL_MS: '100' });
  heavy = await initializedSocket(app, app.sandbox.token(PRO));
  // Far more than the 1,600 fields of a minute, so that the last of them wait for more than a
  // minute. What is shared would count once, so each has a document of its own.
  for (let at = 0; at < SUBSCRIPTIONS; at += 1) {
    const document = CHANGES.replace('positionChanges(', `own${at}: positionChanges(`);
    heavy.subscribe(`heavy ${at}`, document);
  }
  // The fields of sixteen events, behind the acknowledgement: from here on events wait.
  await eventually(() => heavy.messages.length > 16);
});
afterEach(async () => {
  heavy[Symbol.dispose]();
  await app.close();
});

/** Its subscription has proved the token, whose feed is running already. */
async function follows(token: string): Promise<void> {
  await eventually(() => app.sandbox.calls('getSession') === 2);
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
  heavy.socket.terminate();
  socket.subscribe('a', CHANGES);
  await eventually(() => socket.messages.some(({ type }) => type === 'next'));
});
