import { expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { createScriptedClock } from '../../../test/support/scripted-clock.ts';
import { startedForEach } from '../../../test/support/started.ts';
import type { OrderProgress } from '../../src/orders/ticket.ts';
import { ACCEPTED, buying, startPhone } from '../support/phone.ts';

const HOUR_MS = 3_600_000;
/** The default of five seconds could pass on a busy machine. */
const PATIENT = { maxWaitMs: 60_000 };
const phone = startedForEach(startPhone);

/** The option `onProgress`, and the list in which it collects an order's progress. */
function recordedProgress() {
  const steps: OrderProgress[] = [];
  return { steps, onProgress: (progress: OrderProgress) => void steps.push(progress) };
}

test.each([
  ['unanswered', fetch],
  ['refused', withoutPings],
])(
  'an order on a dead connection whose ping is %s is repeated over a WebSocket, and stays one order when the first request arrives',
  async (_, fetching) => {
    const { orders } = await phone.openKnown({}, { fetch: fetching });
    phone.line.next.push('dead');
    const { steps, onProgress } = recordedProgress();
    const outcome = await orders.ticket(PATIENT).place(buying('dead'), { onProgress });
    expect(outcome).toMatchObject({ status: 'accepted', replayed: false });
    expect([phone.line.sockets, phone.line.orders]).toEqual([1, 1]);
    expect(steps).toEqual(['sending', 'asking']);
    phone.line.heal();
    await eventually(() => expect(phone.line.answered).toBe(1));
    expect(phone.app.sandbox.orders()).toHaveLength(1);
  },
);

/** A `fetch` whose pings are refused, as if no new connection opened. */
function withoutPings(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const isPing = String(init?.body).includes('"{__typename}"');
  return isPing ? Promise.reject(new TypeError('Failed to fetch')) : fetch(input, init);
}

/** A round trip that is so long that the client considers the connection dead. */
const SLOW_MS = 3_200;
/** How far the device's clock advances at once. */
const STEP_MS = 100;

/** A WebSocket whose handshake is never answered, as behind some proxies. */
class SilentSocket extends EventTarget {
  send() {}
  close() {}
}

/** A device whose clock stands still while the service works: a busy machine must not look like a slow connection. */
function createDevice(fetching: typeof fetch, WebSocket: typeof globalThis.WebSocket | null) {
  const clock = createScriptedClock(systemClock.now());
  /** The number of requests that the service is answering, and of open WebSockets. */
  let underWay = 0;
  const answerOf = async (...request: Parameters<typeof fetch>) => {
    underWay += 1;
    try {
      const answer = await fetching(...request);
      return new Response(await answer.text(), answer);
    } finally {
      underWay -= 1;
    }
  };
  const travel = () => new Promise<void>((resolve) => clock.after(device.roundTripMs / 2, resolve));
  const travelling: typeof fetch = (input, { signal, ...init } = {}) =>
    new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('aborted')));
      if (device.roundTripMs === Number.POSITIVE_INFINITY) return;
      const answering = travel().then(() => answerOf(input, init));
      answering.then((answer) => travel().then(() => resolve(answer)), reject);
    });
  const device = {
    clock,
    /** The round trip of each request, even if the client gives the request up; infinite if the connection is dead. */
    roundTripMs: 0,
    environment: {
      fetch: travelling,
      WebSocket: WebSocket && timed(WebSocket),
      now: clock.date,
      uptime: clock.now,
      after: clock.after,
    },
    /** Advances the clock until an order has an outcome. */
    async outcomeOf<T>(placing: Promise<T>) {
      let isSettled = false;
      const settle = () => {
        isSettled = true;
      };
      placing.then(settle, settle);
      await eventually(async () => {
        if (underWay === 0) await clock.advance(STEP_MS);
        return isSettled;
      });
      return placing;
    },
  };
  return device;

  function timed(Socket: typeof globalThis.WebSocket) {
    return class extends Socket {
      constructor(...given: ConstructorParameters<typeof globalThis.WebSocket>) {
        super(...given);
        // A `SilentSocket` is not counted, because it never closes.
        if (!(this instanceof globalThis.WebSocket)) return;
        underWay += 1;
        this.addEventListener('close', () => {
          underWay -= 1;
        });
      }
    };
  }
}

test.each([
  // An app that passes `globalThis.WebSocket` passes undefined if the platform has none.
  ['undefined', undefined as unknown as null],
  ['one without an answer', SilentSocket as unknown as typeof WebSocket],
])(
  'an order on a slow connection gets its outcome without a working WebSocket: %s',
  async (_, WebSocket) => {
    const device = createDevice(fetch, WebSocket);
    const { orders, core } = phone.open({}, device.environment);
    await device.outcomeOf(core.account());
    device.roundTripMs = SLOW_MS;
    const ticket = orders.ticket(PATIENT);
    const placing = ticket.place(buying('slow line'), { withinMs: 120_000 });
    expect(await device.outcomeOf(placing)).toMatchObject(ACCEPTED);
    expect(phone.app.sandbox.orders()).toHaveLength(1);
  },
);

test('while the app takes long for a token the client stays on its connection', async () => {
  let waitMs = 0;
  const slow = async () => {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    return phone.token;
  };
  // Real time passes here: with faster time a busy machine would look like a dead connection.
  const { orders, core } = phone.open({ token: slow as unknown as () => string | null });
  await core.account();
  waitMs = 3_000;
  expect(await orders.ticket(PATIENT).place(buying('slow token'))).toMatchObject(ACCEPTED);
  expect([phone.line.sockets, phone.line.orders]).toEqual([0, 1]);
});

test('while the gateway is slow the client stays on its connection, even if a proxy answers the ping', async () => {
  let pings = 0;
  const fetching: typeof fetch = async (input, init) => {
    if (!String(init?.body).includes('"{__typename}"')) return fetch(input, init);
    pings += 1;
    return new Response('<html>Busy</html>', { status: 503 });
  };
  const { orders } = await phone.openKnown({}, { fetch: fetching });
  phone.app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 3_000 });
  const outcome = await orders.ticket(PATIENT).place(buying('busy'));
  expect(outcome).toMatchObject({ status: 'accepted', replayed: false });
  expect([pings, phone.line.sockets, phone.line.orders]).toEqual([1, 0, 1]);
});

test('an order whose WebSocket opens after a sleep of an hour is not sent', async () => {
  let messages = 0;
  class Sleepy extends WebSocket {
    constructor(...given: ConstructorParameters<typeof WebSocket>) {
      super(...given);
      this.addEventListener('message', () => {
        messages += 1;
        // The device sleeps when the first message, the acknowledgement, arrives.
        if (messages === 1) device.clock.setDate(HOUR_MS);
      });
    }
  }
  const device = createDevice(fetch, Sleepy);
  const { orders, core } = phone.open({}, device.environment);
  await device.outcomeOf(core.account());
  device.roundTripMs = Number.POSITIVE_INFINITY;
  const placing = orders.ticket({ maxWaitMs: 2_000 }).place(buying('an hour later'));
  expect(await device.outcomeOf(placing)).toMatchObject({ status: 'unknown' });
  // Nothing was sent after the acknowledgement, so no other message has arrived.
  expect(messages).toBe(1);
  expect(phone.app.sandbox.orders()).toEqual([]);
});
