import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { withClaims } from '../../support/tokens.ts';
import { codesOf } from '../limits/every-transport.ts';

const DOCUMENT = `query First($n: Int = 2) { instruments(first: $n) { nodes { id access } } catalog { group } }
query Second($n: Int = 2) { instruments(last: $n) { nodes { id access } } catalog { group } }`;

let app: TestApp;
let token: string;

interface Question {
  readonly operationName?: string;
  readonly variables?: object;
  readonly method?: 'GET' | 'POST';
  readonly ifNoneMatch?: string;
}

async function ask(from: string, question: Question) {
  const { operationName = 'First', variables = {}, method = 'GET' } = question;
  const params = { query: DOCUMENT, operationName, variables: JSON.stringify(variables) };
  const search = method === 'GET' ? `?${new URLSearchParams(params)}` : '';
  const response = await fetch(`${app.url}/graphql${search}`, {
    method,
    headers: {
      authorization: `Bearer ${from}`,
      accept: 'application/json',
      'content-type': 'application/json',
      ...(question.ifNoneMatch && { 'if-none-match': question.ifNoneMatch }),
    },
    ...(method === 'POST' && { body: JSON.stringify({ ...params, variables }) }),
  });
  const text = await response.text();
  const { data, errors } = text === '' ? {} : JSON.parse(text);
  return { status: response.status, etag: response.headers.get('etag'), data, errors };
}

describe.each([
  ['the direct path', true],
  ['yoga', false],
])('by %s', (_path, directPath) => {
  beforeAll(async () => {
    app = await startTestApp({}, { directPath });
    token = await app.signIn();
    // Caches the bytes for the group of this token.
    for (const operationName of ['First', 'Second']) {
      for (let i = 0; i < 2; i += 1) await ask(token, { operationName });
    }
  });
  afterAll(() => app.close());

  describe.each(['GET', 'POST'] as const)('cached bytes, requested by %s,', (method) => {
    test('are not sent for an unproved token, even with their ETag', async () => {
      const { etag } = await ask(token, {});
      const forged = withClaims(token, { exp: 9_999_999_999 });
      const ifNoneMatch = `${etag}, *`;
      const answer = await ask(forged, { method, ifNoneMatch });
      expect(answer).toMatchObject({ status: 200, etag: null, data: { instruments: null } });
      expect(codesOf(answer)).toContain('UNAUTHENTICATED');
    });

    test('are not sent to another group, also not to one that claims theirs', async () => {
      const pro = app.sandbox.token({ email: 'pro@example.com' });
      const claiming = app.sandbox.token({ email: 'pro@example.com', group: 'standard-usd' });
      for (const theirs of [pro, claiming]) {
        const { data, errors } = await ask(theirs, { method });
        expect(data.catalog?.group ?? null).not.toBe('standard-usd');
        if (data.catalog === null) expect(errors[0].extensions.code).toBe('FORBIDDEN');
      }
    });

    test('are not sent for a token whose proof has ended', async () => {
      const ended = await app.signIn();
      expect((await ask(ended, { method })).data.instruments.nodes).toHaveLength(2);
      app.sandbox.revoke({ token: ended });
      // The next call of the gateway reveals the revocation.
      await app.query('{ customerId }', { token: ended });
      const answer = await ask(ended, { method });
      expect(answer.data).toEqual({ instruments: null, catalog: null });
      expect(codesOf(answer)).toContain('UNAUTHENTICATED');
    });

    test('are those of this operation and these variables', async () => {
      const first = await ask(token, { method });
      const second = await ask(token, { method, operationName: 'Second' });
      expect(second.data.instruments).not.toEqual(first.data.instruments);
      for (const n of [0, 1, 3]) {
        const { data } = await ask(token, { method, variables: { n } });
        expect(data.instruments.nodes).toHaveLength(n);
      }
      const wrong = await ask(token, { method, variables: { n: '2' } });
      expect(wrong.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    });
  });

  test('an answer that the client has is not sent again, though it was not in memory', async () => {
    const variables = { n: 7 };
    const held = await ask(token, { variables, ifNoneMatch: '*' });
    expect(held).toMatchObject({ status: 304, etag: expect.any(String), data: undefined });
    const posted = await ask(token, { variables, method: 'POST', ifNoneMatch: '*' });
    expect(posted.status).toBe(200);
    expect(posted.data.instruments.nodes).toHaveLength(7);
  });

  test('undeclared variables share the cached answer', async () => {
    const { etag } = await ask(token, { variables: { n: 2 } });
    for (const variables of [{}, { n: 2, unknown: 'x'.repeat(1_000) }]) {
      expect(await ask(token, { variables })).toMatchObject({ etag });
    }
  });
});
