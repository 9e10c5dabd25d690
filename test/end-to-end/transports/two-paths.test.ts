import { Agent, type IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { createRandom, pick } from '../../../sandbox/random.ts';
import { startSandbox } from '../../../sandbox/start.ts';
import { buildSchema } from '../../../src/schema/schema.ts';
import type { TestApp } from '../../support/app.ts';
import { inFull } from '../../support/in-full.ts';
import { randomDocument } from '../../support/random-documents.ts';
import { type RawRequest, rawResponse } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { startedOnce } from '../../support/started.ts';
import { inSeconds, withClaims } from '../../support/tokens.ts';
import { type RandomRequest, randomRequest } from './random-requests.ts';

const REQUESTS = inFull(10_000, 1_200);
const AT_A_TIME = 8;
const EVENT_STREAM = 'text/event-stream';

const schema = buildSchema();
// These fields change over time, or differ between two processes.
const without = new Set([
  'Catalog.ageSeconds',
  'Catalog.stale',
  'Catalog.skipped',
  'Catalog.fetchedAt',
  'Catalog.expiresAt',
  'Session.fetchedAt',
]);
const DOCUMENTS = [
  '{ __typename }',
  '{ customerId }',
  '{ session { balance currency } positions { symbol } }',
  '{ instruments(first: 40) { nodes { id name description } totalCount } }',
  '{ instrument(id: "AAPL") { name } }',
  '{ catalog { version size } }',
  '{ instrument(id: "AAPL") { positions { id } } }',
  '{ __schema { types { name description } } }',
  '{ nope }',
  '{ customerId',
  '',
  'query A { customerId } query B { __typename }',
  'query Named($x: Int!) { instruments(first: $x) { totalCount } }',
  'mutation { setValue(input: { key: "k", value: [1, null] }) { __typename } }',
  'mutation { login(input: { email: "a@example.com", password: "x" }) { __typename } }',
  'subscription { positions { id } }',
  'subscription { positionChanges(intervalMs: 0) { cursor } }',
  `{ ${'session { positions { instrument { '.repeat(1)}${'positions { instrument { '.repeat(8)} id ${'}'.repeat(19)} }`,
];

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const environment = {
  INTROSPECTION: 'on',
  CORS_ORIGINS: 'http://localhost:3000',
  RATE_LIMIT_PER_MINUTE: '1000000',
  LOGIN_LIMIT_PER_MINUTE: '1000000',
  // Both paths answer at once, and other tests beside them.
  GATEWAY_TIMEOUT_MS: '30000',
};
const gateway = startedOnce(() => startSandbox({ seed: 'tests', tickMs: 0, instruments: 60 }));
const direct = sharedApp(environment, { gateway, directPath: true });
const yoga = sharedApp(environment, { gateway, directPath: false });
const agent = new Agent({ keepAlive: true, maxSockets: AT_A_TIME });

afterAll(() => agent.destroy());

async function send(app: TestApp, asked: RandomRequest): Promise<Answer> {
  const url = `${app.url}/graphql${asked.search}`;
  const over = async (request: RawRequest) =>
    answerOf(await rawResponse(url, request), asked.isEndless);
  // A refusal may close its connection, on which the next request can be on its way already.
  const answer = await over({ ...asked, agent }).catch(() => null);
  if (answer) return answer;
  // A connection of its own is asked for like the agent's, or the server would say that it closes it.
  const alone = { ...asked, headers: { ...asked.headers, connection: 'keep-alive' } };
  for (let tries = 0; tries < 2; tries += 1) {
    const repeated = await over(alone).catch(() => null);
    if (repeated) return repeated;
  }
  return { status: 0, headers: {}, body: 'reset' };
}

function begun({ statusCode = 0, headers }: IncomingMessage): Answer {
  return { status: statusCode, headers: comparable(headers), body: 'events' };
}

async function answerOf(response: IncomingMessage, isEndless: boolean): Promise<Answer> {
  const { statusCode = 0, headers } = response;
  const chunks: Buffer[] = [];
  for await (const chunk of response) {
    chunks.push(chunk);
    // A subscription goes on for ever.
    if (isEndless && headers['content-type'] === EVENT_STREAM) return begun(response);
  }
  const bytes = Buffer.concat(chunks);
  const length = headers['content-length'];
  if (length !== undefined && bytes.length > 0) expect(Number(length)).toBe(bytes.length);
  return { status: statusCode, headers: comparable(headers), body: textOf(headers, bytes) };
}

/** Removes what differs between two moments or two processes. */
function comparable(headers: IncomingMessage['headers']): Readonly<Record<string, unknown>> {
  const { date, ratelimit, 'content-length': _length, 'x-request-id': id, ...rest } = headers;
  // Of the account or of the address: that depends on which request has proved the token before.
  const { 'ratelimit-policy': policy, ...others } = rest;
  return {
    ...others,
    'ratelimit-policy': policy !== undefined,
    date: typeof date,
    ratelimit: ratelimit !== undefined,
    'x-request-id': String(id).replace(/^[\w-]{36}$/, 'one of ours'),
    'cache-control': rest['cache-control']?.replace(/max-age=\d+/, 'max-age=some'),
  };
}

function textOf(headers: IncomingMessage['headers'], bytes: Buffer): string {
  const encoding = bytes.length > 0 ? headers['content-encoding'] : undefined;
  const plain =
    encoding === 'br' ? brotliDecompressSync(bytes) : encoding ? gunzipSync(bytes) : bytes;
  const text = String(plain).replace(/"requestId":"[^"]+"/g, '"requestId":"an id"');
  return text.replace(
    /^(data: )?(\{.*"errors":\[.*\})$/gm,
    (_line, before = '', json) => before + sorted(json),
  );
}

/** The order of two failing reads is a race. */
function sorted(json: string): string {
  const answer = JSON.parse(json) as { errors?: object[] };
  const errors = answer.errors?.map((error) => JSON.stringify(error)).sort();
  return JSON.stringify({ ...answer, errors });
}

test('random requests are answered alike by either path', async () => {
  const random = createRandom('two paths');
  const token = gateway.token({ email: 'demo@example.com' });
  const tokens = [
    ...Array.from({ length: 8 }, () => token),
    gateway.token({ email: 'pro@example.com' }),
    withClaims(token, { login: 1 }),
    withClaims(token, { exp: inSeconds(-600) }),
    'no-token',
  ];
  const document = () => {
    if (random() < 0.6) return { text: pick(random, DOCUMENTS) };
    return randomDocument(schema, random, { without, maxDepth: 3, texts: ['AAPL', 'TSLA'] });
  };
  const seen = new Map<number, number>();
  let left = REQUESTS;
  async function work(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const asked = randomRequest(random, { tokens, document });
      const [found, expected] = await Promise.all([send(direct, asked), send(yoga, asked)]);
      const { body = '', ...head } = asked;
      expect(found, `${JSON.stringify(head)}\n${String(body).slice(0, 2_000)}`).toEqual(expected);
      seen.set(found.status, (seen.get(found.status) ?? 0) + 1);
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  expect(seen.get(0) ?? 0).toBeLessThan(REQUESTS * 0.01);
  // Most answers must be no refusals, or the comparison would be weak.
  expect(seen.get(200)).toBeGreaterThan(REQUESTS * 0.3);
  for (const status of [304, 400, 403, 405, 406, 413, 415])
    expect(seen.get(status)).toBeGreaterThan(0);
}, 600_000);
