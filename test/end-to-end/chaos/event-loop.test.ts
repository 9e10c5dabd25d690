import { Agent } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { type RawAnswer, rawRequest } from '../../support/raw-request.ts';
import { startedOnce } from '../../support/started.ts';
import { startWeighedFacade } from './weighed-facade.ts';

/** Measured: ten. What is not bounded by the length of its text costs thousands. */
const MOST_TIMES_PLAIN = 60;
const TIMES = 20;

const sandbox = startedOnce(() =>
  startSandbox({ seed: 'event loop', instruments: 100, tickMs: 0 }),
);
const facade = startedOnce(() =>
  startWeighedFacade({
    GATEWAY_URL: sandbox.url,
    NODE_ENV: 'production',
    RATE_LIMIT_PER_MINUTE: '1000000',
  }),
);
let usual: number;
beforeAll(async () => {
  const check = ({ text }: RawAnswer) => expect(text).toContain('"data":{"a');
  // The first requests are compiled and fill caches.
  await cpuOf(plain, check);
  usual = await cpuOf(plain, check);
});

const repeat = (times: number, make: (at: number) => string) =>
  Array.from({ length: times }, (_, at) => make(at)).join(' ');
const body = (query: string, variables: unknown = {}) => JSON.stringify({ query, variables });
const inBrackets = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/**
 * The most expensive requests that fit in one body, by their errors and their variables; each differs, so that none is memoized.
 * Documents of every shape are in test/engine/documents/work.test.ts.
 */
const HEAVY: Readonly<Record<string, (at: number) => string>> = {
  'unknown fields': (at) => body(`{ ${repeat(3_900, (n) => `f${at}x${n}`)} }`),
  'selections that must be merged': (at) =>
    body(
      `{ ${repeat(140, () => `catalog { instruments { name positions { id instrument { name } } } }`)} a${at}: __typename }`,
    ),
  'literals of another type': (at) =>
    body(
      `{ instruments(first: ${at}, filter: { sectors: [${'"abc" '.repeat(3_900)}] }) { totalCount } }`,
    ),
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
  'what is longer than a body may be': (at) => body(`{ ${'x'.repeat(400_000)}${at} }`),
};

/** A request of a body's length that is no work. */
const plain = (at: number) => body(`{ a${at}: __typename } # ${'x'.repeat(95_000)}`);

/** The CPU of one of these requests, in microseconds. */
async function cpuOf(make: (at: number) => string, check: (answer: RawAnswer) => void) {
  const agent = new Agent({ keepAlive: true });
  const headers = { 'content-type': 'application/json' };
  const post = { method: 'POST', agent, headers };
  const { cpuMicros } = await facade.weigh();
  for (let at = 0; at < TIMES; at += 1) {
    check(await rawRequest(`${facade.url}/graphql`, { ...post, body: make(at) }));
  }
  agent.destroy();
  return ((await facade.weigh()).cpuMicros - cpuMicros) / TIMES;
}

// Whatever one request costs, all other clients wait for: there is one event loop.
test.each(Object.entries(HEAVY))(
  'an expensive request is refused for the CPU of some plain ones: %s',
  async (_name, make) => {
    sandbox.clearCalls();
    const heavy = await cpuOf(make, ({ status, text }) => {
      expect(status, text.slice(0, 200)).toBeGreaterThanOrEqual(200);
      expect(text).toMatch(/QUERY_TOO_COMPLEX|GRAPHQL_|BAD_USER_INPUT|PAYLOAD_TOO_LARGE/);
      // No message echoes the request.
      expect(text.length).toBeLessThan(20_000);
    });
    expect(heavy / usual).toBeLessThan(MOST_TIMES_PLAIN);
    expect(sandbox.calls()).toBe(0);
  },
);
