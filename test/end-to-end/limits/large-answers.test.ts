import { beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { turnsDuring } from '../../support/turns.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { TRANSPORTS } from './every-transport.ts';

const BURST = 40;

const app = sharedApp();
let token: string;
let expected: unknown;

const NODES = 'nodes { id name description tradingHours { regular } }';
/** Reads more than the catalog, so that no cached response answers it. */
const LARGE = `{ customerId a: instruments(first: 500) { ${NODES} } b: instruments(last: 500) { ${NODES} } }`;

beforeAll(async () => {
  token = await app.signIn();
  const parts = [
    '{ customerId }',
    `{ a: instruments(first: 500) { ${NODES} } }`,
    `{ b: instruments(last: 500) { ${NODES} } }`,
  ];
  const answers = await Promise.all(parts.map((text) => app.query(text, { token })));
  expected = Object.assign({}, ...answers.map(({ data }) => data));
});

test.each(TRANSPORTS)('a large answer has the fields of small ones by %s', async (_how, ask) => {
  expect((await ask(app, { query: LARGE }, token)).data).toEqual(expected);
});

test.each([
  ['compressed with gzip', { 'accept-encoding': 'gzip' }],
  ['compressed with Brotli', { 'accept-encoding': 'br' }],
  ['through content negotiation', { accept: 'application/graphql-response+json;q=0.9' }],
])('a large answer has the fields of small ones: %s', async (_how, headers) => {
  expect((await app.query(LARGE, { token, headers })).data).toEqual(expected);
});

test('new documents that a client sends in one burst are opened in turns', async () => {
  using raw = await initializedSocket(app, token);
  const fields = Array.from({ length: 25 }, (_, at) => `a${at}: session { login balance equity }`);
  for (let at = 0; at < BURST; at += 1) {
    raw.subscribe(String(at), `query Burst${at} { ${fields.join(' ')} }`);
  }
  const count = (type: string) => raw.messages.filter((message) => message.type === type).length;
  const turns = await turnsDuring(() => eventually(() => count('complete') === BURST));
  // Each takes some milliseconds to validate: without turns all of them take one or two.
  expect(count('next')).toBe(BURST);
  expect(turns).toBeGreaterThan(20);
});
