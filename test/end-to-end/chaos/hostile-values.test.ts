import { beforeAll, describe, expect, test } from 'vitest';
import { rawPost } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { unsignedToken } from '../../support/tokens.ts';

const app = sharedApp();
let token: string;
beforeAll(() => {
  token = app.sandbox.token({ email: 'demo@example.com' });
});

/** Sends the variables as text, because JSON can express what an object of JavaScript cannot. */
async function send(query: string, variables = '{}') {
  const body = `{"query":${JSON.stringify(query)},"variables":${variables}}`;
  const { text } = await rawPost(`${app.url}/graphql`, body, { authorization: `Bearer ${token}` });
  return { text, ...JSON.parse(text) };
}

describe('names of Object.prototype', () => {
  test('are valid variables, aliases, operations and fragments', async () => {
    const byName = 'query ($__proto__: ID!) { instrument(id: $__proto__) { id } }';
    expect((await send(byName, '{"__proto__":"AAPL"}')).data).toEqual({
      instrument: { id: 'AAPL' },
    });
    const missing = await send(byName.replaceAll('__proto__', 'constructor'));
    expect(missing.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    const { text } = await send(
      'query toString { __proto__: __typename constructor: __typename ...hasOwnProperty } fragment hasOwnProperty on Query { valueOf: __typename }',
    );
    expect(text).toContain('"data":{"__proto__":"Query","constructor":"Query","valueOf":"Query"}');
  });

  test('find no instrument, position, order, operation or document', async () => {
    const { data } = await send(
      '{ a: instrument(id: "__proto__") { id } b: position(id: "constructor") { id } c: order(id: "toString") { id } }',
    );
    expect(data).toEqual({ a: null, b: null, c: null });
    for (const documentId of ['__proto__', 'constructor']) {
      const answer = await rawPost(`${app.url}/graphql`, JSON.stringify({ documentId }));
      expect(answer.text).toContain('PERSISTED_DOCUMENT_NOT_FOUND');
    }
  });

  test('reach the gateway as plain values, without prototype pollution', async () => {
    app.sandbox.clearCalls();
    const value = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const { data } = await send(
      'mutation ($v: JSON) { setValue(input: { key: "k", value: $v }) { __typename } }',
      `{"v":${value}}`,
    );
    expect(data.setValue.__typename).toBe('Acknowledged');
    expect(String(app.sandbox.requests('setValue')[0]?.body)).toContain(value);
    expect('polluted' in {}).toBe(false);
    const login = await send(
      'mutation ($i: LoginInput!) { login(input: $i) { __typename } }',
      '{"i":{"__proto__":{"email":"demo@example.com","password":"demo"}}}',
    );
    expect(login.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });
});

test('idempotency keys are equal only where their code points are', async () => {
  const place = async (key: string) => {
    const { data, errors } = await send(
      `mutation ($key: String!) { placeOrder(input: {
        symbol: "AAPL", side: BUY, size: { amount: 20 }, idempotencyKey: $key
      }) { ... on OrderOutcome { idempotencyKey replayed } } }`,
      JSON.stringify({ key }),
    );
    return errors?.[0].extensions.code ?? data.placeOrder;
  };
  const keys = [
    'caf\u00e9',
    'cafe\u0301',
    'K',
    '\u212a',
    'k',
    'fi',
    '\ufb01',
    'a',
    'a ',
    'a\u200b',
    'a\u0000',
    '__proto__',
    'a:b',
    'a\nb',
    '\u202ea',
    '\u{1f600}'.repeat(255),
  ];
  for (const key of keys) {
    expect(await place(key)).toEqual({ idempotencyKey: key, replayed: false });
  }
  for (const key of keys) {
    expect(await place(key)).toEqual({ idempotencyKey: key, replayed: true });
  }
  for (const key of ['', '\ud800', 'a\udc00', 'x'.repeat(256)]) {
    expect(await place(key)).toBe('BAD_USER_INPUT');
  }
});

describe('a group that a token claims', () => {
  test.each([
    'a/../../b',
    'a\r\nx: y',
    'a/b',
    '%2e%2e%2f',
    '?x=1',
    '#x',
    'a b',
    '{"group":"standard-usd"}',
    'standard-usd ',
  ])('is one path segment, and opens no other group’s catalog: %j', async (group) => {
    await app.query('{ catalog { size } }', { token });
    app.sandbox.clearCalls();
    const forged = unsignedToken({ login: 700_001, group, exp: 4_000_000_000 });
    const { data, errors } = await app.query('{ catalog { size } }', { token: forged });
    expect(data).toEqual({ catalog: null });
    expect(errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    for (const { path } of app.sandbox.requests()) {
      expect(path).toMatch(/^\/trading\/(tickers|session)\/[^/?#]+$/);
    }
  });
});
