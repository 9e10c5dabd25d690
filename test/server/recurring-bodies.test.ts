import { describe, expect, test } from 'vitest';
import { RecurringBodies } from '../../src/server/recurring-bodies.ts';

function body(params: unknown): Buffer {
  return Buffer.from(JSON.stringify(params));
}

const REMEMBERED: readonly (readonly [string, unknown])[] = [
  ['a document', { query: '{ customerId }' }],
  ['a document with an empty object of variables', { query: '{ customerId }', variables: {} }],
  ['one whose operation has a name', { operationName: 'A', query: 'query A { customerId }' }],
  ['an id', { documentId: 'sha256:abc' }],
  ['a hash', { extensions: { persistedQuery: { version: 1, sha256Hash: 'abc' } } }],
  ['variables that are null', { query: '{ customerId }', variables: null }],
];

const FORGOTTEN: readonly (readonly [string, unknown])[] = [
  ['variables', { query: 'query A($a: Int) { x(a: $a) }', variables: { a: 1 } }],
  ['variables in a list', { query: '{ customerId }', variables: [1] }],
  ['unknown fields', { query: '{ customerId }', password: 'secret' }],
  ['other extensions', { query: '{ a }', extensions: { persistedQuery: {}, more: 'secret' } }],
  ['more than a hash', { extensions: { persistedQuery: { sha256Hash: 'abc', more: 'secret' } } }],
  ['a list for a document', { query: [{}, {}, {}] }],
  ['an object for a hash', { extensions: { persistedQuery: { sha256Hash: {} } } }],
  ['a list for a hash', { extensions: { persistedQuery: [[], []] } }],
  ['a list for an id', { documentId: [[], []] }],
  ['names without a value', { query: '{ a }', b: null, c: null }],
  ['no object', ['secret']],
  ['a text', 'secret'],
  ['too much of it', { query: `{ ${'a'.repeat(20_000)} }` }],
];

describe('a body that recurs', () => {
  test.each(REMEMBERED)('with %s is parsed once', (_name, params) => {
    const bodies = new RecurringBodies();
    const first = bodies.parse(body(params));
    expect(first).toEqual(params);
    expect(bodies.parse(body(params))).toBe(first);
    expect(Object.isFrozen(first)).toBe(true);
  });

  test.each(FORGOTTEN)('with %s is parsed each time', (_name, params) => {
    const bodies = new RecurringBodies();
    const texts = [JSON.stringify(params), JSON.stringify(params, null, 2)];
    for (const text of texts) {
      const first = bodies.parse(Buffer.from(text));
      expect(first).toEqual(params);
      const again = bodies.parse(Buffer.from(text));
      expect(again).toEqual(params);
      if (typeof params === 'object') expect(again).not.toBe(first);
    }
  });

  test('is not confused with one that only looks like it', () => {
    const bodies = new RecurringBodies();
    expect(bodies.parse(body({ query: '{ a: b }' }))).toEqual({ query: '{ a: b }' });
    expect(bodies.parse(body({ query: '{ a: ß }' }))).toEqual({ query: '{ a: ß }' });
    expect(bodies.parse(Buffer.from('{"query":"{ a: Ã\u009f }"}'))).toEqual({
      query: '{ a: Ã\u009f }',
    });
  });

  test('that is no JSON is refused each time', () => {
    const bodies = new RecurringBodies();
    for (let i = 0; i < 3; i += 1) expect(() => bodies.parse(Buffer.from('{"query":'))).toThrow();
  });
});
