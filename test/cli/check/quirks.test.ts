import { expect, test } from 'vitest';
import { type Change, startHeldGateway } from '../../support/held-gateway.ts';
import { check, DEMO, startGateway, type Variables } from './run-check.ts';

type Row = Readonly<Record<string, unknown>>;

const isPrice = (name: string) => /^(price|profit|equity)/.test(name);
/** Changes only successful answers of op 12. */
const ofPositions =
  (change: (body: { readonly positions: readonly Row[] }) => unknown): Change =>
  (body: Row, url, status) =>
    status === 200 && url.endsWith('/trading/positions') ? change(body as never) : body;

/** A difference of a gateway from the interface that the service expects, and what the check reports. */
interface Quirk {
  readonly change?: Change;
  readonly settings?: Variables;
  readonly exitCode: 0 | 1;
  readonly reports: readonly RegExp[];
}

const QUIRKS: Readonly<Record<string, Quirk>> = {
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
      JSON.parse(JSON.stringify(body, (name, value) => (isPrice(name) ? String(value) : value))),
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

test.each(Object.entries(QUIRKS))('the check reports the effect of %s', async (_, quirk) => {
  const { change, settings, exitCode, reports } = quirk;
  await using gateway = await startGateway();
  await using front = await startHeldGateway(gateway);
  if (change !== undefined) front.change(change);
  const { code, text } = await check({ GATEWAY_URL: front.url, ...DEMO, ...settings });
  for (const report of reports) expect(text).toMatch(report);
  expect(code).toBe(exitCode);
});
