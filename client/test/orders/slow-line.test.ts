import { expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { createScriptedClock, type ScriptedClock } from '../../../test/support/scripted-clock.ts';
import { startedForEach } from '../../../test/support/started.ts';
import type { Environment } from '../../src/environment.ts';
import { ACCEPTED, buying, startPhone, undatedFetch } from '../support/phone.ts';

const phone = startedForEach(startPhone);
const SLOW_MS = 3_200;
const STEP_MS = 100;

/** A WebSocket whose handshake a proxy swallows. */
class Swallowed extends EventTarget {
  send() {}
  close() {}
}

interface Device {
  readonly environment: Partial<Environment>;
  readonly clock: ScriptedClock;
  /** Its line takes so long for each request, which travels on where it was given up; without end where it is dead. */
  roundTripMs: number;
  /** Lets time pass until an order has its outcome. */
  outcomeOf<T>(placing: Promise<T>): Promise<T>;
}

/** A device whose time stands still while the service works: a busy machine makes no line slow. */
function createDevice(
  fetching: typeof fetch,
  WebSocket: typeof globalThis.WebSocket | null,
): Device {
  const clock = createScriptedClock(systemClock.now());
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
  const half = () => new Promise<void>((resolve) => clock.after(device.roundTripMs / 2, resolve));
  const travelling: typeof fetch = (input, { signal, ...init } = {}) =>
    new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('aborted')));
      if (device.roundTripMs === Number.POSITIVE_INFINITY) return;
      const answering = half().then(() => answerOf(input, init));
      answering.then((answer) => half().then(() => resolve(answer)), reject);
    });
  const device: Device = {
    clock,
    roundTripMs: 0,
    environment: {
      fetch: travelling,
      WebSocket: WebSocket && timed(WebSocket),
      now: clock.date,
      uptime: clock.now,
      after: clock.after,
    },
    async outcomeOf(placing) {
      let isTold = false;
      const told = () => {
        isTold = true;
      };
      placing.then(told, told);
      await eventually(async () => {
        if (underWay === 0) await clock.advance(STEP_MS);
        return isTold;
      });
      return placing;
    },
  };
  return device;

  function timed(Socket: typeof globalThis.WebSocket) {
    return class extends Socket {
      constructor(...given: ConstructorParameters<typeof globalThis.WebSocket>) {
        super(...given);
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
  ['none', null],
  ['one that a proxy swallows', Swallowed as unknown as typeof WebSocket],
])('on a line that became slow an order is told; a WebSocket: %s', async (_, WebSocket) => {
  const device = createDevice(fetch, WebSocket);
  const { orders, core } = phone.open({}, device.environment);
  await device.outcomeOf(core.account());
  device.roundTripMs = SLOW_MS;
  const ticket = orders.ticket({ maxWaitMs: 60_000 });
  const placing = ticket.place(buying('slow line'), { withinMs: 120_000 });
  expect(await device.outcomeOf(placing)).toMatchObject(ACCEPTED);
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});

test('a page of a proxy in answer to the ping is no dead line', async () => {
  const fetching: typeof fetch = async (input, init) =>
    String(init?.body).includes('"{__typename}"')
      ? new Response('<html>Busy</html>', { status: 503 })
      : fetch(input, init);
  const { orders } = await phone.openKnown({}, { fetch: fetching });
  phone.app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 1_500 });
  expect(await orders.ticket().place(buying('busy'))).toMatchObject(ACCEPTED);
  expect([phone.line.sockets, phone.line.orders]).toEqual([0, 1]);
});

test('a token that takes long is no dead line', async () => {
  let waitMs = 0;
  const slow = async () => {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    return phone.token;
  };
  // In its own time: what counts as dead would be a moment of a busy machine on a faster device.
  const { orders, core } = phone.open({ token: slow as unknown as () => string | null });
  await core.account();
  waitMs = 3_000;
  expect(await orders.ticket({ maxWaitMs: 60_000 }).place(buying('slow token'))).toMatchObject(
    ACCEPTED,
  );
  expect([phone.line.sockets, phone.line.orders]).toEqual([0, 1]);
});

test('without the server’s clock a dead line is left within half of the time of the order', async () => {
  const device = createDevice(undatedFetch, WebSocket);
  const { orders, core } = phone.open({}, device.environment);
  await device.outcomeOf(core.account());
  device.roundTripMs = Number.POSITIVE_INFINITY;
  const startedMs = device.clock.now();
  const outcome = await device.outcomeOf(orders.ticket().place(buying('dead')));
  expect(outcome).toMatchObject({ status: 'accepted', replayed: false });
  // Of 5 s; behind them comes the pause before another attempt.
  expect(device.clock.now() - startedMs).toBeLessThan(3_500);
  expect([phone.line.sockets, phone.line.orders]).toEqual([1, 0]);
});

test('an order whose WebSocket opens after a sleep of an hour is not sent, though no server’s clock is known', async () => {
  let messages = 0;
  class Sleepy extends WebSocket {
    constructor(...given: ConstructorParameters<typeof WebSocket>) {
      super(...given);
      this.addEventListener('message', () => {
        if (messages++ === 0) device.clock.setDate(3_600_000);
      });
    }
  }
  const device = createDevice(undatedFetch, Sleepy);
  const { orders, core } = phone.open({}, device.environment);
  await device.outcomeOf(core.account());
  device.roundTripMs = Number.POSITIVE_INFINITY;
  const placing = orders.ticket({ maxWaitMs: 2_000 }).place(buying('an hour later'));
  expect(await device.outcomeOf(placing)).toMatchObject({ status: 'unknown' });
  expect(messages).toBe(1);
  expect(phone.app.sandbox.orders()).toEqual([]);
});
