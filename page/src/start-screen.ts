import { ENDPOINT } from './app.ts';
import { type ScreenData, START_SCREEN } from './documents.ts';
import { LOCAL, type MeasuredCall, type Network, Stopwatch } from './network.ts';

/** A call behind an answer of the graph, as the server reports it in sandbox mode. */
export interface Receipt {
  readonly operation: string;
  readonly ms: number;
  readonly source: 'call' | 'cache' | 'shared';
  /** How a call failed. */
  readonly outcome?: string;
}

/** One way to the start screen: its calls, and the rows that it found. */
export interface Fetched {
  readonly calls: readonly MeasuredCall[];
  readonly elapsedMs: number;
  readonly bytes: number;
  /** Symbols with the names of their instruments, in one text each. */
  readonly rows: readonly string[];
  /** The parts that failed, and why. Figures of a screen that lacks something are compared with nothing. */
  readonly failed: readonly string[];
}

export interface FetchedByGraph extends Fetched {
  readonly data: ScreenData | null;
  /** How many parts of the screen came. */
  readonly arrived: number;
  readonly receipts: readonly Receipt[];
}

const GATEWAY = '/sandbox/gateway';
/** The parts of the start screen, which fail one by one. */
const PARTS = 4;

/**
 * As a front end without a server of its own does it: the catalog can be asked for when the session has named the group.
 * Calls back when all that could be asked for at once has been answered.
 */
export async function fetchFromGateway(
  token: string,
  network: Network,
  onFirst: () => void,
): Promise<Fetched> {
  const stopwatch = new Stopwatch(network);
  const get = (path: string) => stopwatch.fetch(path, GATEWAY + path, { headers: bearer(token) });
  const session = get(`/trading/session/${loginOf(token)}`);
  const catalog = session.then(({ body }) => {
    const { group } = body as { group?: string };
    return group === undefined ? null : get(`/trading/tickers/${encodeURIComponent(group)}`);
  });
  const first = [
    get('/trading/positions'),
    get('/payments/client/withdrawal-methods'),
    get('/payments/client/customer-id'),
    session,
  ] as const;
  void Promise.all(first).then(onFirst);
  const [tickers, positions] = await Promise.all([catalog.catch(() => null), ...first]);
  const names = new Map(
    listOf<{ _id: string; friendlyName: string }>(tickers?.body).map((one) => [
      one._id,
      one.friendlyName,
    ]),
  );
  const held = listOf<{ symbol: string }>((positions.body as { positions?: unknown })?.positions);
  return {
    calls: stopwatch.calls,
    elapsedMs: stopwatch.elapsedMs,
    bytes: stopwatch.bytes,
    rows: held.map(({ symbol }) => `${symbol} ${names.get(symbol)}`),
    failed: stopwatch.calls.flatMap(({ label, problem }) =>
      problem ? `${label}: ${problem}` : [],
    ),
  };
}

/** By one query. It is sent as it is, without the client, because the bytes and the receipts of the answer are shown. */
export async function fetchFromGraph(
  token: string,
  network: Network = LOCAL,
): Promise<FetchedByGraph> {
  const stopwatch = new Stopwatch(network);
  const call = await stopwatch.fetch('/graphql', ENDPOINT, {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify({ query: START_SCREEN }),
  });
  const answer = call.body as {
    data?: ScreenData;
    errors?: readonly { path?: readonly string[]; extensions: { code: string } }[];
    extensions?: { gateway?: readonly Receipt[] };
  } | null;
  const data = answer?.data ?? null;
  const errors = answer?.errors ?? [];
  const failedParts = new Set(errors.map(({ path }) => path?.[0]));
  const arrived = data === null ? 0 : PARTS - failedParts.size;
  const problem = errors.length === 0 ? call.problem : `${arrived} of ${PARTS} parts`;
  return {
    calls: [{ ...call, problem, isPartial: arrived > 0 }],
    arrived,
    elapsedMs: stopwatch.elapsedMs,
    bytes: stopwatch.bytes,
    data,
    failed:
      answer === null
        ? [`${call.label}: ${call.problem}`]
        : errors.map(({ path, extensions }) => `${path?.[0] ?? 'the query'}: ${extensions.code}`),
    receipts: answer?.extensions?.gateway ?? [],
    rows: (data?.positions ?? []).map(({ symbol, instrument }) => `${symbol} ${instrument?.name}`),
  };
}

function bearer(token: string) {
  return { authorization: `Bearer ${token}` };
}

/** The token's own claim, which is all that a front end has before its first call. */
function loginOf(token: string): string {
  const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
  return String(JSON.parse(atob(payload)).login);
}

function listOf<Row>(value: unknown): readonly Row[] {
  return Array.isArray(value) ? value : [];
}
