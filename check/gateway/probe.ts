import { LogicalClock } from '../../lib/clock.ts';
import { toToken } from '../../lib/token.ts';
import { type Exchange, exchanged } from '../../src/gateway/exchange.ts';
import { OPERATIONS, type ReadName } from '../../src/gateway/operations.ts';
import { CONNECT_SHARE, createPools, gatewayWidths } from '../../src/gateway/pools.ts';
import {
  type PathValues,
  type RequestSettings,
  requestTemplates,
} from '../../src/gateway/request-templates.ts';
import { createTransport } from '../../src/gateway/transport.ts';

interface ProbeOptions extends RequestSettings {
  readonly url: string;
}

/** The operations that a probe may call: signing in, and those that change nothing. */
export type ProbeName = ReadName | 'login';

export interface ProbeCall {
  readonly token: string | null;
  readonly path?: PathValues;
  readonly body?: unknown;
  /** Names and values alternate. */
  readonly headers?: readonly string[];
}

export interface ProbeAnswer {
  readonly exchange: Exchange;
  readonly ms: number;
  readonly deadlineMs: number;
}

/** Calls the gateway as the service does, one exchange a call: without retries, breakers and judgement. */
export interface Probe extends AsyncDisposable {
  call(operation: ProbeName, call: ProbeCall): Promise<ProbeAnswer>;
}

export function createProbe(options: ProbeOptions): Probe {
  const pools = createPools({
    gatewayUrl: options.url,
    widths: gatewayWidths(1),
    connectTimeoutMs: options.gatewayTimeoutMs * CONNECT_SHARE,
  });
  const send = createTransport(pools, () => {}, new LogicalClock());
  const templates = requestTemplates(OPERATIONS, options);
  return {
    async call(operation, { token, path = {}, body, headers = [] }) {
      const template = templates[operation];
      const caller = { token: template.row.isAnonymous || token === null ? null : toToken(token) };
      const startedAt = performance.now();
      const exchange = await exchanged(send, {
        operation,
        row: template.row,
        path: template.path(path),
        headers: template.headers(caller, headers),
        body: body === undefined ? null : JSON.stringify(body),
        deadlineMs: template.deadlineMs,
        maxBytes: template.maxBytes,
        caller,
      });
      return { exchange, ms: performance.now() - startedAt, deadlineMs: template.deadlineMs };
    },
    [Symbol.asyncDispose]: () => pools.close(),
  };
}
