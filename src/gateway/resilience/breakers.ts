import { networksOf } from '../../lib/address-key.ts';
import { tokenHash } from '../../lib/token-hash.ts';
import type { Caller } from '../caller.ts';
import { NotAttemptedError } from '../errors.ts';
import type { Exchange, Send, WireCall } from '../exchange.ts';
import { type Backend, byOperation, OPERATIONS } from '../operations.ts';
import type { CircuitBreaker, Permit } from './circuit-breaker.ts';
import { judgeHealth } from './verdict.ts';

export class CircuitOpenError extends NotAttemptedError {
  override readonly name = 'CircuitOpenError';

  constructor(backend: Backend) {
    super(`the gateway's ${backend} have failed a moment ago and are left alone for now`);
  }
}

/** Sends only the calls that the breaker of their backend admits. */
export function withBreakers(send: Send, breakers: ReadonlyMap<Backend, CircuitBreaker>): Send {
  const breakerOf = byOperation(({ backend }) => breakers.get(backend));
  return async (call) => {
    const breaker = breakerOf[call.operation];
    if (breaker === undefined) return send(call);
    const permit = breaker.admit();
    if (permit === null) {
      return { sent: false, cause: new CircuitOpenError(OPERATIONS[call.operation].backend) };
    }
    const exchange = await send(permit.isProbe ? unending(call) : call);
    settle(breaker, permit, call, exchange);
    return exchange;
  };
}

function settle(breaker: CircuitBreaker, permit: Permit, call: WireCall, exchange: Exchange): void {
  breaker.settle(permit, judgeHealth(call, exchange), () => accountOf(call.caller));
}

/** A probe serves every client: the one whose call it is must not abort it by disconnecting. */
function unending(call: WireCall): WireCall {
  if (OPERATIONS[call.operation].effect !== 'read') return call;
  const { signal: _, ...caller } = call.caller;
  return { ...call, caller };
}

/** Failures of all devices of an account, and of all tokens that merely claim it, count as one account's. */
export function accountOf({ account, token, hashed, client }: Caller): string {
  if (account !== undefined) return account;
  return token === null ? `at ${networksOf(client?.address ?? '')[0]}` : tokenHash(token, hashed);
}
