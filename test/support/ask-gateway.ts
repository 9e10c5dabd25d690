import { firstCallOf } from '../../src/gateway/operation-traits.ts';
import { BEFORE_TOKEN, TOKEN_HEADER } from '../../src/gateway/operations/conventions.ts';
import { MARKET_ORDER } from '../../src/gateway/operations/open-position.ts';
import { SUBMITTED } from '../../src/gateway/operations/submitted.ts';
import { OPERATIONS, type OperationName } from '../../src/gateway/operations.ts';

/** What tests say to a gateway, and answer as one, by the names of the operations' tables. */

type Texts = Readonly<Record<string, string>>;

const OF_DEMO: Texts = {
  login: '700001',
  group: 'standard-usd',
  provider: 'mobile-wallet',
  key: 'key',
};

/** The path of an operation's first call; by default that of the sandbox's demo user. */
export function pathOf(name: OperationName, values: Texts = {}): string {
  const given = { ...OF_DEMO, ...values };
  const { path } = firstCallOf(OPERATIONS[name]);
  return path.replaceAll(/\{(\w+)\}/g, (_, key) => encodeURIComponent(given[key] ?? ''));
}

interface Asked {
  readonly token: string | null;
  readonly body?: unknown;
  /** The values of the path. */
  readonly path?: Texts | undefined;
}

/** Sends an operation's first call; by default with an empty body if it has one. */
export function askGateway(
  url: string,
  name: OperationName,
  { token, body = {}, path }: Asked,
): Promise<Response> {
  const { method } = firstCallOf(OPERATIONS[name]);
  return fetch(url + pathOf(name, path), {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token !== null && { [TOKEN_HEADER]: BEFORE_TOKEN + token }),
    },
    ...(method !== 'GET' && { body: JSON.stringify(body) }),
  });
}

export type OrderChange = Partial<Parameters<typeof MARKET_ORDER.toWire>[0]>;

/** The body of op 4 for one share, with changes by the table's names. */
export function orderBody(change: OrderChange = {}) {
  const order = { symbol: 'AAPL', direction: 'buy', type: 'unit', amount: 1 } as const;
  return MARKET_ORDER.toWire({ ...order, ...change });
}

/** The answer to an order that is accepted. */
export function accepted(orderId = '1') {
  return SUBMITTED.toWire({ success: true, orderId, error: '', message: '' });
}

/** A JSON text with the wire's names in place of a table's. */
export function onWire(
  { names }: { readonly names: Readonly<Record<string, string>> },
  json: string,
): string {
  return json.replaceAll(/"(\w+)":/g, (whole, name) => (names[name] ? `"${names[name]}":` : whole));
}
