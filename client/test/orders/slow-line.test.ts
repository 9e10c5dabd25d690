import { expect, test } from 'vitest';
import { browserEnvironment } from '../../src/browser-environment.ts';
import type { Environment } from '../../src/environment.ts';
import { buying, startPhone, undatedFetch } from '../support/phone.ts';

/** A device whose time passes four times as fast. */
const PACE = 4;
const SLOW_MS = 3_200;

/** A WebSocket whose handshake a proxy swallows. */
class Swallowed extends EventTarget {
  send() {}
  close() {}
}

function fastDevice(fetching: typeof fetch): Partial<Environment> {
  const { after } = browserEnvironment();
  return {
    fetch: fetching,
    now: () => Date.now() + (PACE - 1) * performance.now(),
    uptime: () => PACE * performance.now(),
    after: (ms, task) => after(ms / PACE, task),
  };
}

/** A line on which each request takes so long, and travels on where it was given up. */
function slowLine(roundTripMs: () => number): typeof fetch {
  const half = () => new Promise((resolve) => setTimeout(resolve, roundTripMs() / 2 / PACE));
  return (input, { signal, ...init } = {}) =>
    new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('aborted')));
      const answering = half().then(() => fetch(input, init));
      answering.then((answer) => half().then(() => resolve(answer)), reject);
    });
}

test.each([
  ['none', null],
  ['one that a proxy swallows', Swallowed as unknown as typeof WebSocket],
])('on a line that became slow an order is told; a WebSocket: %s', async (_, WebSocket) => {
  await using phone = await startPhone();
  let roundTripMs = 0;
  const device = fastDevice(slowLine(() => roundTripMs));
  const { orders, core } = phone.open({}, { ...device, WebSocket });
  await core.account();
  roundTripMs = SLOW_MS;
  const outcome = await orders.ticket().place(buying('slow line'), { withinMs: 30_000 });
  expect(outcome).toMatchObject({ status: 'accepted' });
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});

test('a page of a proxy in answer to the ping is no dead line', async () => {
  await using phone = await startPhone();
  const fetching: typeof fetch = async (input, init) =>
    String(init?.body).includes('"{__typename}"')
      ? new Response('<html>Busy</html>', { status: 503 })
      : fetch(input, init);
  const { orders, core } = phone.open({}, { fetch: fetching });
  await core.account();
  phone.app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 1_500 });
  expect(await orders.ticket().place(buying('busy'))).toMatchObject({ status: 'accepted' });
  expect([phone.line.sockets, phone.line.orders]).toEqual([0, 1]);
});

test('a token that takes long is no dead line', async () => {
  await using phone = await startPhone();
  let waitMs = 0;
  const slow = async () => {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    return phone.token;
  };
  // In its own time: what counts as dead would be a moment of a busy machine on a faster device.
  const { orders, core } = phone.open({ token: slow as unknown as () => string | null });
  await core.account();
  waitMs = 3_000;
  expect(await orders.ticket({ maxWaitMs: 60_000 }).place(buying('slow token'))).toMatchObject({
    status: 'accepted',
  });
  expect([phone.line.sockets, phone.line.orders]).toEqual([0, 1]);
});

test('without the server’s clock a dead line is left within half of the time of the order', async () => {
  await using phone = await startPhone();
  const { orders, core } = phone.open({}, fastDevice(undatedFetch));
  await core.account();
  phone.line.next.push('dead');
  expect(await orders.ticket().place(buying('dead'))).toMatchObject({
    status: 'accepted',
    replayed: false,
  });
  expect([phone.line.sockets, phone.line.orders]).toEqual([1, 1]);
});

test('an order whose WebSocket opens after a sleep of an hour is not sent, though no server’s clock is known', async () => {
  await using phone = await startPhone();
  let messages = 0;
  class Sleepy extends EventTarget {
    readonly #socket: WebSocket;
    constructor(url: string, protocol: string) {
      super();
      this.#socket = new WebSocket(url, protocol);
      for (const type of ['open', 'close', 'error']) {
        this.#socket.addEventListener(type, () => this.dispatchEvent(new Event(type)));
      }
      this.#socket.addEventListener('message', ({ data }) => {
        if (messages++ === 0) phone.clockMs += 3_600_000;
        this.dispatchEvent(new MessageEvent('message', { data }));
      });
    }
    send(text: string) {
      this.#socket.send(text);
    }
    close() {
      this.#socket.close();
    }
  }
  const own = { fetch: undatedFetch, WebSocket: Sleepy as unknown as typeof WebSocket };
  const { orders, core } = phone.open({}, own);
  await core.account();
  phone.line.next.push('dead');
  const outcome = await orders.ticket({ maxWaitMs: 2_000 }).place(buying('an hour later'));
  expect(outcome).toMatchObject({ status: 'unknown' });
  expect(messages).toBe(1);
  expect(phone.app.sandbox.orders()).toEqual([]);
});
