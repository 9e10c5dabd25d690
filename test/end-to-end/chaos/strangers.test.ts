import { Agent } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { inFull } from '../../support/in-full.ts';
import { type RawAnswer, rawPost, rawRequest } from '../../support/raw-request.ts';
import { startedOnce } from '../../support/started.ts';
import { forgedToken } from '../../support/tokens.ts';
import { measure, startMeasured } from './measured-facade.ts';

const MEGABYTE = 1_048_576;
const CONCURRENT_REQUESTS = 20;

const sandbox = startedOnce(() => startSandbox({ seed: 'strangers', instruments: 100, tickMs: 0 }));
const facade = startedOnce(() =>
  startMeasured({
    GATEWAY_URL: sandbox.url,
    NODE_ENV: 'production',
    RATE_LIMIT_PER_MINUTE: '10000000',
  }),
);

/** Sends a request that contains this number, so that no two requests are equal. */
type Ask = (number: number) => Promise<unknown>;

let lastNumber = 0;

/** Sends requests; returns by how many megabytes the heap has grown. */
async function growth(times: number, ask: Ask): Promise<number> {
  const before = await measure(facade);
  let remaining = times;
  const workers = Array.from({ length: CONCURRENT_REQUESTS }, async () => {
    while (remaining > 0) {
      remaining -= 1;
      lastNumber += 1;
      await ask(lastNumber);
    }
  });
  await Promise.all(workers);
  return ((await measure(facade)).heldBytes - before.heldBytes) / MEGABYTE;
}

const post = (parameters: object) => rawPost(`${facade.url}/graphql`, JSON.stringify(parameters));
const SIGN_IN =
  'mutation ($e: String!) { login(input: { email: $e, password: "x" }) { __typename } }';

/** If something were cached for each request, the heap would grow by several times these megabytes. */
const FLOODS: readonly (readonly [what: string, times: number, megabytes: number, ask: Ask])[] = [
  [
    'forged tokens that name a login',
    inFull(4_000, 1_000),
    10,
    (number) =>
      facade.query('{ session { login } catalog { size } }', { token: forgedToken(number) }),
  ],
  [
    'sign-ins with different e-mails',
    inFull(3_000, 750),
    10,
    (number) => post({ query: SIGN_IN, variables: { e: `${number}@example.com` } }),
  ],
];

test.each(FLOODS)(
  'unauthenticated requests leave little in memory: %s',
  async (_what, times, megabytes, ask) => {
    // The first requests fill the caches.
    await growth(500, ask);
    expect(await growth(times, ask)).toBeLessThan(megabytes);
  },
  300_000,
);

/** An expensive request was measured at ten times the CPU of a plain one; work not linear in its length takes thousands. */
const MAX_RATIO = 60;
const MEASURED_REQUESTS = 20;

let plainMicros: number;
beforeAll(async () => {
  const check = ({ text }: RawAnswer) => expect(text).toContain('"data":{"a');
  // The first requests compile code and fill caches.
  await cpuOf(plain, check);
  plainMicros = await cpuOf(plain, check);
});

const body = (query: string, variables: unknown = {}) => JSON.stringify({ query, variables });
const inBrackets = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/**
 * The refused requests with the most expensive errors and variables that fit in one body. All requests differ, so that no
 * answer is memoized. Documents of every shape are in test/engine/documents/work.test.ts.
 */
const HEAVY: Readonly<Record<string, (number: number) => string>> = {
  'variables of another type': (number) =>
    body('query ($s: [Float!]) { instruments(filter: { sectors: $s }) { totalCount } }', {
      s: Array.from({ length: 60_000 - number }, () => 'x'),
    }),
  'a variable with unknown fields': (number) =>
    body('mutation ($i: LoginInput!) { login(input: $i) { __typename } }', {
      i: Object.fromEntries(
        Array.from({ length: 2_000 }, (_, field) => [`k${number}x${field}`, 'x'.repeat(90)]),
      ),
    }),
  'variables of a hundred thousand levels': (number) =>
    `{"query":"query ($v: JSON) { a${number}: __typename }","variables":{"v":${inBrackets(100_000)}}}`,
  'a body over the limit': (number) => body(`{ ${'x'.repeat(400_000)}${number} }`),
};

/** A cheap request of similar length. */
const plain = (number: number) => body(`{ a${number}: __typename } # ${'x'.repeat(95_000)}`);

/** Returns the CPU time of one request, in microseconds. */
async function cpuOf(make: (number: number) => string, check: (answer: RawAnswer) => void) {
  const agent = new Agent({ keepAlive: true });
  const headers = { 'content-type': 'application/json' };
  const post = { method: 'POST', agent, headers };
  const { cpuMicros } = await measure(facade);
  for (let number = 0; number < MEASURED_REQUESTS; number += 1) {
    check(await rawRequest(`${facade.url}/graphql`, { ...post, body: make(number) }));
  }
  agent.destroy();
  return ((await measure(facade)).cpuMicros - cpuMicros) / MEASURED_REQUESTS;
}

// The process has one event loop, so all other clients wait during an expensive request.
test.each(Object.entries(HEAVY))(
  'refusing an expensive request takes no more CPU time than a few plain requests: %s',
  async (_name, make) => {
    sandbox.clearCalls();
    const heavyMicros = await cpuOf(make, ({ status, text }) => {
      expect(status, text.slice(0, 200)).toBeGreaterThanOrEqual(200);
      expect(text).toMatch(/QUERY_TOO_COMPLEX|GRAPHQL_|BAD_USER_INPUT|PAYLOAD_TOO_LARGE/);
      // The answer is short, so no message repeats the request.
      expect(text.length).toBeLessThan(20_000);
    });
    expect(heavyMicros / plainMicros).toBeLessThan(MAX_RATIO);
    expect(sandbox.calls()).toBe(0);
  },
);
