import { expect, test } from 'vitest';
import { fakeClient } from '../../src/testing.ts';

const AAPL = { id: '1', symbol: 'AAPL', side: 'BUY', units: 2, priceOpen: 100, profit: 0 } as const;

/** Follows positions of a market, and records each status that the listener gets. */
function followed({ lists = true } = {}) {
  const fake = fakeClient(lists ? { positions: [AAPL] } : {});
  const statuses: string[] = [];
  const { state, age } = fake.client.positions;
  const end = fake.client.positions(({ status }) => void statuses.push(status));
  return { ...fake, statuses, state, age, end };
}

test('a list is OFFLINE after five seconds without rows, and at once after a refusal', async () => {
  const late = followed({ lists: false });
  await late.market.pass(4);
  expect(late.statuses).toEqual(['CONNECTING']);
  await late.market.pass(1);
  expect(late.statuses).toEqual(['CONNECTING', 'OFFLINE']);
  late.client.dispose();
  expect(late.market.network.pending).toBe(0);
  const refused = followed({ lists: false });
  await refused.market.pass(0);
  refused.market.subscriptions[0]?.end([{ extensions: { code: 'FORBIDDEN' } }]);
  await refused.market.pass(0);
  expect(refused.state()).toMatchObject({ status: 'OFFLINE', positions: null });
  refused.client.dispose();
});

test('a list stays CONNECTING while its handshake makes progress on a slow connection', async () => {
  const { time } = fakeClient().market.network;
  class SlowSocket extends EventTarget {
    constructor() {
      super();
      // Each round trip takes more than a second, and opening a connection takes several round trips. Both events arrive
      // less than five seconds after the last progress.
      time.after(3_700, () => this.dispatchEvent(new Event('open')));
      time.after(6_000, () => this.#receive({ type: 'connection_ack' }));
    }
    send() {}
    close() {}
    #receive(message: object) {
      this.dispatchEvent(Object.assign(new Event('message'), { data: JSON.stringify(message) }));
    }
  }
  const environment = { WebSocket: SlowSocket as never, after: time.after.bind(time) };
  const { client } = fakeClient({ client: { environment } });
  const statuses: string[] = [];
  client.positions(({ status }) => void statuses.push(status));
  // Five seconds without progress have not passed before 11 seconds: the last progress was after six.
  await time.pass(10_900);
  expect(statuses).toEqual(['CONNECTING']);
  await time.pass(200);
  expect(statuses).toEqual(['CONNECTING', 'OFFLINE']);
  client.dispose();
});

test('the age does not depend on the device’s clock, and a heartbeat resets it without a call of the listener', async () => {
  const { client, market, statuses, state, age, end } = followed();
  expect(age()).toBeNull();
  await market.pass(1);
  const shown = state();
  market.network.deviceAheadMs = 86_400_000;
  await market.pass(2);
  expect(age()).toBe(3_000);
  // An event without a change, like a heartbeat.
  await market.delay(false);
  expect([age(), state(), statuses]).toEqual([0, shown, ['CONNECTING', 'LIVE']]);
  expect(shown.asOf?.getTime()).toBe(market.network.serverMs);
  await market.pass(4);
  await market.cut();
  expect([age(), state().status]).toEqual([4_000, 'OFFLINE']);
  end();
  client.dispose();
});

test('a tick makes no new index of the rows, and keeps the objects of all other rows', async () => {
  /** Counts how often a tick reads the id of a row. */
  const idReads = async (size: number) => {
    const rows = Array.from({ length: size }, (_, at) => ({
      ...AAPL,
      id: `${at}`,
      symbol: `S${at}`,
    }));
    const { client, market } = fakeClient({ positions: rows });
    client.positions(() => {});
    await market.pass(1);
    let ticks = 0;
    const tick = async (profit: number) => {
      ticks += 1;
      const asOf = new Date(market.network.serverMs).toISOString();
      const rows = { snapshot: false, upserted: [], closed: [], ticks: [{ id: '3', profit }] };
      market.send({ cursor: `tick-${ticks}`, ...rows, status: 'LIVE', asOf });
      await market.pass(0);
    };
    // The first change makes the index, which the others keep.
    await tick(6);
    const before = client.positions.state().positions ?? [];
    let read = 0;
    for (const row of before) {
      const { id } = row;
      const get = () => {
        read += 1;
        return id;
      };
      Object.defineProperty(row, 'id', { enumerable: true, get });
    }
    await tick(7);
    const after = client.positions.state().positions ?? [];
    expect(after.filter((row, at) => row !== before[at])).toMatchObject([{ id: '3', profit: 7 }]);
    client.dispose();
    return read;
  };
  const [few, many] = [await idReads(10), await idReads(2_000)];
  expect(few).toBeGreaterThan(0);
  // A new index would read each id, which is about 200 times as many reads.
  expect(many).toBeLessThanOrEqual(3 * few);
});
