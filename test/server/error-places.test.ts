import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { DOORS, type Told } from './limits-doors.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const MOST_BYTES = 4_000;

/** The places of each error of an answer, which is small. */
function placesIn(told: Told): number[] {
  expect(JSON.stringify(told).length).toBeLessThan(MOST_BYTES);
  const errors = (told.errors ?? []) as readonly { locations?: readonly unknown[] }[];
  return errors.map(({ locations = [] }) => locations.length);
}

describe.each(DOORS)('by %s an error names three places at most', (door, ask) => {
  test.each([
    [
      'an argument that is repeated',
      `{ instruments(${'first: 1 '.repeat(1_200)}) { totalCount } }`,
    ],
    ['a variable that is repeated', `query (${'$a: Int '.repeat(900)}) { __typename }`],
    ['fields that conflict', `{ ${'a: __typename '.repeat(20)} a: customerId }`],
  ])('of a document: %s', async (_what, query) => {
    // A URL has no room for the longest of them.
    const asked = { query: door === 'GET' ? query.replaceAll(/(first: 1 ){1000}/g, '') : query };
    const places = placesIn(await ask(app, asked));
    expect(places.length).toBeGreaterThan(0);
    for (const count of places) expect(count).toBeGreaterThan(0);
    expect(Math.max(...places)).toBeLessThanOrEqual(3);
  });

  test('of an execution', async () => {
    const told = await ask(app, { query: `{ ${'customerId '.repeat(140)} }` });
    expect(told.errors).toMatchObject([{ path: ['customerId'] }]);
    expect(placesIn(told)).toEqual([3]);
  });

  test('of a subscription that does not start', async () => {
    if (door === 'POST' || door === 'GET') return;
    const query = `subscription { ${'positions { id } '.repeat(100)} }`;
    expect(placesIn(await ask(app, { query }))).toEqual([3]);
  });
});

test.each(DOORS)('by %s fifty wrong operations are answered with few bytes', async (_door, ask) => {
  const operations = Array.from({ length: 50 }, (_, at) => `query Q${at} { nope${at} }`);
  const told = await ask(app, { query: operations.join(' '), operationName: 'Q7' });
  expect(placesIn(told)).toEqual(Array.from({ length: 10 }, () => 1));
  for (const { message } of told.errors ?? []) expect(message).toMatch(/"nope\d"/);
});
