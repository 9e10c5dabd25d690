import type { Caller } from './caller.ts';
import type { Exchange } from './exchange.ts';
import type { OperationName } from './operations.ts';

/** One call as it goes onto the wire. */
export interface WireCall {
  readonly operation: OperationName;
  readonly path: string;
  /** Names and values alternate. */
  readonly headers: readonly string[];
  readonly body: string | null;
  readonly deadlineMs: number;
  readonly maxBytes: number;
  readonly caller: Caller;
}

/** Never rejects: every failure is an exchange as well. */
export type Send = (call: WireCall) => Promise<Exchange>;

/** Called with the outcome of each call on the wire, before the call resolves. */
export type ObserveCall = (operation: OperationName, exchange: Exchange, ms: number) => void;
