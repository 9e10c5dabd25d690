import { describe, expect, test } from 'vitest';
import { addressClient } from '../../src/lib/limits/client.ts';
import { toToken } from '../../src/lib/token.ts';
import { COSTLY_FIELDS } from '../../src/plugins/cost/meter.ts';
import { FollowedEvents } from '../../src/plugins/live/delivery.ts';
import { createTestLimiter, limited } from '../support/limits.ts';
import { client, smallGraph } from '../support/small-graph.ts';

const ONE = { status: 200, codes: [] };

describe('what is not parsed, valid or allowed is refused', () => {
  test.each([
    ['no object', [], 400, 'GRAPHQL_PARSE_FAILED', false],
    ['no such document', { documentId: 'x' }, 400, 'PERSISTED_DOCUMENT_NOT_FOUND', true],
    ['a field of the wrong name', { query: '{ nope }' }, 400, 'GRAPHQL_VALIDATION_FAILED', true],
  ])('%s', async (_what, sent, status, code, isWellFormed) => {
    const { run, counted } = smallGraph();
    const { refusal } = await run(sent);
    expect(refusal).toMatchObject({ status, isWellFormed });
    expect(refusal?.errors.map(({ extensions }) => extensions.code)).toEqual([code]);
    expect(counted).toContain(code);
  });

  const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]));
  test.each([
    ['as deep as they may be', nested(101), 200],
    ['deeper by one', nested(102), 400],
    ['of as many keys as they may have', keys(10_000), 200],
    ['of one key more', keys(10_001), 400],
    ['of as many keys over all their objects', { a: [keys(5_000), keys(4_999)] }, 200],
    ['of one key more over all', { a: [keys(5_000), keys(5_000)] }, 400],
    ['with a list of any length', { a: Array.from({ length: 20_000 }, () => 1) }, 200],
  ])('variables %s', async (_what, variables, status) => {
    expect((await smallGraph().codes({ query: '{ one }', variables })).status).toBe(status);
  });

  test('a variable names its argument and quotes no value', async () => {
    const { refusal } = await smallGraph().run({
      query: 'query($n: Int!) { numbers(first: $n) { n } }',
      variables: { n: 'a secret' },
    });
    expect(refusal?.errors[0]?.extensions).toMatchObject({ argument: 'first' });
    expect(JSON.stringify(refusal)).not.toContain('secret');
  });

  test('a null in place of the one member of an input is named', async () => {
    const query = 'query($size: Size) { sized(size: $size) }';
    const { codes, run } = smallGraph();
    expect(await codes({ query, variables: { size: { units: 1 } } })).toEqual(ONE);
    const messageOf = async (size: object) => {
      const { refusal } = await run({ query, variables: { size } });
      return refusal?.errors[0]?.message;
    };
    expect(await messageOf({ units: null })).toContain('must not be null: leave it out');
    expect(await messageOf({ units: 1, lots: 2 })).toContain('exactly one field');
    // As the default of a variable that no argument takes, it is named by the variable.
    const { refusal } = await run('query($mine: Size = { units: null }) { one }');
    expect(refusal?.errors[0]?.extensions).toMatchObject({ argument: 'mine.units' });
  });

  test('a mutation and a subscription where the transport takes none', async () => {
    const { run, codes } = smallGraph();
    expect(await codes('mutation { write }')).toEqual(ONE);
    const { refusal } = await run('mutation { write }', { mayMutate: false });
    expect(refusal).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    expect(await codes('{ one }', { mayMutate: false, takesEvents: false })).toEqual(ONE);
    expect(await codes('subscription { tick }', { takesEvents: false })).toEqual({
      status: 406,
      codes: ['GRAPHQL_PARSE_FAILED'],
    });
  });
});

