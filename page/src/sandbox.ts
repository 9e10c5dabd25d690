/** How often the gateway's operations were called, by accounts and by the names of the sandbox. */
export interface CallCounts {
  readonly total: number;
  readonly logins: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly ended: readonly EndedCall[];
}

/** A call of the gateway that is over; its status is null where no whole answer left. */
export interface EndedCall {
  readonly atMs: number;
  readonly endedAtMs: number;
  readonly operation: string;
  readonly fault: string | null;
  readonly status: number | null;
}

/** The graph's counts so far: events by what became of them, retries by operation; and its breakers, of which the open ones are 1. */
export type GraphFigures = Readonly<
  Record<'event' | 'retry' | 'change', Readonly<Record<string, number>>>
>;

export interface Fault {
  readonly operation: string;
  readonly kind: string;
  readonly delayMs?: number;
  readonly status?: number;
  readonly times?: number;
  readonly forMs?: number;
}

/** Each of them is seen: the phones show something else over REST than over the graph. */
export const PRESETS: readonly (readonly [name: string, seconds: number, fault: Fault])[] = [
  ['Gateway down', 10, { operation: '*', kind: 'reset-before' }],
  ['Session fails', 20, { operation: 'getSession', kind: 'status', status: 503 }],
  ['Prices are garbage', 15, { operation: 'getOpenPositions', kind: 'garbage' }],
];

/** Whether this browser may use the sandbox's controls, which the server says with the page: it has to run on the same machine. */
export const HAS_CONTROLS = !document.documentElement.hasAttribute('data-recorded');

/** The sandbox's controls. */
export const sandbox = {
  calls: (sinceMs: number) => control<CallCounts>('GET', `calls?since=${sinceMs}`),
  graph: () => control<GraphFigures>('GET', 'graph'),
  faults: async () =>
    (await control<{ readonly faults: readonly Fault[] }>('GET', 'faults')).faults,
  fail: (fault: Fault) => control('POST', 'faults', fault),
  clearFaults: () => control('DELETE', 'faults'),
  putPrice: (symbol: string, price: number) => control('POST', 'market', { symbol, price }),
  resizeCatalog: (size: number) => control('POST', 'catalog/size', { size }),
  changeCatalog: (rows: number) => control('POST', 'catalog', { change: rows }),
};

async function control<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const response = await askServer(`sandbox/${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  if (!response.ok) throw new Error(`The sandbox refuses this: ${response.status}.`);
  return response.json() as Promise<Answer>;
}

const ANSWER_MS = 5_000;
/** The statuses of a proxy whose server is gone. */
const GONE = new Set([502, 503, 504]);

/** Nothing came from the server, which also serves everything else of this page; the message says why. */
export class ServerUnavailable extends Error {}

/** Rejects with `ServerUnavailable` where nothing comes from the server. */
export async function askServer(path: string, init: RequestInit): Promise<Response> {
  const answered = await fetch(path, { ...init, signal: AbortSignal.timeout(ANSWER_MS) }).catch(
    (error: Error) => error,
  );
  if (answered instanceof Response && !GONE.has(answered.status)) return answered;
  if (!navigator.onLine) throw new ServerUnavailable('This device is offline.');
  const isSlow = answered instanceof Error && answered.name === 'TimeoutError';
  throw new ServerUnavailable(
    isSlow
      ? `The server is connected, but has not answered within ${ANSWER_MS / 1_000} s.`
      : 'The server cannot be reached.',
  );
}
