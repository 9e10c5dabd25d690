/**
 * Measures the catalog: joins, searches, pages, a new version and its index, the memory of versions.
 * `node --expose-gc bench/catalog.ts [instruments]` prints its figures and judges nothing.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { CatalogVersion } from '../src/domain/catalog/catalog-version.ts';
import { buildVersion } from '../src/domain/catalog/catalog-version.ts';
import { pageOf } from '../src/domain/catalog/paging/page.ts';
import type { PageRequest } from '../src/domain/catalog/paging/page-request.ts';
import { CatalogHistory } from '../src/domain/catalog/sync/history.ts';
import type { Instrument } from '../src/gateway/model.ts';
import { toInstruments, type WireInstrument } from '../src/gateway/wire/instrument.ts';
import { createInstruments } from '../src/sandbox/instruments.ts';

const count = Number(process.argv[2] ?? 5_000);
const rows = createInstruments('bench', count).map(({ wire }) => wire);
// The first runs are the compiler's.
for (let warmUp = 0; warmUp < 5; warmUp += 1) await (await versionOf(rows)).index;

const rounds = await measureBuilding();
console.log(`${count} instruments, Node ${process.version}\n`);
console.log('| Work | Figure |\n|---|---|');
row(
  'new version: wall time, median',
  `${median(rounds.map((round) => round.versionMs)).toFixed(1)} ms`,
);
row(
  'its index: wall time, median',
  `${median(rounds.map((round) => round.indexMs)).toFixed(1)} ms`,
);
row(
  'longest hold of the event loop',
  `${Math.max(...rounds.map((round) => round.holdMs)).toFixed(1)} ms`,
);
const version = await versionOf(rows);
await version.index;
measureJoins(version);
await measureSearches();
measurePages(version);
await measureMemory();

async function measureBuilding() {
  const measured = [];
  for (let round = 0; round < 10; round += 1) {
    const instruments = await arrived(rows);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const began = performance.now();
    const { version } = await buildVersion(instruments, null);
    const built = performance.now();
    await version.index;
    const indexed = performance.now();
    delay.disable();
    measured.push({
      versionMs: built - began,
      indexMs: indexed - built,
      holdMs: delay.max / 1e6,
    });
  }
  return measured;
}

function measureJoins({ byId, instruments }: CatalogVersion): void {
  const ids = instruments.map(({ id }) => id);
  let found = 0;
  const one = timePerCall(200_000, (at) => {
    if (byId.has(ids[(at * 7) % ids.length] ?? '')) found += 1;
  });
  row('instrument(id)', micros(one));
  row('25 joined instruments', micros(one * 25));
  if (found === 0) throw new Error('nothing was found');
}

/** Each term anew in several indexes: the median of its times leaves out what the machine did meanwhile. */
async function measureSearches(): Promise<void> {
  const versions = await Promise.all(Array.from({ length: 5 }, () => versionOf(rows)));
  for (const version of versions) await version.index;
  const [version] = versions as [CatalogVersion];
  const terms = fresh(version.instruments);
  const times = terms.map((search) =>
    median(versions.map((each) => timed(() => page(each, { first: 20, filter: { search } })))),
  );
  times.sort((a, b) => a - b);
  row(`search, first 20, ${terms.length} fresh terms: median`, `${median(times).toFixed(3)} ms`);
  row('the same: 99th of 100', `${(times[Math.floor(times.length * 0.99)] ?? 0).toFixed(3)} ms`);
  row('the same: worst', `${(times.at(-1) ?? 0).toFixed(3)} ms`);
  const again = timePerCall(5_000, () => page(version, { first: 20, filter: { search: 'corp' } }));
  row('search repeated, first 20', micros(again));
}

function measurePages(version: CatalogVersion): void {
  const requests: [string, PageRequest][] = [
    ['first 50 by symbol', { first: 50 }],
    ['first 50 by name, falling', { first: 50, orderBy: { by: 'NAME', direction: 'DESC' } }],
    [
      'first 50 of a sector by leverage',
      { first: 50, filter: { sectors: [45] }, orderBy: { by: 'LEVERAGE' } },
    ],
  ];
  for (const [name, request] of requests) {
    row(name, micros(timePerCall(2_000, () => page(version, request).nodes)));
  }
}

/** Measures the heap that a superseded version and the present one take. */
async function measureMemory(): Promise<void> {
  if (!globalThis.gc) return row('memory', 'needs --expose-gc');
  const before = heapBytes();
  let version = await versionOf(rows);
  await version.index;
  const first = heapBytes() - before;
  row('heap of a version with its index', megabytes(first));
  row('its own estimate', megabytes(version.bytes));
  for (const changed of [5, 50, 500]) {
    const history = new CatalogHistory(Infinity);
    const start = heapBytes();
    const steps = 20;
    for (let step = 0; step < steps; step += 1) {
      const edited = rows.map((wire, at) =>
        at < changed ? { ...wire, desc: `${wire.desc} ${changed}/${step}` } : wire,
      );
      const next = await buildVersion(await arrived(edited), version);
      history.add(version, next.version, next.before);
      version = next.version;
      await version.index;
    }
    row(
      `heap per further version, ${changed} changed`,
      `${((heapBytes() - start) / steps / 1024).toFixed(1)} kB (own estimate ${(history.bytes / steps / 1024).toFixed(1)} kB)`,
    );
  }
}

/** Like a parsed gateway answer: every object is new. */
async function arrived(wires: readonly WireInstrument[]): Promise<readonly Instrument[]> {
  return (await toInstruments(JSON.parse(JSON.stringify(wires)))).instruments;
}

async function versionOf(wires: readonly WireInstrument[]): Promise<CatalogVersion> {
  return (await buildVersion(await arrived(wires), null)).version;
}

/** Terms as people type them: letter by letter, symbols, names, with a slip, of several words. */
function fresh(instruments: readonly Instrument[]): string[] {
  const terms = new Set<string>();
  for (let at = 0; at < instruments.length; at += Math.ceil(instruments.length / 200)) {
    const { symbol, name } = instruments[at] as Instrument;
    for (let length = 1; length <= symbol.length; length += 1) terms.add(symbol.slice(0, length));
    for (const word of name.split(' ')) {
      for (let length = 1; length <= word.length; length += 1) terms.add(word.slice(0, length));
      if (word.length > 4) terms.add(`${word.slice(0, 2)}${word.slice(3)}`);
    }
    terms.add(name);
  }
  return [...terms];
}

function page(version: CatalogVersion, request: PageRequest) {
  const connection = pageOf(version, request);
  if (connection instanceof Promise) throw new Error('the index is not ready');
  return connection;
}

function timed(work: () => unknown): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}

function timePerCall(calls: number, work: (at: number) => unknown): number {
  for (let at = 0; at < calls; at += 1) work(at);
  const began = performance.now();
  for (let at = 0; at < calls; at += 1) work(at);
  return (performance.now() - began) / calls;
}

function heapBytes(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function micros(ms: number): string {
  return `${(ms * 1000).toFixed(2)} µs`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function row(work: string, figure: string): void {
  console.log(`| ${work} | ${figure} |`);
}
