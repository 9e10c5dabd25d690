import { expect, test } from 'vitest';
import { buildVersion } from '../../src/domain/catalog/catalog-version.ts';
import { toInstruments } from '../../src/gateway/operations/get-all-tickers.ts';
import { createInstruments } from '../../src/sandbox/instruments.ts';
import { positionRow, sessionRow } from '../gateway/wire/rows.ts';
import { heldBytes } from '../support/heap.ts';
import { openAccountWorld } from './account/account-world.ts';
import { viewerOf } from './viewer.ts';

// Enough entries to make the heap of code compiled during the test negligible.
const [FIRST, ENTRIES] = [600, 1_800];

let ids = 1_000_000_000;

/** A copy with `by` added to every number, so that no two objects share a number in memory. */
function numbered(like: object, by: number): object {
  const fields = Object.entries(like);
  return Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === 'number' ? value + by : value]),
  );
}

function row(comment: string) {
  ids += 1;
  const [logo, friendlyName] = [`https://cdn.example.com/logos/${ids}.png`, `Company ${ids}`];
  return { ...numbered(positionRow, ids), id: String(ids), logo, friendlyName, comment };
}

const rows = (count: number, comment: string) => Array.from({ length: count }, () => row(comment));

/** The reported size divided by the real one, without the heap that the first entries cause by compilation. */
async function shareOf(add: (at: number) => Promise<unknown>, reported: () => number) {
  for (let at = 0; at < FIRST; at += 1) await add(at);
  await new Promise(setImmediate);
  const [heldBefore, reportedBefore] = [heldBytes(), reported()];
  for (let at = FIRST; at < ENTRIES; at += 1) await add(at);
  return (reported() - reportedBefore) / (heldBytes() - heldBefore);
}

test('the estimated size of a snapshot is close to its heap', async () => {
  const world = openAccountWorld({ maxBytes: 1e9 });
  const add = async (at: number) => {
    const reader = viewerOf(`token ${at}`, { login: String(1_000 + at) });
    const read = world.sessions.read(reader, { needsRows: true });
    const lists = { positions: rows(25, 'x'.repeat(200)), orders: rows(5, 'x'.repeat(200)) };
    world.calls.pop()?.answer({ ...numbered(sessionRow, at), login: 1_000 + at, ...lists });
    await read;
  };
  // The ledger stores an entry for each token as well.
  const reported = () => world.sessions.byteSize + world.ledger.byteSize;
  const share = await shareOf(add, reported);
  expect(share).toBeGreaterThan(0.8);
  expect(share).toBeLessThan(1.2);
});

test.each([
  [
    'texts that other lists share',
    { logo: 'https://cdn.example.com/1.png', friendlyName: 'Company of many' },
  ],
  ['unshared texts', {}],
])('the estimated size of a list with %s is close to its heap', async (_, texts) => {
  const world = openAccountWorld();
  const add = (at: number) => {
    const reader = viewerOf(`token ${at}`, { login: String(1_000 + at) });
    const read = world.gateway.getOpenPositions(reader, null);
    world.calls.pop()?.answer({ positions: rows(25, '').map((each) => ({ ...each, ...texts })) });
    return read;
  };
  const share = await shareOf(add, () => world.board.byteSize + world.ledger.byteSize);
  expect(share).toBeGreaterThan(0.8);
  expect(share).toBeLessThan(1.3);
});

/** A function of its own, so that its objects are collected: in its caller they would count as heap. */
function catalogOf(instruments: number): string {
  return JSON.stringify(createInstruments('tests', instruments).map(({ wire }) => wire));
}

test('the estimated size of a catalog is close to its heap', async () => {
  const text = catalogOf(5_000);
  const before = heldBytes();
  const { instruments } = await toInstruments(JSON.parse(text));
  const version = await buildVersion(instruments, null);
  await version.index;
  const share = version.bytes / (heldBytes() - before);
  // Both measurements include the text, so it must not be collected in between.
  expect(text).not.toBe('');
  expect(share).toBeGreaterThan(0.8);
  expect(share).toBeLessThan(1.2);
});
