import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';

// Far above the usual time, for busy machines; far below what would block others.
const REFUSED_WITHIN_MS = 600;
const STALLED_AT_MOST_MS = 3_000;
const TIMES = 20;

let sandbox: Sandbox;
let facade: FacadeProcess;
beforeAll(async () => {
  sandbox = await startSandbox({ seed: 'event loop', instruments: 100, tickMs: 0 });
  facade = await startFacadeProcess({
    GATEWAY_URL: sandbox.url,
    NODE_ENV: 'production',
    ORDER_STORE: 'memory',
    RATE_LIMIT_PER_MINUTE: '1000000',
  });
});
afterAll(async () => {
  await facade[Symbol.asyncDispose]();
  await sandbox.close();
});

const repeat = (times: number, make: (at: number) => string) =>
  Array.from({ length: times }, (_, at) => make(at)).join(' ');
const body = (query: string, variables: unknown = {}) => JSON.stringify({ query, variables });
const inBrackets = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** The most expensive requests that fit in one body; each differs, so that none is memoized. */
const HEAVY: Readonly<Record<string, (at: number) => string>> = {
  'unknown fields': (at) => body(`{ ${repeat(3_900, (n) => `f${at}x${n}`)} }`),
  'a field that is repeated': (at) => body(`{ a${at}: __typename ${'__typename '.repeat(3_900)} }`),
  'selections that must be merged': (at) =>
    body(
      `{ ${repeat(140, () => `catalog { instruments { name positions { id instrument { name } } } }`)} a${at}: __typename }`,
    ),
  'fragments that fan out': (at) =>
    body(
      `{ ...F0 } ${repeat(21, (n) => `fragment F${n} on Query { ${n < 20 ? `...F${n + 1} ...F${n + 1}` : `a${at}: __typename`} }`)}`,
    ),
  'a chain of fragments': (at) =>
    body(
      `{ ...F0 } ${repeat(450, (n) => `fragment F${n} on Query { ${n < 449 ? `...F${n + 1}` : `a${at}: __typename`} }`)}`,
    ),
  'fragments in a circle': (at) =>
    body(`{ a${at}: __typename ...A } fragment A on Query { ...B } fragment B on Query { ...A }`),
  'names as long as a body': (at) =>
    body(
      `query ${'x'.repeat(100_000)}${at} { ${repeat(20, (n) => `a${n}: session(maxAge: $v${n}) { login }`)} }`,
    ),
  'literals of another type': (at) =>
    body(
      `{ instruments(first: ${at}, filter: { sectors: [${'"abc" '.repeat(3_900)}] }) { totalCount } }`,
    ),
  'unknown fields of an input': (at) =>
    body(
      `mutation { login(input: { ${repeat(20, (n) => `b${at}x${n}: 1`)} c: [${'1 '.repeat(3_700)}] }) { __typename } }`,
    ),
  'brackets in brackets': (at) => body(`{ session(maxAge: ${'['.repeat(1_900 - at)}`),
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
  'deep selections': (at) =>
    body(`{ a${at}: ${'positions { instrument { '.repeat(200)} id ${' } }'.repeat(200)} }`),
  'what is longer than a body may be': (at) => body(`{ ${'x'.repeat(400_000)}${at} }`),
  'text that is no language': (at) => body(`{ ${'"'.repeat(99_999 - at)}`),
};

describe('an expensive request is refused in milliseconds, and no other client waits', () => {
  test.each(Object.entries(HEAVY))('%s', async (_name, make) => {
    sandbox.clearCalls();
    const agent = new Agent({ keepAlive: true });
    const heart = watchHeart();
    const tookMs: number[] = [];
    for (let at = 0; at < TIMES; at += 1) {
      const startedAt = performance.now();
      const { status, text } = await send(agent, make(at));
      tookMs.push(performance.now() - startedAt);
      expect(status, text.slice(0, 200)).toBeGreaterThanOrEqual(200);
      expect(text).toMatch(/QUERY_TOO_COMPLEX|GRAPHQL_|BAD_USER_INPUT|PAYLOAD_TOO_LARGE/);
      // No message echoes the request.
      expect(text.length).toBeLessThan(20_000);
    }
    const stalledMs = await heart.stop();
    agent.destroy();
    tookMs.sort((one, other) => one - other);
    expect(tookMs[TIMES / 2]).toBeLessThan(REFUSED_WITHIN_MS);
    expect(stalledMs).toBeLessThan(STALLED_AT_MOST_MS);
    expect(sandbox.calls()).toBe(0);
  });
});

/** Polls the liveness check; returns the longest response time. */
function watchHeart() {
  const agent = new Agent({ keepAlive: true });
  let isOver = false;
  let longestMs = 0;
  const beating = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      await get(agent, '/health/live');
      longestMs = Math.max(longestMs, performance.now() - startedAt);
      await delay(2);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await beating;
      agent.destroy();
      return longestMs;
    },
  };
}

function get(agent: Agent, path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request(`${facade.url}${path}`, { agent }, (response) => {
      response.resume().once('end', resolve);
    })
      .once('error', reject)
      .end();
  });
}

function send(agent: Agent, text: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const outgoing = request(`${facade.url}/graphql`, { method: 'POST', agent, headers });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, text: String(Buffer.concat(chunks)) }),
      );
    });
    outgoing.end(text);
  });
}
