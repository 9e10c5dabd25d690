import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { inFull } from '../../support/in-full.ts';
import { type RawAnswer, rawPost, rawRequest } from '../../support/raw-request.ts';
import { startedOnce } from '../../support/started.ts';
import { forgedToken } from '../../support/tokens.ts';

const MEGABYTE = 1_048_576;
const AT_A_TIME = 20;

const sandbox = startedOnce(() => startSandbox({ seed: 'strangers', instruments: 100, tickMs: 0 }));
const program = fileURLToPath(new URL('weighed-main.ts', import.meta.url));
/** The whole program in a separate process, so that only its memory and CPU are measured. */
const facade = startedOnce(() =>
  startFacadeProcess(
    {
      GATEWAY_URL: sandbox.url,
      NODE_ENV: 'production',
      ORDER_STORE: 'memory',
      RATE_LIMIT_PER_MINUTE: '10000000',
    },
    [],
    program,
  ),
);

/** Measures the heap after a garbage collection, and the CPU time that this process has used. */
async function weigh(): Promise<{ readonly heldBytes: number; readonly cpuMicros: number }> {
  const before = facade.logged.length;
  const find = () => facade.logged.slice(before).find((line) => line.includes('"heldBytes"'));
  facade.signal('SIGUSR2');
  await eventually(() => find() !== undefined);
  return JSON.parse(find() as string);
}

let made = 0;

/** Returns by how many megabytes the heap grows. */
async function growth(times: number, ask: (at: number) => Promise<unknown>): Promise<number> {
  const before = await weigh();
  let left = times;
  const asking = Array.from({ length: AT_A_TIME }, async () => {
    while (left > 0) {
      left -= 1;
      made += 1;
      await ask(made);
    }
  });
  await Promise.all(asking);
  return ((await weigh()).heldBytes - before.heldBytes) / MEGABYTE;
}

const post = (parameters: object) => rawPost(`${facade.url}/graphql`, JSON.stringify(parameters));
const SIGN_IN =
  'mutation ($e: String!) { login(input: { email: $e, password: "x" }) { __typename } }';

type Ask = (at: number) => Promise<unknown>;

/** If something were cached for each request, it would take several times these megabytes. */
const ASKED: readonly (readonly [what: string, times: number, megabytes: number, ask: Ask])[] = [
  [
    'forged tokens that name a login',
    inFull(4_000, 1_000),
    10,
    (at) => facade.query('{ session { login } catalog { size } }', { token: forgedToken(at) }),
  ],
  [
    'sign-ins with different e-mails',
    inFull(3_000, 750),
    10,
    (at) => post({ query: SIGN_IN, variables: { e: `${at}@example.com` } }),
  ],
];

test.each(ASKED)(
  'unauthenticated requests leave little in memory: %s',
  async (_what, times, megabytes, ask) => {
    await growth(500, ask);
    expect(await growth(times, ask)).toBeLessThan(megabytes);
  },
  300_000,
);

/** A measurement found ten. Work that is not linear in the text's length costs thousands. */
const MAX_TIMES_PLAIN = 60;
const TIMES = 20;

let usual: number;
beforeAll(async () => {
  const check = ({ text }: RawAnswer) => expect(text).toContain('"data":{"a');
  // The first requests compile code and fill caches.
  await cpuOf(plain, check);
  usual = await cpuOf(plain, check);
});

const body = (query: string, variables: unknown = {}) => JSON.stringify({ query, variables });
const inBrackets = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/**
 * The most expensive requests that fit in one body, by their errors and their variables. All differ, so that none is
 * memoized. Documents of every shape are in test/engine/documents/work.test.ts.
 */
const HEAVY: Readonly<Record<string, (at: number) => string>> = {
  'variables of another type': (at) =>
    body('query ($s: [Float!]) { instruments(filter: { sectors: $s }) { totalCount } }', {
      s: Array.from({ length: 60_000 - at }, () => 'x'),
    }),
  'a variable with unknown fields': (at) =>
    body('mutation ($i: LoginInput!) { login(input: $i) { __typename } }', {
      i: Object.fromEntries(
        Array.from({ length: 2_000 }, (_, n) => [`k${at}x${n}`, 'x'.repeat(90)]),
      ),
    }),
  'variables of a hundred thousand levels': (at) =>
    `{"query":"query ($v: JSON) { a${at}: __typename }","variables":{"v":${inBrackets(100_000)}}}`,
  'a body over the limit': (at) => body(`{ ${'x'.repeat(400_000)}${at} }`),
};

/** A request of the same length without work. */
const plain = (at: number) => body(`{ a${at}: __typename } # ${'x'.repeat(95_000)}`);

/** Returns the CPU time of one request, in microseconds. */
async function cpuOf(make: (at: number) => string, check: (answer: RawAnswer) => void) {
  const agent = new Agent({ keepAlive: true });
  const headers = { 'content-type': 'application/json' };
  const post = { method: 'POST', agent, headers };
  const { cpuMicros } = await weigh();
  for (let at = 0; at < TIMES; at += 1) {
    check(await rawRequest(`${facade.url}/graphql`, { ...post, body: make(at) }));
  }
  agent.destroy();
  return ((await weigh()).cpuMicros - cpuMicros) / TIMES;
}

// The process has one event loop, so all other clients wait during an expensive request.
test.each(Object.entries(HEAVY))(
  'refusing an expensive request costs no more CPU than a few plain requests: %s',
  async (_name, make) => {
    sandbox.clearCalls();
    const heavy = await cpuOf(make, ({ status, text }) => {
      expect(status, text.slice(0, 200)).toBeGreaterThanOrEqual(200);
      expect(text).toMatch(/QUERY_TOO_COMPLEX|GRAPHQL_|BAD_USER_INPUT|PAYLOAD_TOO_LARGE/);
      // No message echoes the request.
      expect(text.length).toBeLessThan(20_000);
    });
    expect(heavy / usual).toBeLessThan(MAX_TIMES_PLAIN);
    expect(sandbox.calls()).toBe(0);
  },
);
