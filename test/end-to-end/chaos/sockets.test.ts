import { once } from 'node:events';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { heldBytes } from '../../support/heap.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { initializedSocket, openSocket, type RawSocket } from '../live/raw-socket.ts';

const MEGABYTE = 1_048_576;

const app = sharedApp({ POSITIONS_POLL_MS: '100', RATE_LIMIT_PER_MINUTE: '1000000' });
let token: string;
beforeAll(() => {
  token = app.sandbox.token({ email: 'demo@example.com' });
});

describe('the payload of connection_init', () => {
  test('is not retained for the socket’s lifetime, except its token', async () => {
    const sockets: RawSocket[] = [];
    const before = heldBytes();
    for (let at = 0; at < 150; at += 1) {
      const raw = await openSocket(app);
      const padding = `${at} ${'x'.repeat(240_000)}`;
      raw.say({ type: 'connection_init', payload: { authorization: `Bearer ${token}`, padding } });
      await once(raw.socket, 'message');
      sockets.push(raw);
    }
    expect((heldBytes() - before) / MEGABYTE).toBeLessThan(15);
    const last = sockets.at(-1) as RawSocket;
    last.subscribe('1', '{ session { login } }');
    expect((await last.until('1', 'next')).payload.data).toEqual({ session: { login: '700001' } });
    for (const raw of sockets) raw[Symbol.dispose]();
  });

  test('may name the token in any case, and may be anything else', async () => {
    for (const payload of [null, {}, { authorization: 1 }, { authorization: ['x'] }, { a: 'b' }]) {
      using raw = await openSocket(app);
      raw.say({ type: 'connection_init', payload });
      await eventually(() => raw.messages.some(({ type }) => type === 'connection_ack'));
    }
  });
});

test('an operation’s id has a maximum length', async () => {
  using raw = await initializedSocket(app, token);
  const id = 'x'.repeat(256);
  raw.subscribe(id, 'subscription { positions { id } }');
  expect((await raw.until(id, 'error')).payload).toMatchObject([
    { extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'characters of an id', maximum: 255 } },
  ]);
  raw.subscribe('x'.repeat(255), '{ __typename }');
  await raw.until('x'.repeat(255), 'complete');
});

test('subscriptions that come and go leave nothing behind', async () => {
  using raw = await initializedSocket(app, token);
  const churn = async (times: number) => {
    for (let at = 0; at < times; at += 1) {
      raw.subscribe(`${at}`, 'subscription { positionChanges { cursor } }');
      raw.say({ id: `${at}`, type: 'complete' });
      if (at % 20 === 0) {
        raw.subscribe('mark', '{ __typename }');
        await raw.until('mark', 'complete');
        raw.messages.length = 0;
      }
    }
    await eventually(async () => {
      const text = await (await fetch(`${app.adminUrl}/metrics`)).text();
      return text.includes('trading_graph_subscriptions 0\n');
    });
    raw.messages.length = 0;
  };
  await churn(300);
  const before = heldBytes();
  await churn(1_500);
  expect((heldBytes() - before) / MEGABYTE).toBeLessThan(5);
  raw.subscribe('last', 'subscription { positionChanges { cursor } }');
  await raw.until('last', 'next');
});
