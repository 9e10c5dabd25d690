import { performance } from 'node:perf_hooks';
import type { Exchange } from './exchange.ts';
import type { OperationName } from './operations.ts';
import type { Send } from './transport.ts';

export type ObserveCall = (operation: OperationName, outcome: string, seconds: number) => void;

/** Tells of each call what came of it on the wire, whoever judges it how. */
export function measured(send: Send, observe: ObserveCall): Send {
  return async (call) => {
    const startedAt = performance.now();
    const exchange = await send(call);
    observe(call.operation, outcomeOf(exchange), (performance.now() - startedAt) / 1000);
    return exchange;
  };
}

function outcomeOf(exchange: Exchange): string {
  if (!exchange.sent) return 'not-sent';
  return exchange.answered ? `${Math.floor(exchange.status / 100)}xx` : exchange.reason;
}
