import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { Watermarks } from '../../lib/watermarks.ts';
import { createInstruments } from '../../sandbox/instruments.ts';
import { digestOf } from '../../src/domain/account/relation.ts';
import { buildVersion } from '../../src/domain/catalog/catalog-version.ts';
import { PositionsBoard } from '../../src/domain/positions/positions-board.ts';
import { toPositions } from '../../src/gateway/wire/holding.ts';
import { toInstruments } from '../../src/gateway/wire/instrument.ts';
import { readingIn } from '../../src/gateway/wire/scalars.ts';
import { positionRow, sessionRow } from '../gateway/wire/rows.ts';
import { heldBytes } from '../support/heap.ts';
import { openAccountWorld } from './account/account-world.ts';
import { viewerOf } from './viewer.ts';

// Enough that what is compiled meanwhile weighs nothing beside them.
const NODE_MAJOR = Number(process.versions.node.split('.')[0]);
const [FIRST, ENTRIES] = [600, 1_200];

let ids = 1_000_000_000;

/** Each has numbers of its own, which no two share in memory. */
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

/** What the entries of a cache hold, and what it says that they do. */
async function weighed(
  count: number,
  cache: { readonly byteSize: number },
  add: (at: number) => unknown,
) {
  // What the first ones compile and allocate is none of the entries'.
  for (let at = 0; at < FIRST; at += 1) await add(at);
  await new Promise(setImmediate);
  const [heldBefore, saidBefore] = [heldBytes(), cache.byteSize];
  for (let at = FIRST; at < count + FIRST; at += 1) await add(at);
  return (cache.byteSize - saidBefore) / (heldBytes() - heldBefore);
}

// The first one, or what the others' accounts held would be given back meanwhile.
test('a watermark weighs what it says, with a hash for its key', async () => {
  const watermarks = new Watermarks();
  const hash = (at: number) => createHash('sha256').update(String(at)).digest('base64url');
  const share = await weighed(50_000, watermarks, (at) => watermarks.set(hash(at), { at }));
  const served = new Watermarks<{ readonly at: number; readonly members: number }>();
  const shareOfServed = await weighed(50_000, served, (at) =>
    served.set(hash(at), { at, members: digestOf([String(at)]) }),
  );
  for (const each of [share, shareOfServed]) {
    // V8 of Node 24 needs a little less.
    expect(each).toBeGreaterThan(NODE_MAJOR < 26 ? 0.7 : 0.8);
    expect(each).toBeLessThan(1.2);
  }
});

test.each([
  [0, 0, '', false],
  [25, 5, 'x'.repeat(200), true],
])(
  'a snapshot of %i positions and %i orders weighs what it says',
  async (positions, orders, comment, withRows) => {
    const demand = withRows ? { hasRows: () => false } : {};
    const world = openAccountWorld({ maxBytes: 1e9 });
    // The ledger and the attempts keep something of each token as well.
    const caches = {
      get byteSize() {
        return world.sessions.byteSize + world.ledger.byteSize;
      },
    };
    // The smaller the entries, the more of them it takes.
    const entries = positions + orders === 0 ? 6 * ENTRIES : ENTRIES;
    const share = await weighed(entries, caches, async (at) => {
      const reader = viewerOf(`token ${at}`, { login: String(1_000 + at) });
      const read = world.sessions.read(reader, demand);
      const lists = { positions: rows(positions, comment), orders: rows(orders, comment) };
      world.calls.pop()?.answer({ ...numbered(sessionRow, at), login: 1_000 + at, ...lists });
      await read;
    });
    expect(share).toBeGreaterThan(0.8);
    expect(share).toBeLessThan(1.2);
  },
);

test('a list of positions weighs what it says', async () => {
  const board = new PositionsBoard({ account: () => null }, 1e9);
  const share = await weighed(ENTRIES, board, (at) => {
    const text = JSON.stringify(rows(25, 'x'.repeat(200)));
    const positions = toPositions(JSON.parse(text), readingIn('auto')) ?? [];
    const bytes = Buffer.allocUnsafeSlow(text.length);
    bytes.write(text);
    const sent = { logicalTime: at, sentAtMs: 1.7e12 + at, receivedAtMs: 1.7e12 + at };
    board.offer(viewerOf(`token ${at}`), { positions, bytes, ...sent });
  });
  expect(share).toBeGreaterThan(0.8);
  expect(share).toBeLessThan(1.2);
});

/** Its objects are gone when it returns: a caller's own would be counted among what is held. */
function catalogOf(instruments: number): string {
  return JSON.stringify(createInstruments('tests', instruments).map(({ wire }) => wire));
}

test('a catalog weighs what it says', async () => {
  const text = catalogOf(5_000);
  const before = heldBytes();
  const { instruments } = await toInstruments(JSON.parse(text));
  const { version } = await buildVersion(instruments, null);
  await version.index;
  const share = version.bytes / (heldBytes() - before);
  // The text is in both figures, so it must not be collected between them.
  expect(text).not.toBe('');
  expect(share).toBeGreaterThan(0.8);
  expect(share).toBeLessThan(1.2);
});
