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

const CONCURRENT_REQUESTS = 6;
const MAX_TOKENS = 20;
/** How often the catalog changes. */
const CHANGE_MS = 1_500;
const environment: Environment = {
  PORT: '0',
  ADMIN_PORT: '0',
  ORDER_STORE: 'memory',
  GRAPHIQL: 'on',
  RATE_LIMIT_PER_MINUTE: '100000000',
  LOGIN_LIMIT_PER_MINUTE: '100000000',
  CATALOG_MAX_AGE_SECONDS: '2',
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
  const changeTimer = setInterval(() => gateway.changeCatalog({ change: 3 }), CHANGE_MS);
  const clients = createClients(app, gateway);
  const samples: Sample[] = [];
  try {
    while (clients.requests() < requests) {
      const next = clients.requests() + step;
      await clients.workWhile(() => clients.requests() < next);
      samples.push({ requests: clients.requests(), bytes: heldBytes() });
    }
  } finally {
    clearInterval(changeTimer);
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

  async function sendOne(): Promise<void> {
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

  /** A query by its kind, a number from 0 to 1: a random document, or one of the others below. */
  function question(kind: number): { query: string; variables: object } {
    if (kind < 0.35) {
      const { text, variables } = randomDocument(schema, random, { maxDepth: 3 });
      return { query: text, variables };
    }
    if (kind < 0.4) return { query: WHOLE, variables: {} };
    if (kind < 0.55) return { query: HOME, variables: {} };
    // The fields of this document do not exist.
    if (kind < 0.6)
      return { query: `{ ${'nope '.repeat(random() * 30)} n${random()} }`, variables: {} };
    const text = `${pick(random, ['a', 'b', 'inc', 'gold'])}${Math.floor(random() * 20_000)}`;
    const search = random() < 0.5 ? text.slice(0, 2) : text;
    return { query: SEARCH, variables: { search, n: Math.floor(random() * 60) } };
  }

  function headers(): Record<string, string> {
    const encoding = pick(random, ['br', 'gzip', 'identity']);
    return { authorization: `Bearer ${token()}`, 'accept-encoding': encoding };
  }

  /** One of few tokens: the memory that many tokens take would hide a leak. */
  function token(): string {
    if (tokens.length === MAX_TOKENS) return pick(random, tokens);
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
          await sendOne();
          requests += 1;
        }
      };
      await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, work));
      // Lets the garbage of the last requests be collected as well.
      await delay(50);
    },
  };
}
