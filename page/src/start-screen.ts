import { type App, ENDPOINT } from './app.ts';
import {
  NEXT_SCREEN,
  type ScreenData,
  START_SCREEN,
  WATCHED,
  type WatchedInstrument,
} from './documents.ts';
import { type MeasuredCall, type Network, Stopwatch } from './network.ts';

/** A call behind an answer of the graph, as the server reports it in sandbox mode. */
export interface Receipt {
  readonly operation: string;
  readonly ms: number;
  readonly source: 'call' | 'cache' | 'shared';
  /** How a call failed. */
  readonly outcome?: string;
}

export type Field = keyof ScreenData;

/** Why a field did not come. */
export class Failure extends Error {
  /** The call that failed; null where the graph's answer says it of the field alone. */
  readonly call: string | null;
  readonly reason: string;

  constructor(call: string | null, reason: string) {
    super(call === null ? reason : `${call} failed (${reason})`);
    this.call = call;
    this.reason = reason;
  }
}

/** One way to the start screen, as far as it has come. */
export interface Way {
  readonly calls: readonly MeasuredCall[];
  readonly data: Partial<ScreenData>;
  readonly missing: Partial<Record<Field, Failure>>;
  receipts: readonly Receipt[];
  /** How many instruments the catalog has, where it came whole. */
  catalogSize?: number;
}

/** When the last of the calls ended, in milliseconds. */
export function endOf(calls: readonly MeasuredCall[]): number {
  return Math.max(0, ...calls.map(({ endMs }) => endMs));
}

export interface Visit {
  readonly token: string;
  readonly network: Network;
  /** Whether what an earlier visit left may be used: the browser's HTTP cache over REST, the client's stored catalog over the graph. */
  readonly isNext: boolean;
}

type Show = (way: Way) => void;

const FIELDS: readonly Field[] = [
  ...(['session', 'positions', 'orders', 'watchList'] as const),
  ...(['withdrawalMethods', 'customerId'] as const),
];

/** The gateway's answers, as far as the screen shows them. */
type WireSession = Omit<NonNullable<ScreenData['session']>, 'fetchedAt'> & {
  readonly group: string;
  readonly orders: readonly (NonNullable<ScreenData['orders']>[number] & {
    readonly isLimit: boolean;
  })[];
};
interface WirePositions {
  readonly positions: readonly {
    readonly symbol: string;
    readonly profit: number;
    readonly friendlyName: string;
  }[];
}
type WireTickers = readonly {
  readonly _id: string;
  readonly friendlyName: string;
  readonly leverage: number;
}[];
type WireMethods = readonly NonNullable<ScreenData['withdrawalMethods']>[];

export function tickersPath(group: string): string {
  return `/sandbox/gateway/trading/tickers/${encodeURIComponent(group)}`;
}

/** As a front end without a server of its own does it: the catalog can be asked for when the session has named the group. */
export async function fetchFromGateway(
  app: App,
  { token, network, isNext }: Visit,
  show: Show,
): Promise<Way> {
  const stopwatch = new Stopwatch(app.fetch, network);
  const way: Way = { calls: stopwatch.calls, data: {}, missing: {}, receipts: [] };

  async function get<Wire, Value>(
    label: string,
    path: string,
    read: (body: Wire) => Value,
  ): Promise<Value> {
    const cache = isNext ? 'default' : 'reload';
    const call = await stopwatch.fetch(label, path, { headers: bearer(token), cache });
    if (call.problem !== null) throw new Failure(label, call.problem);
    try {
      return read(call.body as Wire);
    } catch {
      throw new Failure(label, 'not as expected');
    }
  }

  async function fill(fields: readonly Field[], coming: Promise<Partial<ScreenData>>) {
    try {
      Object.assign(way.data, await coming);
    } catch (error) {
      for (const field of fields) way.missing[field] = error as Failure;
    }
    show(way);
  }

  const session = get(
    'session',
    `/sandbox/gateway/trading/session/${loginOf(token)}`,
    ({ group, orders, ...figures }: WireSession) => ({
      group,
      session: { ...figures, fetchedAt: new Date().toISOString() },
      orders: orders.map((each) => ({ ...each, kind: each.isLimit ? 'LIMIT' : 'STOP' }) as const),
    }),
  );
  await Promise.all([
    fill(
      ['session', 'orders'],
      session.then(({ group: _group, ...parts }) => parts),
    ),
    fill(
      ['positions'],
      get('positions', '/sandbox/gateway/trading/positions', ({ positions }: WirePositions) => ({
        positions: positions.map(({ friendlyName: name, ...each }) => ({
          ...each,
          instrument: { name },
        })),
      })),
    ),
    fill(
      ['withdrawalMethods'],
      get(
        'withdrawal-methods',
        '/sandbox/gateway/payments/client/withdrawal-methods',
        (nested: WireMethods) => ({ withdrawalMethods: nested.flat() }),
      ),
    ),
    fill(
      ['customerId'],
      get(
        'customer-id',
        '/sandbox/gateway/payments/client/customer-id',
        ({ customerId }: Pick<ScreenData, 'customerId'>) => ({ customerId }),
      ),
    ),
    fill(
      ['watchList'],
      session.then(({ group }) =>
        get('tickers', tickersPath(group), (tickers: WireTickers) => {
          way.catalogSize = tickers.length;
          return { watchList: WATCHED.map((id) => watched(tickers, id)) };
        }),
      ),
    ),
  ]);
  return way;
}

