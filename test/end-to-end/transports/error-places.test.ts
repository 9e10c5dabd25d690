import { describe, expect, test } from 'vitest';
import { sharedApp } from '../../support/shared-app.ts';
import { type Answer, TRANSPORTS } from '../limits/every-transport.ts';

const app = sharedApp();

const MOST_BYTES = 4_000;

/** Counts the locations of each error, and asserts that the answer is small. */
function placesIn(answer: Answer): number[] {
  expect(JSON.stringify(answer).length).toBeLessThan(MOST_BYTES);
  const errors = (answer.errors ?? []) as readonly { locations?: readonly unknown[] }[];
  return errors.map(({ locations = [] }) => locations.length);
}

describe.each(TRANSPORTS)('by %s an error has three locations at most', (transport, ask) => {
  test.each([
    [
      'an argument that is repeated',
      `{ instruments(${'first: 1 '.repeat(1_200)}) { totalCount } }`,
    ],
    ['a variable that is repeated', `query (${'$a: Int '.repeat(90)}) { __typename }`],
    ['fields that conflict', `{ ${'a: __typename '.repeat(20)} a: customerId }`],
  ])('of a document: %s', async (_what, query) => {
    // The longest of them does not fit into a URL.
    const asked = {
      query: transport === 'GET' ? query.replaceAll(/(first: 1 ){1000}/g, '') : query,
    };
    const places = placesIn(await ask(app, asked));
    expect(places.length).toBeGreaterThan(0);
    for (const count of places) expect(count).toBeGreaterThan(0);
    expect(Math.max(...places)).toBeLessThanOrEqual(3);
  });

  test('of an execution', async () => {
    const answer = await ask(app, { query: `{ ${'customerId '.repeat(140)} }` });
    expect(answer.errors).toMatchObject([{ path: ['customerId'] }]);
    expect(placesIn(answer)).toEqual([3]);
  });

  test('of a subscription that does not start', async () => {
    if (transport === 'POST' || transport === 'GET') return;
    const query = `subscription { ${'positions { id } '.repeat(100)} }`;
    expect(placesIn(await ask(app, { query }))).toEqual([3]);
  });
});

test.each(TRANSPORTS)(
  'by %s fifty wrong operations are answered with few bytes',
  async (_transport, ask) => {
    const operations = Array.from({ length: 50 }, (_, at) => `query Q${at} { nope${at} }`);
    const answer = await ask(app, { query: operations.join(' '), operationName: 'Q7' });
    expect(placesIn(answer)).toEqual(Array.from({ length: 10 }, () => 1));
    for (const { message } of answer.errors ?? []) expect(message).toMatch(/"nope\d"/);
  },
);
