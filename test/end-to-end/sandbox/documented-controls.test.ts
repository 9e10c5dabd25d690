import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buying } from '../../support/buying.ts';
import { sharedApp } from '../../support/shared-app.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/sandbox.md'), 'utf8');

// Bodies for the controls that need one.
const BODIES = new Map([
  ['POST /sandbox/faults', { operation: 'getCustomerId', kind: 'status', times: 9 }],
  ['POST /sandbox/market', { symbol: 'AAPL', price: 150 }],
  ['POST /sandbox/token', { email: 'demo@example.com', expiresInSeconds: 5 }],
]);

/** The table's rows: each control, and the format of its answer. */
const ROWS = [...PAGE.matchAll(/^\| `((?:GET|POST|DELETE) \S+)` \|.*\| `(\{.*\})` \|$/gm)].map(
  ([, control = '', shape = '']) => ({ control, shape }),
);

const app = sharedApp();
let token: string;

beforeAll(async () => {
  token = await app.signIn();
  const { data } = await app.query(buying('documented', '__typename'), { token });
  expect(data.placeOrder.__typename).toBe('OrderAccepted');
});

test('the page lists the controls', () => {
  expect(ROWS.length).toBe(7);
});

test.each(ROWS)('$control on the public port answers as documented', async ({ control, shape }) => {
  const [method = '', path] = control.split(' ');
  const body = BODIES.get(control);
  // The control of an earlier test can have reset the counts, so each test makes a call to be counted.
  await app.query('{ __typename customerId }', { token });
  const response = await fetch(`${app.url}${path}`, {
    method,
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
  expect(shapeOf(await response.json())).toBe(shape);
});

/** The format of an answer as the page writes it. */
function shapeOf(value: unknown): string {
  const fields = Object.keys(Object(value)).map((name) => {
    if (name === 'operations') return `${name}: { name: count }`;
    if (name === 'logins') return `${name}: { login: { name: count } }`;
    return name;
  });
  return `{ ${fields.join(', ')} }`;
}
