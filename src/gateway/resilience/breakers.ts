import { hash } from 'node:crypto';
import type { Caller } from '../caller.ts';
import { OPERATIONS } from '../operations.ts';
import type { Send, WireCall } from '../transport.ts';
import { backendOf } from './backend.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { CircuitOpenError } from './held-back.ts';
import { judgeHealth } from './verdict.ts';

/** Sends only what the breaker of the call's backend lets through. */
export function withBreakers(send: Send, breakers: ReadonlyMap<string, CircuitBreaker>): Send {
  return async (call) => {
    const backend = backendOf(call.operation);
    const breaker = breakers.get(backend);
    if (breaker === undefined) return send(call);
    const passage = breaker.admit();
    if (passage === null) return { sent: false, cause: new CircuitOpenError(backend) };
    const exchange = await send(passage.isProbe ? unending(call) : call);
    breaker.settle(passage, judgeHealth(call, exchange), () => accountOf(call.caller));
    return exchange;
  };
}

/** A probe is everybody's: its asker, by going away, must not be able to take it along. */
function unending(call: WireCall): WireCall {
  if (OPERATIONS[call.operation].effect !== 'read') return call;
  const { signal: _, ...caller } = call.caller;
  return { ...call, caller };
}

/** Failures of all devices of an account, and of all tokens that merely claim it, are one account's. */
function accountOf({ account, token, client }: Caller): string {
  if (account !== undefined) return account;
  return token === null ? `at ${client?.address}` : hash('sha256', token, 'hex');
}
