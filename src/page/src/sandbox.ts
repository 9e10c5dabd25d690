interface Fault {
  readonly operation: string;
  readonly kind: string;
  readonly status?: number;
  readonly forMs?: number;
}

/** Faults of the gateway that the phones show differently over REST and over the graph. */
export const OUTAGES: readonly (readonly [name: string, seconds: number, fault: Fault])[] = [
  ['Gateway down', 10, { operation: '*', kind: 'reset-before' }],
  ['Session fails', 20, { operation: 'getSession', kind: 'status', status: 503 }],
  ['Prices are garbage', 15, { operation: 'getOpenPositions', kind: 'garbage' }],
];

/** Whether this browser may use the sandbox's controls: only on the server's own machine. The server marks other pages. */
export const HAS_CONTROLS = !document.documentElement.hasAttribute('data-remote');

const ANSWER_MS = 5_000;

/** Sets a fault of the sandbox gateway. */
export async function failGateway(fault: Fault): Promise<void> {
  const response = await fetch('sandbox/faults', {
    method: 'POST',
    body: JSON.stringify(fault),
    headers: { 'content-type': 'application/json' },
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  if (!response.ok) throw new Error(`The sandbox refuses this: ${response.status}.`);
}

/** The number of the account's market orders that the gateway has received. */
export async function ordersReceived(login: string): Promise<number> {
  const response = await fetch('sandbox/calls', { signal: AbortSignal.timeout(ANSWER_MS) });
  const { logins } = (await response.json()) as {
    readonly logins: Readonly<Record<string, Readonly<Record<string, number>>>>;
  };
  return logins[login]?.openPosition ?? 0;
}
