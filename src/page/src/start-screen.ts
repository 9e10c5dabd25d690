import type { AccountState } from '../../../client/src/live/states.ts';
import { type AnswerSoFar, PARTS } from '../../../client/src/request/answer-parts.ts';
import { type App, ENDPOINT } from './app.ts';
import { type ScreenData, type ScreenRow, START_SCREEN, WATCHED } from './documents.ts';
import { type MeasuredCall, pause, Stopwatch } from './network.ts';

export type Field = keyof ScreenData;

/** Why a field is missing. */
export interface Failure {
  /** The call that failed; null if the graph's answer has an error for the field. */
  readonly call: string | null;
  readonly reason: string | null;
}

/** One way of loading the start screen, with the data so far. */
export interface Way {
  readonly calls: readonly MeasuredCall[];
  readonly data: Partial<ScreenData>;
  readonly missing: Partial<Record<Field, Failure>>;
  readonly startedAt: Date;
  /** When the gateway gave the positions, if they are older than the answer. */
  positionsAsOf?: Date | null;
}

/** When the last of the calls ended, in milliseconds. */
export function endOf(calls: readonly MeasuredCall[] = []): number {
  return Math.max(0, ...calls.map(({ endMs }) => endMs));
}

type Show = (way: Way) => void;

export const GATEWAY = 'sandbox/gateway';
const FIELDS = [
  'session',
  'positions',
  'orders',
  'watchList',
  'withdrawalMethods',
  'customerId',
] as const satisfies readonly Field[];

/** The shown properties of the gateway's rows. */
type WireRow = Omit<ScreenRow, 'name'> & { readonly friendlyName: string };
type WireSession = NonNullable<ScreenData['session']> & {
  readonly group: string;
  readonly orders: readonly WireRow[];
};
type WireTicker = WireRow & { readonly _id: string };

/** Loads the screen like an app that calls the gateway itself. The catalog is requested after the session names the group. */
export async function fetchFromGateway(app: App, token: string, show: Show): Promise<Way> {
  const stopwatch = new Stopwatch();
  const way: Way = { calls: stopwatch.calls, data: {}, missing: {}, startedAt: new Date() };

  /** Null if the call failed; its fields are then missing. */
  async function fill<Body>(
    label: string,
    path: string,
    fields: readonly Field[],
    read: (body: Body) => Partial<ScreenData>,
  ): Promise<Body | null> {
    let { body, problem } = await sendWithRetry(app, token, (bearerToken) =>
      stopwatch.fetch(label, GATEWAY + path, { headers: bearer(bearerToken) }),
    );
    try {
      if (problem === null) Object.assign(way.data, read(body as Body));
    } catch {
      problem = 'not as expected';
    }
    if (problem !== null) {
      for (const field of fields) way.missing[field] = { call: label, reason: problem };
    }
    show(way);
    return problem === null ? (body as Body) : null;
  }

  const session = fill(
    'session',
    `/trading/session/${loginOf(token)}`,
    ['session', 'orders', 'watchList'],
    ({ orders, ...figures }: WireSession) => ({
      session: { ...figures, fetchedAt: new Date().toISOString() },
      orders: orders.map(named),
    }),
  );
  await Promise.all([
    fill(
      'positions',
      '/trading/positions',
      ['positions'],
      (body: { readonly positions: readonly WireRow[] }) => ({
        positions: body.positions.map(named),
      }),
    ),
    fill(
      'withdrawal-methods',
      '/payments/client/withdrawal-methods',
      ['withdrawalMethods'],
      (lists: readonly NonNullable<ScreenData['withdrawalMethods']>[]) => ({
        withdrawalMethods: lists.flat(),
      }),
    ),
    fill(
      'customer-id',
      '/payments/client/customer-id',
      ['customerId'],
      ({ customerId }: Pick<ScreenData, 'customerId'>) => ({ customerId }),
    ),
    session.then(
      (found) =>
        found &&
        fill(
          'tickers',
          `/trading/tickers/${encodeURIComponent(found.group)}`,
          ['watchList'],
          (rows: readonly WireTicker[]) => {
            const watched = WATCHED.flatMap((id) => rows.find(({ _id }) => _id === id) ?? []);
            return { watchList: watched.map((row) => named({ ...row, symbol: row._id })) };
          },
        ),
    ),
  ]);
  return way;
}

