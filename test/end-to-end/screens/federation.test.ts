import { setImmediate } from 'node:timers/promises';
import { Kind, parse, visit } from 'graphql';
import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { withClaims } from '../../support/tokens.ts';

const app = sharedApp({ FEDERATION: 'on' });
const DEMO = { email: 'demo@example.com' };

const ENTITIES = `query ($representations: [_Any!]!) {
  _entities(representations: $representations) {
    __typename
    ... on Instrument { id name }
    ... on Position { id symbol instrument { name } }
    ... on Order { id symbol }
  }
}`;

const ask = (representations: readonly unknown[], token: string | null = app.sandbox.token(DEMO)) =>
  app.query(ENTITIES, { token, variables: { representations } });

test('a router gets the schema with the keys of its entities and the definition of every directive', async () => {
  const { data } = await app.query('{ _service { sdl } }');
  const { sdl } = data._service;
  expect(sdl.match(/^type .*@key.*$/gm)).toEqual([
    'type Instrument @key(fields: "id") {',
    'type Order @key(fields: "id") {',
    'type Position @key(fields: "id") {',
  ]);
  const used = new Set<string>();
  // These directives are defined by federation or GraphQL itself.
  const defined = new Set(['key', 'link', 'deprecated', 'specifiedBy']);
  visit(parse(sdl), {
    [Kind.DIRECTIVE]: ({ name }) => void used.add(name.value),
    [Kind.DIRECTIVE_DEFINITION]: ({ name }) => void defined.add(name.value),
  });
  expect([...used].filter((name) => !defined.has(name))).toEqual([]);
  expect(used).toContain('oneOf');
  expect(sdl).not.toMatch(/_entities|_Any|@defer/);
});

test('entities are found by id, in the requested order and with one gateway call per list', async () => {
  const token = app.sandbox.token(DEMO);
  const own = await app.query(
    '{ positions { __typename id symbol instrument { name } } orders { __typename id symbol } }',
    { token },
  );
  const { positions, orders } = own.data;
  app.sandbox.clearCalls();
  const known = [
    ...orders,
    { __typename: 'Instrument', id: 'AAPL', name: 'Apple Inc.' },
    ...positions,
  ];
  const unknown = [
    { __typename: 'Instrument', id: 'NONE' },
    { __typename: 'Position', id: '1' },
    { __typename: 'Position', id: orders[0].id },
  ];
  const representations = [...known, ...unknown].map(({ __typename, id }) => ({ __typename, id }));
  const { data, errors } = await ask(representations);
  expect(errors).toEqual([]);
  expect(data._entities).toEqual([...known, null, null, null]);
  expect(positions[0].id).toBe('700001001');
  expect(app.sandbox.calls('getOpenPositions')).toBe(1);
  expect(app.sandbox.calls('getSession')).toBe(1);
});

test('entities of another account are null, and those for a forged token are errors', async () => {
  const representations = [{ __typename: 'Position', id: '700001001' }];
  const other = app.sandbox.token({ email: 'pro@example.com' });
  expect((await ask(representations, other)).data).toEqual({ _entities: [null] });
  for (const token of [withClaims(other, { login: '700001' }), null]) {
    const { data, errors } = await ask(representations, token);
    expect(data).toEqual({ _entities: [null] });
    expect(errors).toMatchObject([
      { path: ['_entities', 0], extensions: { code: 'UNAUTHENTICATED' } },
    ]);
  }
});

test.each([
  [[{ __typename: 'Session', id: '700001' }]],
  [[{ __typename: 'toString', id: '1' }]],
  [[{ id: '1' }]],
  [[{ __typename: 'Order' }]],
  [[{ __typename: 'Order', id: 7 }]],
  [['Order']],
  [Array(501).fill({ __typename: 'Instrument', id: 'AAPL' })],
])('representations that are invalid or too many are refused: %o', async (representations) => {
  const { errors } = await ask(representations);
  const refusal = { code: 'BAD_USER_INPUT', argument: 'representations' };
  expect(errors[0]?.extensions).toMatchObject(refusal);
});

test('each of many entities that fail is null alone, and the process lives', async () => {
  const known = { __typename: 'Instrument', id: 'AAPL' };
  const { data, errors } = await ask([known, ...Array(300).fill(0), known]);
  const found = { ...known, name: 'Apple Inc.' };
  expect(data._entities).toEqual([found, ...Array(300).fill(null), found]);
  expect(errors).toHaveLength(300);
  const signedOut = await ask(Array(300).fill(known), null);
  expect(signedOut.data._entities).toEqual(Array(300).fill(null));
  // A rejection that nobody handles would have ended the process.
  await setImmediate();
  expect((await ask([known])).data._entities).toEqual([found]);
});

test('the cost of entities grows with the requested number', async () => {
  const positions =
    'positions { id symbol side units priceOpen priceCurrent profit invested digits leverage }';
  const document = `query ($representations: [_Any!]!) {
    _entities(representations: $representations) { ... on Instrument { id ${positions} } }
  }`;
  for (const count of [1, 3]) {
    const representations = Array(count).fill({ __typename: 'Instrument', id: 'AAPL' });
    const { data, errors, extensions } = await app.query(document, {
      token: app.sandbox.token(DEMO),
      variables: { representations },
    });
    expect(errors).toEqual([]);
    expect(data._entities).toHaveLength(count);
    expect(data._entities[0]).toMatchObject({ id: 'AAPL', positions: [{ symbol: 'AAPL' }] });
    // `_entities`, and for each entity `id`, `positions` and ten fields of an estimated five positions.
    expect(extensions).toMatchObject({ cost: 1 + count * (1 + 1 + 5 * 10) });
  }
});

test('without FEDERATION the schema lacks the subgraph fields', async () => {
  await using plain = await startTestApp();
  const { errors } = await plain.query('{ _service { sdl } }');
  expect(errors[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  const { data } = await plain.query('{ __schema { types { name } } }');
  expect(JSON.stringify(data)).not.toMatch(/_Any|_Entity|_Service/);
});