describe('a client', () => {
  test('may start so many operations in a minute, refused ones included', async () => {
    const limiter = createTestLimiter(limited('requests', 3));
    const { contextFor, graph, codes } = smallGraph({ limiter });
    const context = contextFor('{ one }');
    await graph.open(context);
    expect(context.operation.headers).toEqual({
      ratelimit: '"default";r=2;t=20',
      'ratelimit-policy': '"default";q=3;w=60',
    });
    await codes('{ nope }');
    expect(await codes('{ one }')).toEqual(ONE);
    const over = contextFor({});
    expect(await graph.open(over)).toMatchObject({ status: 429, headers: { 'retry-after': '20' } });
    expect(over.operation.headers.ratelimit).toBe('"default";r=0;t=20');
  });

  test('that is proved meanwhile takes over what was counted for its address', async () => {
    const limiter = createTestLimiter();
    const address = addressClient('192.0.2.1');
    let current = address;
    const { contextFor, graph } = smallGraph({ limiter, clientNow: () => current });
    const opened = await graph.open(contextFor('{ one }'));
    if ('errors' in opened) throw opened.errors[0];
    current = client;
    await opened.execute();
    expect(limiter.take('requests', address, 0).left).toBe(1_200);
    expect(limiter.take('requests', client, 0).left).toBe(1_199);
    expect(limiter.take('fields', client, 0).left).toBe(4_999_999);
  });

  test('is charged the fields of its answers, and refused beyond its budget', async () => {
    const limiter = createTestLimiter(limited('fields', 10));
    const { codes } = smallGraph({ limiter });
    expect(await codes('{ numbers(first: 20) { n } }')).toEqual(ONE);
    expect(await codes('{ one }')).toEqual({ status: 429, codes: ['RATE_LIMITED'] });
  });

  test('gets costly answers that were admitted before its budget was used up no longer', async () => {
    const limiter = createTestLimiter(limited('fields', 10));
    const { contextFor, graph } = smallGraph({ limiter }, COSTLY_FIELDS);
    const [first, second, cheap] = await Promise.all(
      ['{ all { n } }', '{ all { n } }', '{ one }'].map((text) => graph.open(contextFor(text))),
    );
    if (!first || !second || !cheap) throw new Error('three were sent');
    if ('errors' in first || 'errors' in second || 'errors' in cheap) throw new Error('refused');
    expect(await first.execute()).not.toHaveProperty('errors');
    expect(await second.execute()).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMITED' } }],
    });
    expect(await cheap.execute()).toEqual({ data: { one: 1 } });
  });

  test('is refused what could exceed the budget of one answer, to the field', async () => {
    expect(await smallGraph({ maxCost: 11 }, 10).codes('{ all { n } }')).toEqual(ONE);
    const { refusal } = await smallGraph({ maxCost: 10 }, 10).run('{ all { n } }');
    expect(refusal?.errors[0]?.extensions).toMatchObject({
      code: 'QUERY_TOO_COMPLEX',
      limit: 'MAX_COST',
      value: 11,
      maximum: 10,
    });
  });

  test('has so many subscriptions at a time, however many were admitted at once', async () => {
    const limiter = createTestLimiter(limited('subscriptions', 1));
    const { contextFor, graph, run, codes } = smallGraph({ limiter });
    const [first, second] = await Promise.all(
      ['a', 'b'].map((name) => graph.open(contextFor(`subscription ${name} { tick }`))),
    );
    if (!first || !second || 'errors' in first || 'errors' in second) throw new Error('refused');
    const events = (await first.execute()) as FollowedEvents;
    expect(await second.execute()).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMITED' } }],
    });
    expect(await codes('{ one }')).toEqual(ONE);
    expect((await codes('subscription { tick }')).codes).toEqual(['RATE_LIMITED']);
    await events.leave();
    expect((await run('subscription { tick }')).result).toBeInstanceOf(FollowedEvents);
  });

  test('that leaves gives its slot back, and so does a subscription that cannot start', async () => {
    const limiter = createTestLimiter(limited('subscriptions', 1));
    const { run, codes } = smallGraph({ limiter });
    const leaving = new AbortController();
    await run('subscription { tick }', {}, { signal: leaving.signal });
    expect((await codes('subscription { tick }')).codes).toEqual(['RATE_LIMITED']);
    leaving.abort();
    expect(await codes('subscription { broken }')).toEqual({ status: 200, codes: ['INTERNAL'] });
    expect((await run('subscription { tick }')).result).toBeInstanceOf(FollowedEvents);
  });
});

describe('an address that is over its limit', () => {
  const LOGIN = '\n mutation { login (input: 1) }';
  const over = (isKnown = false) => {
    const limiter = createTestLimiter({ ...limited('requests', 1), ...limited('reserve', 2) });
    const address = addressClient('192.0.2.1');
    limiter.take('requests', address);
    return smallGraph({ limiter, clientNow: () => address, isKnown });
  };
  const LIMITED = { status: 429, codes: ['RATE_LIMITED'] };
  // The small graph has no such field: it got as far as the document.
  const PASSED = { status: 400, codes: ['GRAPHQL_VALIDATION_FAILED'] };

  test('may still sign in, so many times', async () => {
    const { codes } = over();
    expect(await codes('{ one }')).toEqual(LIMITED);
    expect(await codes(LOGIN)).toEqual(PASSED);
    expect(await codes(LOGIN)).toEqual(PASSED);
    expect(await codes(LOGIN)).toEqual(LIMITED);
  });

  test.each([
    ['a read of a login', '{ session { login } }', {}],
    ['a sign-in by GET', LOGIN, { mayMutate: false }],
  ])('is refused %s, which takes none of that', async (_what, text, transport) => {
    const { codes } = over();
    for (let at = 0; at < 3; at += 1) expect(await codes(text, transport)).toEqual(LIMITED);
    expect(await codes(LOGIN)).toEqual(PASSED);
  });

  test('has a known token that proves itself, a few times', async () => {
    const { codes } = over(true);
    const known = { token: toToken('known') };
    expect(await codes('{ one }', {}, known)).toEqual(ONE);
    expect(await codes('{ one }', {}, known)).toEqual(ONE);
    expect(await codes('{ one }', {}, known)).toEqual(LIMITED);
    // It takes none of the sign-ins' share.
    expect(await codes(LOGIN)).toEqual(PASSED);
  });

  test('is over by the fields of answers as well', async () => {
    const limiter = createTestLimiter(limited('fields', 1));
    const address = addressClient('192.0.2.1');
    limiter.spend('fields', address, 2);
    const { codes } = smallGraph({ limiter, clientNow: () => address });
    expect(await codes('{ one }')).toEqual(LIMITED);
    expect(await codes(LOGIN)).toEqual(PASSED);
  });
});

describe('while memory is short', () => {
  const short = (length?: number) => smallGraph({ isMemoryShort: () => true }, length);

  test('cheap queries and writes are answered', async () => {
    expect(await short().codes('{ one }')).toEqual(ONE);
    expect(await short(999).codes('{ all { n } }')).toEqual(ONE);
    expect(await short().codes('mutation { write }')).toEqual(ONE);
  });

  test.each(['{ all { n } }', 'subscription { tick }'])('others are refused: %s', async (text) => {
    const { refusal } = await short(1_000).run(text);
    expect(refusal).toMatchObject({ status: 503, headers: { 'retry-after': '10' } });
    expect(await smallGraph().codes(text)).toEqual(ONE);
  });
});
