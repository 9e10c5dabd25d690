import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { memoryStorage } from '../../src/storage/memory.ts';
import type { ClientStorage } from '../../src/storage.ts';
import {
  type CountedEnvironmentOptions,
  countedEnvironment,
} from '../support/counted-environment.ts';
import { cutLine, withoutStreams } from '../support/cut-line.ts';
import { follow } from '../support/events.ts';
import { createMemoryStorage } from '../support/memory-storage.ts';

const KEY = 'trading-graph:line';
const NOW_MS = 1_800_000_000_000;
const now = () => NOW_MS;
// A line is tried again at once, however often it has failed.
const random = () => 0;

const { app, proxy, open } = cutLine();

/** A storage that says something of the line. */
async function remembering(text: string): Promise<ClientStorage> {
  const storage = memoryStorage();
  await storage.set(KEY, text);
  return storage;
}

/** One page load: opens the positions, and leaves when they have come. */
async function loadPage(storage: ClientStorage | null, changed: CountedEnvironmentOptions = {}) {
  const upgrades = proxy.upgrades;
  using core = open({ storage, environment: countedEnvironment({ now, ...changed }) });
  await follow(core);
  const pauses = [...core.countedEnvironment.pauses];
  core.dispose();
  expect(core.countedEnvironment.timers.size).toBe(0);
  return { upgrades: proxy.upgrades - upgrades, pauses };
}

test('a memory that says something else is none', async () => {
  expect(await loadPage(await remembering(`socket ${NOW_MS}`))).toMatchObject({ upgrades: 1 });
});

test('a storage that gives something else than texts keeps no line from opening', async () => {
  const get = async () => 1_234 as never;
  expect(await loadPage({ ...memoryStorage(), get })).toMatchObject({ upgrades: 1 });
});

test.each(['failing', 'hanging'] as const)(
  'a storage that is %s delays nothing for long',
  async (how) => {
    const storage = createMemoryStorage();
    for (const step of ['get', 'set', 'delete', 'keys'] as const) storage[how].add(step);
    const { upgrades, pauses } = await loadPage(storage);
    expect(upgrades).toBe(1);
    expect(pauses).toContain(1_000);
  },
);

test('a remembered winner that does not work here gives way to the socket, and is forgotten', async () => {
  const storage = await remembering(`stream ${NOW_MS}`);
  const hurry = (ms: number) => (ms < 3_000 ? Math.min(ms, 20) : ms);
  expect(await loadPage(storage, { hurry, fetch: withoutStreams })).toMatchObject({ upgrades: 1 });
  expect(await storage.get(KEY)).toBeNull();
});

test('a socket that opens while the stream is tried is kept', async () => {
  const probed = Promise.withResolvers<void>();
  const storage = memoryStorage();
  proxy.swallowUpgrades();
  using core = open({
    storage,
    environment: countedEnvironment({
      hurry: (ms) => (ms === 3_000 ? 1 : ms),
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (!String(init?.body).includes('{__typename}')) return response;
        // The socket comes after all.
        proxy.releaseUpgrades();
        await probed.promise;
        return response;
      },
    }),
  });
  const events = await follow(core);
  probed.resolve();
  app.sandbox.tick();
  await eventually(() => expect(events.results.length).toBeGreaterThan(1));
  expect(events.line).toEqual(['connected']);
  expect(await storage.get(KEY)).toBeNull();
});

test.each([
  ['a WebSocket', {}, null],
  ['an event stream', { WebSocket: null }, null],
  ['an event stream that has won, which is remembered', {}, `stream ${NOW_MS}`],
])('the page of a portal ends no subscription over %s', async (_name, platform, remembered) => {
  const storage = remembered === null ? memoryStorage() : await remembering(remembered);
  using core = open({ storage, environment: countedEnvironment({ ...platform, random, now }) });
  const events = await follow(core);
  proxy.showPortal();
  const lines = proxy.accepted;
  // Three handshakes, and what is tried beside them.
  await eventually(() => expect(proxy.accepted).toBeGreaterThan(lines + 8));
  expect(events.end).toBeUndefined();
  expect(await storage.get(KEY)).toBe(remembered);
  await proxy.heal();
  await eventually(() => expect(events.results.length).toBeGreaterThan(1));
});