function named({ friendlyName: name, ...row }: WireRow): ScreenRow {
  return { ...row, name };
}

/** Loads the screen by one query, without the client, because the page shows the answer's size and its parts. */
export async function fetchFromGraph(app: App, token: string, show: Show): Promise<Way> {
  const stopwatch = new Stopwatch();
  const way: Way = { calls: stopwatch.calls, data: {}, missing: {}, startedAt: new Date() };
  show(way);
  // A field of a later part counts as loading until that part arrives.
  const drawPart = (soFar: AnswerSoFar) => {
    const { data } = soFar as Answer;
    for (const field of FIELDS) {
      if (data?.[field] != null) Object.assign(way.data, { [field]: data[field] });
    }
    show(way);
  };
  const { body, problem } = await sendWithRetry(app, token, (bearerToken) => {
    const init = {
      method: 'POST',
      headers: { ...bearer(bearerToken), ...JSON_OR_PARTS },
      body: JSON.stringify({ query: START_SCREEN }),
    };
    return stopwatch.fetch('graphql', ENDPOINT, init, judgeAnswer, drawPart);
  });
  const { data, errors = [] } = (body ?? {}) as Answer;
  const lacksPositions = body !== null && data?.positions == null;
  const known = lacksPositions ? await lastKnown(app) : null;
  if (known) way.positionsAsOf = known.asOf;
  for (const field of FIELDS) {
    const value = data?.[field] ?? (field === 'positions' ? known?.positions : null);
    if (value != null) {
      Object.assign(way.data, { [field]: value });
      continue;
    }
    // An error without a path concerns every field.
    const error = errors.find(({ path }) => path === undefined || path[0] === field);
    const code = error?.extensions.code;
    const failure = code ? { call: null, reason: code } : { call: 'the query', reason: problem };
    Object.assign(way.missing, { [field]: failure });
  }
  show(way);
  return way;
}

/** The last positions that the server knows, with their time, as a subscription gives them to a new device. */
async function lastKnown(app: App): Promise<AccountState | null> {
  const device = app.anotherClient();
  const known = await new Promise<AccountState | null>((resolve) => {
    device.account((state) => state.asOf && resolve(state));
    setTimeout(resolve, KNOWN_WITHIN_MS, null);
  });
  device.dispose();
  return known;
}

const KNOWN_WITHIN_MS = 5_000;

/**
 * Sends a request like a good app: repeated once if it was lost or failed at the server, and with a new token if the token
 * was refused.
 */
async function sendWithRetry(
  app: App,
  token: string,
  send: (token: string) => Promise<MeasuredCall>,
): Promise<MeasuredCall> {
  const answer = await send(token);
  if (answer.problem === REFUSED) {
    const renewed = await app.token({ force: true }).catch(() => null);
    return renewed === null ? answer : send(renewed);
  }
  if (!RETRYABLE.test(answer.problem ?? '')) return answer;
  await pause(REPEAT_MS);
  return send(token);
}

const REFUSED = '401';
const RETRYABLE = /^(?:unreachable|broken off|5\d\d)$/;
const REPEAT_MS = 300;

const JSON_OR_PARTS = {
  'content-type': 'application/json',
  accept: `${PARTS}, application/graphql-response+json`,
};

interface Answer {
  readonly data?: ScreenData | null;
  readonly errors?: readonly {
    readonly path?: readonly string[];
    readonly extensions: { readonly code: string };
  }[];
}

/** Adds the problem of a GraphQL answer that has errors. */
function judgeAnswer(call: MeasuredCall): MeasuredCall {
  const { data, errors } = (call.body ?? {}) as Answer;
  if (errors === undefined || errors.length === 0) return call;
  const isRefused = errors.some(({ extensions }) => extensions.code === 'UNAUTHENTICATED');
  if (isRefused) return { ...call, problem: REFUSED };
  const isPartial = Object.values(data ?? {}).some((value) => value !== null);
  return { ...call, isPartial, problem: isPartial ? 'in part' : 'failed' };
}

export function bearer(token: string) {
  return { authorization: `Bearer ${token}` };
}

/** The login in the token's claims, which is all that a front end knows before its first call. */
export function loginOf(token: string): string {
  const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
  return String(JSON.parse(atob(payload)).login);
}
