import { expect, test } from 'vitest';
import { createRecordTable, type RecordTable } from '../../../src/store/memory/record-table.ts';
import {
  AccountRecordsFullError,
  type OrderRecord,
  RECORD_LIFE_MS,
  type RecordBounds,
  RecordsUnavailableError,
  type Reservation,
  rank,
} from '../../../src/store/order-records.ts';
import { createSeededRandom } from '../../end-to-end/orders/seeded-random.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { accepted, rejected, request, unknown } from '../order-records-contract.ts';

const OUTCOMES = [accepted, rejected, unknown];

function openTable(bounds: RecordBounds) {
  const clock = createScriptedClock();
  const table = createRecordTable({ ...bounds, uptimeMs: () => clock.now() });
  let made = 0;
  return {
    clock,
    table,
    reserve(login: string, key: string): Reservation {
      made += 1;
      const reservation = { ...request(login, key), id: `${made}` };
      table.add(reservation);
      return reservation;
    },
  };
}

test('after an idle weekend a call drops a bounded number of records, and none is answered', async () => {
  const { clock, table, reserve } = openTable({ max: 2_000 });
  for (let n = 0; n < 1_000; n += 1) reserve('1', `${n}`);
  await clock.advance(RECORD_LIFE_MS - 1);
  expect(table.size()).toBe(1_000);
  await clock.advance(1);
  expect(table.get('1', '999')).toBe(null);
  expect([...table.values()]).toEqual([]);
  expect([1, 2, 3, 4].map(() => table.size())).toEqual([600, 400, 200, 0]);
});

/** Each call drops 200. */
function dropOld(table: RecordTable, count: number): void {
  for (let dropped = 0; dropped < count; dropped += 200) void table.size();
}

interface Modelled {
  readonly reservation: Reservation;
  readonly bornAtMs: number;
  readonly pendingUntilMs: number;
  outcome: OrderRecord['outcome'];
}

/** The table as it would be if nothing took time: what is over is filtered out before each step. */
class Model {
  readonly #now: () => number;
  #records = new Map<string, Modelled>();
  #filteredAtMs = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  live(): Map<string, Modelled> {
    const now = this.#now();
    if (now === this.#filteredAtMs) return this.#records;
    this.#filteredAtMs = now;
    const kept = [...this.#records].filter(([, { bornAtMs }]) => now - bornAtMs < RECORD_LIFE_MS);
    this.#records = new Map(kept);
    return this.#records;
  }

  put(reservation: Reservation, outcome: Modelled['outcome'], ageMs: number, pendingMs: number) {
    const id = idOf(reservation);
    const now = this.#now();
    this.live().delete(id);
    if (ageMs >= RECORD_LIFE_MS) return;
    const pendingUntilMs = now + pendingMs;
    this.#records.set(id, { reservation, bornAtMs: now - ageMs, pendingUntilMs, outcome });
  }

  own(reservation: Reservation): Modelled | undefined {
    const record = this.live().get(idOf(reservation));
    return record?.reservation.id === reservation.id ? record : undefined;
  }

  get(login: string, key: string): OrderRecord | null {
    const record = this.live().get(idOf({ login, key }));
    if (!record) return null;
    const { id, canonical, reservedAtMs } = record.reservation;
    const leftMs = Math.max(0, record.pendingUntilMs - this.#now());
    const pendingMs = record.outcome === null ? leftMs : 0;
    return { id, canonical, reservedAtMs, outcome: record.outcome, pendingMs };
  }
}

function idOf({ login, key }: Pick<Reservation, 'login' | 'key'>): string {
  return `${login}/${key}`;
}

const BOUNDS = { max: 500, maxPerAccount: 200 };
const NO_BOUNDS = { max: Number.POSITIVE_INFINITY };

test.for([
  ...[1, 2].map((seed) => ({ seed, bounds: BOUNDS, adopts: false })),
  ...[3, 4].map((seed) => ({ seed, bounds: NO_BOUNDS, adopts: true })),
])('whatever comes in which order, a plain model answers the same: seed $seed', async (options) => {
  const { seed, bounds, adopts } = options;
  const random = createSeededRandom(seed);
  const { clock, table } = openTable(bounds);
  const model = new Model(() => clock.now());
  const issued: Reservation[] = [];
  const refused = { all: 0, account: 0 };

  function reserve(reservation: Reservation): void {
    const { login, key } = reservation;
    const found = table.get(login, key);
    expect(found).toEqual(model.get(login, key));
    if (found) return;
    const live = [...model.live().values()];
    const own = live.filter(({ reservation: { login: of } }) => of === login).length;
    const { max, maxPerAccount = Number.POSITIVE_INFINITY } = bounds as RecordBounds;
    if (live.length >= max) {
      refused.all += 1;
      expect(() => table.add(reservation)).toThrow(RecordsUnavailableError);
    } else if (own >= maxPerAccount) {
      refused.account += 1;
      expect(() => table.add(reservation)).toThrow(AccountRecordsFullError);
    } else {
      table.add(reservation);
      model.put(reservation, null, 0, reservation.pendingMs);
    }
  }

  for (let step = 0; step < 150; step += 1) {
    // Bursts, so that more is over at once than one call drops.
    const count = 1 + random.below(300);
    const kind = random.pick(['reserve', 'reserve', 'settle', 'release', 'find', 'adopt']);
    for (let n = 0; n < count; n += 1) {
      const asked = request(`${random.below(1 + random.below(4))}`, `${random.below(500)}`);
      const reservation = { ...asked, id: `${step}-${n}` };
      const former = issued.length > 0 ? random.pick(issued) : reservation;
      const outcome = random.pick(OUTCOMES);
      if (kind === 'reserve') {
        reserve(reservation);
        issued.push(reservation);
      } else if (kind === 'settle') {
        const record = model.own(former);
        expect(table.settle(former, outcome)).toBe(record !== undefined);
        if (record && rank(outcome) > rank(record.outcome)) record.outcome = outcome;
      } else if (kind === 'release') {
        const record = model.own(former);
        const isFree = record?.outcome === null && record.pendingUntilMs > clock.now();
        expect(table.release(former)).toBe(isFree);
        if (isFree) model.live().delete(idOf(former));
      } else if (kind === 'find') {
        expect(table.get(former.login, former.key)).toEqual(model.get(former.login, former.key));
      } else if (adopts) {
        const ageMs = random.below(2 * RECORD_LIFE_MS);
        table.adopt(former, outcome, ageMs);
        model.put(former, outcome, ageMs, 0);
      }
    }
    expect([...table.values()].map(({ reservation }) => reservation)).toEqual(
      [...model.live().values()].map(({ reservation }) => reservation),
    );
    const most = random.pick([1_000, 1_000, 600_000, RECORD_LIFE_MS / 6, RECORD_LIFE_MS]);
    await clock.advance(random.below(most));
  }
  if (!adopts) expect(Math.min(refused.all, refused.account)).toBeGreaterThan(0);
  await clock.advance(RECORD_LIFE_MS);
  dropOld(table, issued.length);
  expect(table.size()).toBe(0);
  expect(issued.every((each) => table.find(each.login, each.key) === undefined)).toBe(true);
});
