import { systemClock } from '../lib/clock.ts';
import type { RequestCaller } from '../lib/limits/request-caller.ts';
import type { TraceSpan } from '../lib/tracing/tracing.ts';
import type { CallDescription, OperationTraits } from './operation-traits.ts';

/**
 * The outcome of a call on the wire, which may differ from the answer that the client gets. `circuit` and `busy`: the call
 * never began. `expired`: it would have been sent too late. `credentials`: the called service refused ours, with a 401 or
 * 403. Each outcome has a counter from the start.
 */
export const CALL_OUTCOMES = [
  'ok',
  'connect',
  'reset',
  'timeout',
  'contract',
  'credentials',
  '401',
  '403',
  '429',
  '4xx',
  '5xx',
  'circuit',
  'busy',
  'expired',
] as const;

export type CallOutcome = (typeof CALL_OUTCOMES)[number];

export interface ReceiptEntry {
  readonly operation: string;
  readonly ms: number;
  /** A call of this request, the cache, or another request's call. */
  readonly source: 'call' | 'cache' | 'shared';
  /** How the call ended; absent if this request made no call. */
  readonly outcome?: CallOutcome;
}

/**
 * The caller on whose behalf the gateway is called. The request's id is sent as `X-Request-Id`; the client's address and
 * agent are sent only with GATEWAY_FORWARD_CLIENT. A call without a trace starts its own trace.
 */
export interface Caller extends Omit<RequestCaller, 'signal'> {
  /** Marks the poll of a feed: no client waits for its answer, and another poll follows. */
  readonly priority?: 'poll' | undefined;
  /** The span of the operation that makes the call. */
  readonly trace?: TraceSpan | undefined;
  /** Adds an ended call to the request's receipt, the list of its gateway calls that the sandbox shows. */
  readonly receipt?: ((entry: ReceiptEntry) => void) | undefined;
}

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
  readonly reason: 'timeout' | 'connection' | 'protocol' | 'oversize' | 'encoding' | 'cached';
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
