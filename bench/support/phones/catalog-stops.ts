import { catalog } from '../../../client/src/catalog.ts';
import { createClientWith } from '../../../client/src/core-client.ts';
import type { Instrument } from '../../../client/src/generated/rows.ts';
import { asyncStorage } from '../../../client/src/storage/async-storage.ts';
import type { Phone } from './phone.ts';

const TEXTS = ['a', 'eur', 'aapl', 'inc apple', 'usd jpy', 'micrsoft', 'technologgy', 'qzxvwq'];
/** A clock of whole milliseconds would say nothing of one search. */
const SEARCHES = 10;
const CHANGED = 40;

/** The variables of a part of the catalog. */
interface Part {
  readonly first: number;
  readonly after: string | null;
  readonly ahead: number;
}

export type CatalogStops = Awaited<ReturnType<typeof catalogStops>>;

/** How long an app stops for a catalog: its first load, in one answer and in parts, a restart, a save of some that have changed, a search. */
export async function catalogStops(phone: Phone, rows: readonly Instrument[], rounds: number) {
  const most = Number.POSITIVE_INFINITY;
  /** The least of the rounds, in milliseconds, because what else the machine does only adds to it. */
  const stops = {
    ...{ firstLoad: most, firstLoadInParts: most, restart: most, save: most, search: most },
    savedKb: 0,
    /** How many were found for each text, by a copy that was read from the store. */
    found: [] as readonly number[],
  };
  const note = (what: Exclude<keyof typeof stops, 'found'>, ms: number) => {
    stops[what] = Math.min(stops[what], ms);
  };
  for (let round = 0; round < rounds; round += 1) {
    const entries = new Map<string, string>();
    let written = 0;
    const storage = asyncStorage({
      getItem: async (key) => phone.turn(entries.get(key) ?? null),
      getAllKeys: async () => phone.turn([...entries.keys()]),
      removeItem: async (key) => phone.turn(void entries.delete(key)),
      setItem: async (key, text) => {
        written += text.length;
        await phone.turn(entries.set(key, text));
      },
    });
    const session = { login: '700001', group: 'standard' };
    const head = { ...session, ageSeconds: 1, size: rows.length, version: '0' };
    const answer = (version: string, upserted: readonly Instrument[], reset: boolean) => {
      const changes = { version, upserted, removed: [], reset };
      return JSON.stringify({ data: { session, catalog: { ...head, changes } } });
    };
    const part = ({ first, after, ahead }: Part) => {
      const from = Number(after);
      const pageInfo = (size: number) => ({
        endCursor: `${Math.min(from + size, rows.length)}`,
        hasNextPage: from + size < rows.length,
      });
      const instruments = { nodes: rows.slice(from, from + first), pageInfo: pageInfo(first) };
      const next = { pageInfo: pageInfo(ahead) };
      return JSON.stringify({ data: { catalog: head, instruments, next } });
    };
    const answers = new Map([
      ['', answer('0', rows, true)],
      ['0', answer('0', [], false)],
    ]);
    // An answer as React Native gives it. Who writes it is no part of the app.
    const fetch = async (_url: string, init?: RequestInit) => {
      const { variables } = JSON.parse(String(init?.body));
      const known = answers.get(variables?.since ?? '0') ?? '';
      const text = variables?.first === undefined ? known : part(variables);
      await phone.turn(null);
      const body = { text: async () => text, json: async () => JSON.parse(text) };
      return { ok: true, status: 200, headers: { get: () => null }, ...body };
    };
    const environment = { fetch: fetch as unknown as typeof globalThis.fetch };
    const own = { url: 'http://127.0.0.1', token: () => 'token' };
    const options = { ...own, storage, environment };
    const slow = { ...own, environment: { ...environment, isSlowLine: () => true } };
    const inParts = createClientWith(slow, catalog());
    note('firstLoadInParts', await phone.longestStop(() => inParts.catalog.load()));
    const first = createClientWith(options, catalog());
    note('firstLoad', await phone.longestStop(() => first.catalog.load()));
    const client = createClientWith(options, catalog());
    note('restart', await phone.longestStop(() => client.catalog.load()));
    const changed = rows.slice(0, CHANGED).map((row) => ({ ...row, leverage: row.leverage + 1 }));
    answers.set('0', answer('1', changed, false));
    written = 0;
    note('save', await phone.longestStop(() => client.catalog.sync()));
    stops.savedKb = written / 1_000;
    const searches = TEXTS.map((text) => {
      const startedMs = phone.nowMs();
      for (let time = 0; time < SEARCHES; time += 1) client.catalog.search(text);
      return (phone.nowMs() - startedMs) / SEARCHES;
    });
    note('search', Math.max(...searches));
    stops.found = TEXTS.map((text) => client.catalog.search(text).length);
  }
  return stops;
}
