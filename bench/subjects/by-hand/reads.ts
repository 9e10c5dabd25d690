import type { WireInstrument } from '../../../src/gateway/operations/get-all-tickers.ts';
import type { WireSession } from '../../../src/gateway/operations/get-session.ts';
import type { WireMethod } from '../../../src/gateway/operations/get-withdrawal-methods.ts';
import type { WirePosition } from '../../../src/gateway/operations/holdings.ts';
import { pathOf } from '../../../test/support/ask-gateway.ts';
import { toInstrument, toMethod, toPosition, toSession } from './mapping.ts';
import { indexOf } from './search.ts';

/** Calls the gateway, and returns the JSON of its answer. Each server that uses these reads passes its own HTTP client. */
export type Get = (path: string, token: string) => Promise<unknown>;

interface CachedRead {
  readonly untilMs: number;
  readonly value: Promise<unknown>;
}

const CATALOG_MS = 3_600_000;
const SESSION_MS = 60_000;

// Made once, because each request reads them.
const POSITIONS = pathOf('getOpenPositions');
const METHODS = pathOf('getWithdrawalMethods');
const CUSTOMER = pathOf('getCustomerId');

const cache = new Map<string, CachedRead>();
const claims = new Map<string, { login: string; group: string }>();

/** The gateway's reads as plain calls; the catalog is cached for an hour, a session for a minute. */
export const reads = {
  session: (token: string, get: Get) =>
    cached(`session ${token}`, SESSION_MS, async () =>
      toSession((await get(pathOf('getSession', claimsOf(token)), token)) as WireSession),
    ),

  catalog(token: string, get: Get) {
    const { group } = claimsOf(token);
    return cached(`catalog ${group}`, CATALOG_MS, async () => {
      const rows = await get(pathOf('getAllTickers', { group }), token);
      const list = (rows as WireInstrument[]).map(toInstrument);
      list.sort((a, b) => (a.id < b.id ? -1 : 1));
      return {
        index: indexOf(list),
        byId: new Map(list.map((instrument) => [instrument.id, instrument])),
      };
    });
  },

  async positions(token: string, get: Get) {
    const { positions } = (await get(POSITIONS, token)) as { positions: WirePosition[] };
    return positions.map(toPosition);
  },

  async withdrawalMethods(token: string, get: Get) {
    const groups = await get(METHODS, token);
    return (groups as WireMethod[][]).flat().map(toMethod);
  },

  async customerId(token: string, get: Get) {
    const answer = await get(CUSTOMER, token);
    return (answer as { customerId: string }).customerId;
  },
};

function cached<T>(key: string, ttlMs: number, fetch: () => Promise<T>): Promise<T> {
  const known = cache.get(key);
  if (known && known.untilMs > Date.now()) return known.value as Promise<T>;
  const value = fetch();
  cache.set(key, { untilMs: Date.now() + ttlMs, value });
  value.catch(() => cache.delete(key));
  return value;
}

function claimsOf(token: string): { login: string; group: string } {
  const known = claims.get(token);
  if (known) return known;
  const read = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  claims.set(token, read);
  return read;
}
