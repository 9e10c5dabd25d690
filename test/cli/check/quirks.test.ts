import { expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { type Change, startHeldGateway } from '../../support/held-gateway.ts';
import { check, DEMO, startGateway, type Variables } from './run-check.ts';

type Row = Readonly<Record<string, unknown>>;

/** The same JSON with each property replaced by the properties that `change` returns, at any depth. */
function changed(
  json: unknown,
  change: (name: string, value: unknown) => [string, unknown][],
): unknown {
  if (Array.isArray(json)) return json.map((each) => changed(each, change));
  if (typeof json !== 'object' || json === null) return json;
  const entries = Object.entries(json).flatMap(([name, value]) => change(name, value));
  return Object.fromEntries(entries.map(([name, value]) => [name, changed(value, change)]));
}

const renamed =
  (names: Readonly<Record<string, string>>): Change =>
  (body) =>
    changed(body, (name, value) => [[names[name] ?? name, value]]);

const isPrice = (name: string) => /^(price|profit|equity)/.test(name);
/** Changes only successful answers of op 12. */
const ofPositions =
  (change: (body: { readonly positions: readonly Row[] }) => unknown): Change =>
  (body: Row, url, status) =>
    status === 200 && url.endsWith('/trading/positions') ? change(body as never) : body;

/** A difference of a gateway from the interface, and what the check reports. */
interface Quirk {
  readonly change?: Change;
  readonly fault?: Fault;
  readonly settings?: Variables;
  readonly exitCode: 0 | 1;
  readonly reports: readonly RegExp[];
}

const QUIRKS: Readonly<Record<string, Quirk>> = {
  'other names': {
    change: renamed({ priceCurrent: 'current_price', profit: 'pnl', equity: 'accountEquity' }),
    exitCode: 1,
    reports: [
      /op 12: Each of positions\[\] lacks priceCurrent, profit; they will be null\. .*src\/gateway\/operations/,
      /op 12: Not in the interface, and not read: .*positions\[\]\.current_price \(number\)/,
      /op 10: The answer lacks equity; they will be null/,
    ],
  },
  pages: {
    change: ofPositions(({ positions }) => ({
      positions: positions.slice(0, 1),
      total: positions.length,
    })),
    exitCode: 0,
    reports: [/op 12: Is the answer one page of several \(total\)\? .*docs\/your-own\.md/],
  },
  'numbers as strings': {
    change: (body) =>
      changed(body, (name, value) => [[name, isPrice(name) ? String(value) : value]]),
    exitCode: 0,
    reports: [/op 12 .* 25 of 25 fields as described/],
  },
  'a wrapper': {
    change: (body, _url, status) => (status === 200 ? { data: body } : body),
    exitCode: 1,
    reports: [
      /op 2: The answer lacks access_token, refresh_token, passkey; the whole answer cannot be used/,
      /op 2: Not in the interface, and not read: data \(object\)\./,
    ],
  },
  '429 with Retry-After': {
    fault: {
      operation: 'getCustomerId',
      kind: 'status',
      status: 429,
      headers: { 'retry-after': '7' },
    },
    exitCode: 1,
    reports: [/op 13: Status 429: too many calls for now; check again in 7 s/],
  },
  'empty lists': {
    settings: { CHECK_EMAIL: 'fresh@example.com' },
    exitCode: 0,
    reports: [
      /op 12: Empty: positions\. .*check with an account that has some\./,
      /op 12 .* 2 of 2 fields as described/,
    ],
  },
  'more fields, whose names may be data': {
    change: (body: Row) =>
      'customerId' in body
        ? { ...body, region: 'eu', 'somebody@example.com': 1, '700001': 1, 'two words': 1 }
        : body,
    exitCode: 0,
    reports: [/op 13: Not in the interface, and not read: \[…\] \(number\), region \(string\)\./],
  },
};

test.each(Object.entries(QUIRKS))(
  'the check reports what is lost because of %s',
  async (_, quirk) => {
    const { change, fault, settings, exitCode, reports } = quirk;
    await using gateway = await startGateway();
    await using front = await startHeldGateway(gateway);
    if (change !== undefined) front.change(change);
    if (fault !== undefined) gateway.fail(fault);
    // A fault may need its headers, which the front proxy does not forward.
    const { url } = fault === undefined ? front : gateway;
    const { code, text } = await check({ GATEWAY_URL: url, ...DEMO, ...settings });
    for (const report of reports) expect(text).toMatch(report);
    expect(code).toBe(exitCode);
  },
);
