import { type Exchange, exchanged } from '../../gateway/exchange.ts';
import type { CallDescription } from '../../gateway/operation.ts';
import { OPERATIONS, type OperationName, type ReadName } from '../../gateway/operations.ts';
import { CONNECT_SHARE, createPools, gatewayWidths } from '../../gateway/pools.ts';
import {
  type CallValues,
  type RequestSettings,
  RequestTemplates,
} from '../../gateway/request-templates.ts';
import type { Shape } from '../../gateway/shape.ts';
import { createTransport } from '../../gateway/transport.ts';
import { LogicalClock } from '../../lib/clock.ts';
import { toToken } from '../../lib/token.ts';

interface ProbeOptions extends RequestSettings {
  readonly url: string;
}

/** The operations that a probe may call: signing in, and those that change nothing. */
export type ProbeName = ReadName | 'login';

export interface ProbeCall extends CallValues {
  readonly token: string | null;
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
  const templates = new RequestTemplates(options);
  return {
    async call(operation, { token, ...details }) {
      const { isAnonymous } = OPERATIONS[operation];
      const caller = { token: isAnonymous || token === null ? null : toToken(token) };
      const [name = ''] = Object.keys(OPERATIONS[operation].calls);
      const call = templates.call(OPERATIONS[operation], name)(caller, details);
      const startedAt = performance.now();
      const exchange = await exchanged(send, call);
      return { exchange, ms: performance.now() - startedAt, deadlineMs: call.deadlineMs };
    },
    [Symbol.asyncDispose]: () => pools.close(),
  };
}

/** The shape of the answer to an operation's own call. */
export function answerOf(operation: OperationName): Shape {
  const [call] = Object.values<CallDescription>(OPERATIONS[operation].calls);
  return call?.answer ?? { kind: 'any' };
}
