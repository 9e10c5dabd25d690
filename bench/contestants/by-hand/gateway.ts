import { Pool } from 'undici';
import type { WirePosition } from '../../../src/gateway/wire/holding.ts';
import type { WireInstrument } from '../../../src/gateway/wire/instrument.ts';
import type { WireSession } from '../../../src/gateway/wire/session.ts';
import { toInstrument, toMethod, toPosition, toSession } from './mapping.ts';

type Catalog = {
  readonly list: readonly ReturnType<typeof toInstrument>[];
  readonly byId: ReadonlyMap<string, ReturnType<typeof toInstrument>>;
};

const CATALOG_MS = 3_600_000;
const SESSION_MS = 60_000;

interface Held<T> {
  readonly untilMs: number;
  readonly value: Promise<T>;
}

/** The gateway's reads as plain calls; the catalog is cached for an hour, a session for a minute. */
export class Gateway {
  readonly #pool: Pool;
  readonly #catalogs = new Map<string, Held<Catalog>>();
  readonly #sessions = new Map<string, Held<ReturnType<typeof toSession>>>();

  constructor(url: string) {
    this.#pool = new Pool(url, { connections: 128 });
  }

  session(token: string) {
    return held(this.#sessions, token, SESSION_MS, async () =>
      toSession(
        (await this.#get(`/trading/session/${claimsOf(token).login}`, token)) as WireSession,
      ),
    );
  }

  catalog(token: string): Promise<Catalog> {
    const { group } = claimsOf(token);
    return held(this.#catalogs, group, CATALOG_MS, async () => {
      const path = `/trading/tickers/${encodeURIComponent(group)}`;
      const list = ((await this.#get(path, token)) as WireInstrument[]).map(toInstrument);
      list.sort((a, b) => (a.id < b.id ? -1 : 1));
      return { list, byId: new Map(list.map((instrument) => [instrument.id, instrument])) };
    });
  }

  async positions(token: string) {
    const { positions } = (await this.#get('/trading/positions', token)) as {
      positions: WirePosition[];
    };
    return positions.map(toPosition);
  }

  async withdrawalMethods(token: string) {
    const groups = await this.#get('/payments/client/withdrawal-methods', token);
    return (groups as Parameters<typeof toMethod>[0][][]).flat().map(toMethod);
  }

  async customerId(token: string): Promise<string> {
    const answer = await this.#get('/payments/client/customer-id', token);
    return (answer as { customerId: string }).customerId;
  }

  async #get(path: string, authorization: string): Promise<unknown> {
    const headers = { authorization };
    const { statusCode, body } = await this.#pool.request({ path, method: 'GET', headers });
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
    return body.json();
  }
}

function held<T>(
  values: Map<string, Held<T>>,
  key: string,
  forMs: number,
  fetch: () => Promise<T>,
): Promise<T> {
  const nowMs = Date.now();
  const known = values.get(key);
  if (known && known.untilMs > nowMs) return known.value;
  const value = fetch();
  values.set(key, { untilMs: nowMs + forMs, value });
  value.catch(() => values.delete(key));
  return value;
}

const claims = new Map<string, { login: string; group: string }>();

function claimsOf(token: string): { login: string; group: string } {
  const known = claims.get(token);
  if (known) return known;
  const read = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  claims.set(token, read);
  return read;
}
