/** The gateway's operations by the names of the sandbox, and how often each was called. */
export interface CallCounts {
  readonly total: number;
  readonly operations: Readonly<Record<string, number>>;
  readonly logins: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface Fault {
  readonly operation: string;
  readonly kind: 'status' | 'delay' | 'reset-before' | 'garbage';
  readonly status?: number;
  readonly delayMs?: number;
  readonly times?: number;
  readonly forMs?: number;
}

/** The sandbox's controls, which answer to browsers on the machine that it runs on. */
export const sandbox = {
  calls: () => control<CallCounts>('GET', 'calls'),
  forgetCalls: () => control('DELETE', 'calls'),
  faults: async () =>
    (await control<{ readonly faults: readonly Fault[] }>('GET', 'faults')).faults,
  fail: (fault: Fault) => control('POST', 'faults', fault),
  clearFaults: () => control('DELETE', 'faults'),
  putPrice: (symbol: string, price: number) => control('POST', 'market', { symbol, price }),
  changeCatalog: (rows: number) => control('POST', 'catalog', { change: rows }),
};

async function control<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`/sandbox/${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  if (!response.ok) throw new Error(`The sandbox answers ${response.status}.`);
  return response.json() as Promise<Answer>;
}
