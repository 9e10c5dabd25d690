import { parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { mayMutate, requestedDocument } from '../../src/request/document.ts';
import { print } from '../../src/request/print.ts';

test.each([
  ['mutation { a }', true],
  ['# a comment\n  mutation M($a: Int) { a }', true],
  ['fragment F on T { mutation } query { a }', false],
  ['query Q { mutation { a } }', false],
  ['query Q($a: String = "} mutation") { a }', false],
  ['query Q { a(b: """ } mutation " """) }', false],
  ['fragment F on T { a } mutation { a }', true],
  ['{ a } # mutation', false],
  ['{ a(b: """x \\""" } mutation """) }', false],
])('the document %j can be a mutation: %j', (query, expected) => {
  expect(mayMutate({ query })).toBe(expected);
});

test('an operation is sent without the other operations of its file, and with fragments that were added', () => {
  const file = parse('query A { a { ...F } } query B { b }');
  const { definitions } = parse('fragment F on T { f }');
  const document = { ...file, definitions: [...file.definitions.slice(0, 1), ...definitions] };
  expect(requestedDocument(document)).toEqual({
    query: 'query A{a{...F}}\nfragment F on T{f}',
  });
});

describe('the printer', () => {
  test.each([
    'query Q($a: [Int!]! = [1, 2], $b: In = {c: ENUM, d: {e: null}}) @x(y: $a) { z: f(a: $a, b: "q\\"\\u00e9\\n") @include(if: true) { ...F ... on T @skip(if: false) { g } ... { h } } }',
    'fragment F on T @d { a b(c: 1.5e3, d: true) } subscription { s }',
    'mutation { m(text: """block " text""") }',
    '{ a }',
  ])('prints a text with the same meaning: %s', (text) => {
    const document = parse(text, { noLocation: true });
    const again = parse(print(document), { noLocation: true });
    // A block string is printed as a plain one.
    const plain = (node: unknown) =>
      JSON.stringify(node).replaceAll('"block":true', '"block":false');
    expect(plain(again)).toBe(plain(document));
  });
});
