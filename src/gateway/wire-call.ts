import type { Caller } from './caller.ts';
import type { Exchange } from './exchange.ts';
import type { OperationName } from './operations.ts';

/** One call as it goes onto the wire. */
export interface WireCall {
  readonly operation: OperationName;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string | null;
  readonly deadlineMs: number;
  readonly maxBytes: number;
  readonly caller: Caller;
}

/** Never rejects: what happened, happened, and is told. */
export type Send = (call: WireCall) => Promise<Exchange>;

/** Told of each call what came of it on the wire, before whoever waits for it. */
export type ObserveCall = (operation: OperationName, exchange: Exchange, ms: number) => void;
