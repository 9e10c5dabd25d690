import { expect, test } from 'vitest';
import { sharedApp } from '../../support/shared-app.ts';
import { TRANSPORTS } from '../limits/every-transport.ts';

const app = sharedApp();
const MOST_BYTES = 4_000;

const ASKED = {
  'an argument that is repeated': `{ instruments(${'first: 1 '.repeat(200)}) { totalCount } }`,
  'fields that conflict': `{ ${'a: __typename '.repeat(20)} a: customerId }`,
  'fields that fail': `{ ${'customerId '.repeat(140)} }`,
  'a subscription that does not start': `subscription { ${'positions { id } '.repeat(100)} }`,
};

test.each(TRANSPORTS)(
  'by %s an error has three locations at most, and all of them few bytes',
  async (transport, ask) => {
    const placesOf = async (query: string, operationName?: string) => {
      const answer = await ask(app, { query, ...(operationName && { operationName }) });
      expect(JSON.stringify(answer).length).toBeLessThan(MOST_BYTES);
      const errors = (answer.errors ?? []) as readonly { locations?: readonly unknown[] }[];
      return errors.map(({ locations = [] }) => locations.length);
    };
    for (const [what, query] of Object.entries(ASKED)) {
      if (query.startsWith('subscription') && (transport === 'POST' || transport === 'GET'))
        continue;
      const places = await placesOf(query);
      expect(places.length, what).toBeGreaterThan(0);
      expect(Math.min(...places), what).toBeGreaterThan(0);
      expect(Math.max(...places), what).toBeLessThanOrEqual(3);
    }
    const operations = Array.from({ length: 50 }, (_, at) => `query Q${at} { nope${at} }`);
    expect(await placesOf(operations.join(' '), 'Q7')).toEqual(Array.from({ length: 10 }, () => 1));
  },
);
