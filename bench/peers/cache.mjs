/** A TTL cache for what does not change between requests: a catalog for an hour, a session for a minute. */
import { toInstrument, toSession } from '../contestants/by-hand/mapping.ts';

const CATALOG_MS = 3_600_000;
const SESSION_MS = 60_000;

/** `get(path, token)` is each contestant's own way to the gateway. */
export function createCache() {
  const values = new Map();
  const cached = (key, forMs, fetch) => {
    const known = values.get(key);
    if (known && known.untilMs > Date.now()) return known.value;
    const value = fetch();
    values.set(key, { untilMs: Date.now() + forMs, value });
    value.catch(() => values.delete(key));
    return value;
  };
  return {
    catalog(token, get) {
      const { group } = claimsOf(token);
      return cached(`catalog ${group}`, CATALOG_MS, async () => {
        const rows = await get(`/trading/tickers/${encodeURIComponent(group)}`, token);
        const list = rows.map(toInstrument).sort((a, b) => (a.id < b.id ? -1 : 1));
        return { list, byId: new Map(list.map((instrument) => [instrument.id, instrument])) };
      });
    },
    session(token, get) {
      return cached(`session ${token}`, SESSION_MS, async () =>
        toSession(await get(`/trading/session/${claimsOf(token).login}`, token)),
      );
    },
  };
}

const claims = new Map();

function claimsOf(token) {
  let read = claims.get(token);
  if (!read) {
    read = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
    claims.set(token, read);
  }
  return read;
}