function watched(tickers: WireTickers, id: string): WatchedInstrument | null {
  const row = tickers.find(({ _id }) => _id === id);
  return row ? { id, name: row.friendlyName, leverage: row.leverage } : null;
}

/** By one query. It is sent as it is, without the client, because the bytes and the receipts of the answer are shown. */
export async function fetchFromGraph(
  app: App,
  { token, network, isNext }: Visit,
  show: Show,
): Promise<Way> {
  const stopwatch = new Stopwatch(app.fetch, network);
  const way: Way = { calls: stopwatch.calls, data: {}, missing: {}, receipts: [] };
  const isStored = isNext && app.client.catalog.size > 0;

  async function readStored() {
    const reading = app.storedInstruments(loginOf(token), WATCHED);
    const watchList = await stopwatch
      .time('stored catalog', reading, { isLocal: true })
      .catch(() => null);
    if (watchList === null) way.missing.watchList = new Failure('stored catalog', 'not readable');
    else Object.assign(way.data, { watchList });
    show(way);
  }

  /** Resolves with whether the token was refused. */
  async function ask(bearerToken: string): Promise<boolean> {
    const init = {
      method: 'POST',
      headers: { ...bearer(bearerToken), 'content-type': 'application/json' },
      body: JSON.stringify({ query: isStored ? NEXT_SCREEN : START_SCREEN }),
    };
    const { body, problem } = await stopwatch.fetch('graphql', ENDPOINT, init, ofAnswer);
    const { data = null, errors = [], extensions } = (body ?? {}) as Answer;
    for (const field of FIELDS.filter((each) => !(isStored && each === 'watchList'))) {
      const value = data?.[field];
      const code = errors.find(({ path }) => path === undefined || path[0] === field)?.extensions
        .code;
      delete way.missing[field];
      if (value != null) Object.assign(way.data, { [field]: value });
      else
        way.missing[field] = new Failure(code ? null : 'the query', code ?? problem ?? 'no data');
    }
    way.receipts = extensions?.gateway ?? [];
    show(way);
    return errors.some((error) => error.extensions.code === 'UNAUTHENTICATED');
  }

  async function askWithToken() {
    if (!(await ask(token))) return;
    // As the client does it: another token, and the same once more.
    const renewing = app.session.token({ force: true });
    const renewed = await stopwatch.time('sign in', renewing).catch(() => null);
    if (renewed !== null) await ask(renewed);
  }

  await Promise.all([askWithToken(), isStored && readStored()]);
  return way;
}

interface Answer {
  readonly data?: ScreenData | null;
  readonly errors?: readonly {
    readonly path?: readonly string[];
    readonly extensions: { readonly code: string };
  }[];
  readonly extensions?: { readonly gateway?: readonly Receipt[] };
}

/** An answer with errors has a problem too, and may have brought something all the same. */
function ofAnswer(call: MeasuredCall): MeasuredCall {
  const { data, errors } = (call.body ?? {}) as Answer;
  if (errors === undefined) return call;
  const isPartial = Object.values(data ?? {}).some((value) => value !== null);
  return { ...call, isPartial, problem: isPartial ? 'in part' : 'failed' };
}

function bearer(token: string) {
  return { authorization: `Bearer ${token}` };
}

/** The token's own claim, which is all that a front end has before its first call. */
function loginOf(token: string): string {
  const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
  return String(JSON.parse(atob(payload)).login);
}
