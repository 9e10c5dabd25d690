import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { ACCEPTED, buying, startPhone, undatedFetch, unsent } from '../support/phone.ts';

const _HOUR_MS = 3_600_000;
const phone = startedForEach(startPhone);

interface Named {
  readonly input?: { readonly idempotencyKey: string; readonly keyMade?: string };
}

/** The `keyMade` that each order was sent with; a void has none. */
const namedIn = (sent: readonly unknown[]) =>
  (sent as readonly Named[]).flatMap(({ input }) => (input ? [input.keyMade] : []));

/** The time of the server, as its answers tell it at most. */
const _serverNow = () => systemClock.now() + phone.line.aheadMs;

describe('a ticket says when its key was made', () => {
  test('also where the gateway was away at the first tap, and the order is placed by a later one', async () => {
    const { orders, sent } = phone.open();
    const headers = { 'retry-after': '70' };
    phone.app.sandbox.fail({
      operation: 'openPosition',
      kind: 'status',
      status: 429,
      headers,
      times: 1,
    });
    const ticket = orders.ticket();
    expect(await ticket.place(buying('later'))).toMatchObject(unsent('RATE_LIMITED'));
    phone.pass(30_000);
    expect(await ticket.place(buying('later'))).toMatchObject(ACCEPTED);
    const [named, ...later] = namedIn(sent);
    expect(named).toEqual(expect.any(String));
    expect(later).toEqual([named]);
  });

  test('by the server’s clock, which is asked for where nothing has told it', async () => {
    const { orders, sent, core } = phone.open();
    core.expectLogin('700001');
    expect(await orders.ticket().place(buying('asked'))).toMatchObject(ACCEPTED);
    expect(namedIn(sent)).toEqual([expect.any(String)]);
  });
});

describe('a ticket says nothing of when its key was made', () => {
  test('where no answer told it before the first request: it cannot be known later', async () => {
    let isDated = false;
    const fetching: typeof fetch = (...of) => (isDated ? fetch : undatedFetch)(...of);
    const { orders, sent } = phone.open({}, { fetch: fetching });
    phone.line.next.push('lost');
    const placing = orders.ticket({ maxWaitMs: 60_000 }).place(buying('undated'));
    await eventually(() => expect(phone.line.orders).toBe(1));
    isDated = true;
    expect(await placing).toMatchObject(ACCEPTED);
    expect(namedIn(sent)).toEqual([undefined, undefined]);
  });

  test('whose entry is of a version that did not send it', async () => {
    await phone.interrupt(buying('former'), 'lost');
    for (const [name, text] of phone.storage.entries) {
      const { keyMade, ...former } = JSON.parse(text);
      expect(keyMade).toEqual(expect.any(String));
      phone.storage.entries.set(name, JSON.stringify(former));
    }
    const { orders, sent } = phone.open();
    const [resumed] = await orders.resume();
    expect(await resumed?.ticket.place(buying('former'))).toMatchObject(ACCEPTED);
    expect(namedIn(sent)).toEqual([undefined]);
  });
});
