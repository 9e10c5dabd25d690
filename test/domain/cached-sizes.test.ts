import { expect, test } from 'vitest';
import { buildVersion } from '../../src/domain/catalog/catalog-version.ts';
import { INSTRUMENT, toInstruments } from '../../src/gateway/operations/get-all-tickers.ts';
import { OPEN_POSITIONS } from '../../src/gateway/operations/get-open-positions.ts';
import { POSITION } from '../../src/gateway/operations/holdings.ts';
import { readingIn } from '../../src/gateway/scalars.ts';
import { createInstruments } from '../../src/sandbox/instruments.ts';
import { positionValues, sessionValues, sessionWith } from '../gateway/wire/rows.ts';
import { heldBytes } from '../support/heap.ts';
import { openAccountWorld } from './account/account-world.ts';
import { viewerOf } from './viewer.ts';

/** The entries that are added before the measurement, so that the code is compiled then. */
const WARM_UP_ENTRIES = 600;
/** All entries: enough to make other changes of the heap negligible. */
const ENTRIES = 1_800;

let lastId = 1_000_000_000;

/** A copy with `by` added to every number, so that no two objects share a number in memory. */
function withNumbersRaised<Values extends object>(original: Values, by: number): Values {
  const fields = Object.entries(original);
  const raised = fields.map(([name, value]) => [
    name,
    typeof value === 'number' ? value + by : value,
  ]);
  return Object.fromEntries(raised) as Values;
}

/** A position whose numbers and texts no other position has, except for the comment. */
function row(comment: string, shared: Readonly<Record<string, string>> = {}) {
  lastId += 1;
  const id = String(lastId);
  const [logo, name] = [`https://cdn.example.com/logos/${id}.png`, `Company ${id}`];
  const own = { ...withNumbersRaised(positionValues, lastId), id, logo, name, comment };
  return POSITION.toWire({ ...own, ...shared });
}

const rows = (count: number, comment: string, shared: Readonly<Record<string, string>> = {}) =>
  Array.from({ length: count }, () => row(comment, shared));

/** The growth of the reported size divided by the growth of the heap, both after the warm-up. */
async function reportedShare(add: (index: number) => Promise<unknown>, reported: () => number) {
  for (let index = 0; index < WARM_UP_ENTRIES; index += 1) await add(index);
  await new Promise(setImmediate);
  const [heapBefore, reportedBefore] = [heldBytes(), reported()];
  for (let index = WARM_UP_ENTRIES; index < ENTRIES; index += 1) await add(index);
  return (reported() - reportedBefore) / (heldBytes() - heapBefore);
}

test('the estimated size of a snapshot is close to its heap', async () => {
  const world = openAccountWorld({ maxBytes: 1e9 });
  const add = async (index: number) => {
    const login = 1_000 + index;
    const reader = viewerOf(`token ${index}`, { login: String(login) });
    const read = world.sessions.read(reader);
    const lists = { positions: rows(25, 'x'.repeat(200)), orders: rows(5, 'x'.repeat(200)) };
    world.calls
      .pop()
      ?.answer(sessionWith({ ...withNumbersRaised(sessionValues, index), login, ...lists }));
    await read;
  };
  // The ledger stores an entry for each token as well.
  const reported = () => world.sessions.byteSize + world.ledger.byteSize;
  const share = await reportedShare(add, reported);
  expect(share).toBeGreaterThan(0.8);
  expect(share).toBeLessThan(1.2);
});

test.each([
  [
    'texts that other lists share',
    { logo: 'https://cdn.example.com/1.png', name: 'Company of many' },
  ],
  ['unshared texts', {}],
])('the estimated size of a list with %s is close to its heap', async (_, texts) => {
  const world = openAccountWorld();
  const add = (index: number) => {
    const reader = viewerOf(`token ${index}`, { login: String(1_000 + index) });
    const read = world.gateway.getOpenPositions(reader, null);
    world.calls.pop()?.answer(OPEN_POSITIONS.toWire({ positions: rows(25, '', texts) }));
    return read;
  };
  const share = await reportedShare(
    add,
    () => world.newestPositions.byteSize + world.ledger.byteSize,
  );
  expect(share).toBeGreaterThan(0.8);
  expect(share).toBeLessThan(1.3);
});

/** The text of a catalog. This is a function, so that its other objects can be collected before the heap is measured. */
function catalogText(instruments: number): string {
  return JSON.stringify(
    createInstruments('tests', instruments).map(({ instrument }) => INSTRUMENT.toWire(instrument)),
  );
}

test('the estimated size of a catalog is close to its heap', async () => {
  const text = catalogText(5_000);
  const heapBefore = heldBytes();
  const { instruments } = await toInstruments(JSON.parse(text), readingIn('auto'));
  const version = await buildVersion(instruments, null);
  const share = version.bytes / (heldBytes() - heapBefore);
  // Uses the text, so that it is not collected: it must count in both measurements.
  expect(text).not.toBe('');
  expect(share).toBeGreaterThan(0.8);
  expect(share).toBeLessThan(1.2);
});
