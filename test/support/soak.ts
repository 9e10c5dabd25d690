import { setTimeout as delay } from 'node:timers/promises';
import { type App, startApp } from '../../src/app.ts';
import { type Environment, readConfig } from '../../src/config.ts';
import { createLog } from '../../src/lib/log.ts';
import { createRandom, pick } from '../../src/sandbox/random.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/start.ts';
import { buildSchema } from '../../src/schema/schema.ts';
import { heldBytes } from './heap.ts';
import { randomDocument } from './random-documents.ts';

interface SoakOptions {
  readonly requests: number;
  /** The number of answers after which all clients pause, and the heap is measured. */
  readonly step: number;
  readonly cacheBytes: { readonly documents: number; readonly answers: number };
}

/** The size of the heap after a number of requests. */
export interface Sample {
  readonly requests: number;
  readonly bytes: number;
}

const AT_A_TIME = 6;
const TOKENS = 20;
const CATALOG_SECONDS = 2;
const CHANGE_MS = 1_500;
const environment: Environment = {
  PORT: '0',
  ADMIN_PORT: '0',
  ORDER_STORE: 'memory',
  GRAPHIQL: 'on',
  RATE_LIMIT_PER_MINUTE: '100000000',
  LOGIN_LIMIT_PER_MINUTE: '100000000',
  CATALOG_MAX_AGE_SECONDS: String(CATALOG_SECONDS),
  SESSION_MAX_AGE_SECONDS: '5',
};
const HOME =
  '{ session { balance } positions { symbol instrument { name } } withdrawalMethods { title } customerId }';
const SEARCH = `query ($search: String, $n: Int) {
  instruments(first: $n, filter: { search: $search }) { totalCount nodes { id name description } }
}`;
const WHOLE = '{ catalog { version instruments { id name description leverage session } } }';

/**
 * Fills the facade's caches. Documents never repeat, variables seldom do, and the catalog changes every 1.5 seconds. After
 * each step all clients pause, and the remaining heap is measured.
 */
export async function soak({
  requests,
  step,
  cacheBytes,
}: SoakOptions): Promise<readonly Sample[]> {
  await using gateway = await startSandbox({ seed: 'soak', tickMs: 0, instruments: 300 });
  const config = readConfig({ ...environment, GATEWAY_URL: gateway.url });
  const log = createLog({ level: 'fatal', destination: { write: () => {} } });
  const app = await startApp(config, { log, cacheBytes });
  const changing = setInterval(() => gateway.changeCatalog({ change: 3 }), CHANGE_MS);
  const clients = createClients(app, gateway);
  const samples: Sample[] = [];
  try {
    while (clients.requests() < requests) {
      const next = clients.requests() + step;
      await clients.workWhile(() => clients.requests() < next);
      samples.push({ requests: clients.requests(), bytes: heldBytes() });
    }
  } finally {
    clearInterval(changing);
    await app.close();
  }
  return samples;
}

/** Makes random requests, a few at a time. */
function createClients({ url }: App, gateway: Sandbox) {
  const random = createRandom('soak');
  const schema = buildSchema();
  const tokens: string[] = [];
  let requests = 0;

  async function once(): Promise<void> {
    const kind = random();
    if (kind < 0.03) return watch();
    const { query, variables } = question(kind);
    const search = new URLSearchParams({ query, variables: JSON.stringify(variables) });
    const isGet = random() < 0.4;
    const response = await fetch(`${url}/graphql${isGet ? `?${search}` : ''}`, {
      method: isGet ? 'GET' : 'POST',
      headers: { ...headers(), 'content-type': 'application/json' },
      ...(!isGet && { body: JSON.stringify({ query, variables }) }),
    });
    await response.arrayBuffer();
  }

  function question(kind: number): { query: string; variables: object } {
    if (kind < 0.35) {
      const { text, variables } = randomDocument(schema, random, { maxDepth: 3 });
      return { query: text, variables };
    }
    if (kind < 0.4) return { query: WHOLE, variables: {} };
    if (kind < 0.55) return { query: HOME, variables: {} };
    if (kind < 0.6)
      return { query: `{ ${'nope '.repeat(random() * 30)} n${random()} }`, variables: {} };
    const search = `${pick(random, ['a', 'b', 'inc', 'gold'])}${Math.floor(random() * 20_000)}`;
    const some = random() < 0.5 ? { search: search.slice(0, 2) } : { search };
    return { query: SEARCH, variables: { ...some, n: Math.floor(random() * 60) } };
  }

  function headers(): Record<string, string> {
    const encoding = pick(random, ['br', 'gzip', 'identity']);
    return { authorization: `Bearer ${token()}`, 'accept-encoding': encoding };
  }

  /** Few tokens, because the memory of each would hide the rest. */
  function token(): string {
    if (tokens.length === TOKENS) return pick(random, tokens);
    const email = pick(random, ['demo@example.com', 'pro@example.com']);
    const signature = random() < 0.8 ? 'valid' : 'forged';
    tokens.push(gateway.token({ email, signature }));
    return tokens.at(-1) as string;
  }

  async function watch(): Promise<void> {
    const controller = new AbortController();
    const response = await fetch(
      `${url}/graphql?query=subscription{positionChanges{cursor upserted{id instrument{name}}}}`,
      { headers: { ...headers(), accept: 'text/event-stream' }, signal: controller.signal },
    );
    await response.body?.getReader().read();
    controller.abort();
  }

  return {
    requests: () => requests,
    async workWhile(goesOn: () => boolean): Promise<void> {
      const work = async () => {
        while (goesOn()) {
          await once();
          requests += 1;
        }
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, work));
      // Lets the garbage of the last requests be collected as well.
      await delay(50);
    },
  };
}
