import { systemClock } from '../lib/clock.ts';
import type { Caller, CallOutcome } from './caller.ts';
import type { CallDescription, OperationTraits } from './operation-traits.ts';

/** One call in the form in which it is sent. */
export interface WireCall {
  readonly operation: OperationTraits;
  readonly description: CallDescription;
  readonly path: string;
  /** Names and values alternate. */
  readonly headers: readonly string[];
  readonly body: string | null;
  readonly deadlineMs: number;
  readonly maxBytes: number;
  /** A date of this machine, after which the call's head must not be written to a socket. Absent: no limit. */
  readonly sendBeforeMs?: number | undefined;
  /** Whether its answer is still read after its deadline. */
  readonly readsLateAnswer?: boolean;
  readonly caller: Caller;
  /** Aborts a read. A write is never aborted: a client that disconnects must not make its outcome unknown. */
  readonly signal?: AbortSignal | undefined;
  /** How often the call was sent before; absent at first. */
  readonly resends?: number;
}

/** The result of one call on the wire, before it is judged as a read, a write or an order. */
export type Exchange = NotSent | NoAnswer | Answer;

/** The request's head was never written to a socket, so the gateway cannot have acted on it. */
interface NotSent {
  readonly sent: false;
  readonly cause: unknown;
}

/** The request was sent. Its answer is missing, cut off, too large, unreadable, or from a cache that must not answer. */
export interface NoAnswer {
  readonly sent: true;
  readonly answered: false;
  readonly reason:
    | 'timeout'
    | 'connection'
    | 'protocol'
    | 'oversize'
    | 'aborted'
    | 'encoding'
    | 'cached';
  readonly cause: unknown;
  readonly logicalTime: number;
  readonly sentAtMs: number;
  /** The later end of a call whose answer is still read after its deadline. */
  readonly late?: Promise<Exchange>;
}

export interface Answer {
  readonly sent: true;
  readonly answered: true;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The whole body, unpacked. */
  readonly bytes: Buffer;
  /** Process-wide order of sending: of two answers, the one with the higher number is newer. */
  readonly logicalTime: number;
  readonly sentAtMs: number;
}

export type Send = (call: WireCall) => Promise<Exchange>;

/** Called after each attempt, even if it was not sent. */
export type ObserveCall = (call: WireCall, outcome: CallOutcome, exchange: Exchange) => void;

/** The body as JSON; undefined if it is not JSON. An HTML page with status 200 is not an answer. */
export function jsonOf(answer: Answer, parse: (text: string) => unknown = JSON.parse): unknown {
  if (!isJsonContent(answer.headers['content-type'])) return undefined;
  try {
    return parse(answer.bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

export function isJsonContent(type: string | undefined): boolean {
  if (type === undefined || type === 'application/json') return true;
  return /^\s*[\w.+-]+\/([\w.+-]+\+)?json\b/i.test(type);
}

/** When a read was sent and answered. Of two answers, the one with the later logical time is newer. */
export interface ReadTimes {
  readonly logicalTime: number;
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
}

export function timesOf({ logicalTime, sentAtMs }: Answer): ReadTimes {
  return { logicalTime, sentAtMs, receivedAtMs: systemClock.now() };
}
