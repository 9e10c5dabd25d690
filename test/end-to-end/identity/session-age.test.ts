import { describe, expect, test } from 'vitest';
import { sharedApp } from '../../support/shared-app.ts';

/** Fields before and after the session that decide which executor runs: a document is compiled at its second run. */
const EXECUTIONS = {
  'by the reference executor': { before: '', after: '__typename', runs: 1 },
  'by compiled code': { before: 'customerId', after: '', runs: 3 },
};

/** The parts of a document with a session. */
type SessionQuery = readonly [
  fields: string,
  definitions?: string,
  variables?: Readonly<Record<string, unknown>>,
  fragments?: string,
];

/** A maximum age of 0 in each place. The names complete "an age …". */
const FRESH: Readonly<Record<string, SessionQuery>> = {
  'last of several': ['strict: session(maxAge: 0) { fetchedAt }'],
  'of the orders': ['orders(maxAge: 0) { id }'],
  'in a fragment': [
    '...Strict',
    '',
    {},
    'fragment Strict on Query { ... { strict: session(maxAge: 0) { fetchedAt } } }',
  ],
  'of a variable': [
    'strict: session(maxAge: $age) { fetchedAt } old: session(maxAge: 60) { login }',
    '($age: Int)',
    { age: 0 },
  ],
  'of a variable’s default': ['strict: session(maxAge: $age) { fetchedAt }', '($age: Int = 0)'],
  'that is included': [
    '... @include(if: $on) { strict: session(maxAge: 0) @skip(if: $off) { fetchedAt } }',
    '($on: Boolean!, $off: Boolean = false)',
    { on: true },
  ],
  'next to a negative one': [
    'wrong: session(maxAge: -1) { login } strict: session(maxAge: 0) { fetchedAt }',
  ],
};

const CACHED: Readonly<Record<string, SessionQuery>> = {
  'of null': ['strict: session(maxAge: null) { fetchedAt }'],
  'of a variable that is left out': ['strict: session(maxAge: $age) { fetchedAt }', '($age: Int)'],
  'that is not included': [
    '... @include(if: $on) { strict: session(maxAge: 0) { fetchedAt } }',
    '($on: Boolean!)',
    { on: false },
  ],
  'that is skipped': ['strict: session(maxAge: 0) @skip(if: true) { fetchedAt }'],
  'that is negative alone': ['wrong: session(maxAge: -1) { login }'],
  'of half a minute with a younger snapshot': ['strict: session(maxAge: 30) { fetchedAt }'],
};

const app = sharedApp({ RATE_LIMIT_PER_MINUTE: '100000' });

describe.each(Object.entries(EXECUTIONS))('executed %s', (_name, { before, after, runs }) => {
  test.each([
    ['of 0 forces a fresh session for every field', FRESH, 1],
    ['that is missing, not selected or not exceeded forces nothing', CACHED, 0],
  ])('an age %s', async (_what, cases, calls) => {
    const token = app.sandbox.token({ email: 'demo@example.com' });
    await app.query('{ session { login } }', { token });
    for (const [name, query] of Object.entries(cases)) {
      const [fields, definitions = '', variables = {}, fragments = ''] = query;
      const text = `query Asked${definitions} { loose: session { fetchedAt } ${before} ${after} ${fields} } ${fragments}`;
      for (let run = 0; run < runs; run += 1) {
        app.sandbox.clearCalls();
        const { data } = await app.query(text, { token, variables });
        if (data.strict) expect(data.strict).toEqual(data.loose);
        expect(app.sandbox.calls('getSession'), name).toBe(calls);
      }
    }
  });
});
