import { noteCall } from './lanes/mark.ts';

/** A network that requests are slowed down to, beside what they take on this machine. */
export interface Network {
  readonly roundTripMs: number;
  readonly bitsPerSecond: number;
}

export const LOCAL: Network = { roundTripMs: 0, bitsPerSecond: Number.POSITIVE_INFINITY };
/** A phone in a train: what browsers' developer tools call slow 4G. */
export const PHONE: Network = { roundTripMs: 150, bitsPerSecond: 1_600_000 };

/** One request as it was measured. */
export interface MeasuredCall {
  readonly label: string;
  /** From the beginning of the whole screen, in milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  /** Of the answer's body, as it was compressed. */
  readonly bytes: number;
  /** Null where there was no answer at all. */
  readonly status: number | null;
  /** Null where it is not JSON. */
  readonly body: unknown;
  /** The fault of the answer, in a word or two; null where there is none. */
  readonly problem: string | null;
  /** Whether it brought something all the same. */
  readonly isPartial?: boolean;
}

/** Measures requests from one beginning on. */
export class Stopwatch {
  readonly calls: MeasuredCall[] = [];
  readonly #network: Network;
  readonly #startedAt = performance.now();

  constructor(network: Network) {
    this.#network = network;
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  get bytes(): number {
    return this.calls.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async fetch(label: string, url: string, init: RequestInit): Promise<MeasuredCall> {
    const { roundTripMs, bitsPerSecond } = this.#network;
    const startMs = this.elapsedMs;
    await pause(roundTripMs / 2);
    // A first visit is compared, so nothing comes from the browser's cache.
    const answer = await answerOf(fetch(url, { ...init, cache: 'no-store' }));
    await pause(roundTripMs / 2 + (answer.bytes * 8_000) / bitsPerSecond);
    const call = { label, startMs, endMs: this.elapsedMs, ...answer };
    this.calls.push(call);
    noteCall(label, call.endMs - startMs, answer);
    return call;
  }
}

export async function answerOf(request: Promise<Response>) {
  try {
    const response = await request;
    const text = await response.text();
    const body = parse(text);
    const isRefused = response.status >= 400;
    const problem = isRefused ? String(response.status) : body === null ? 'not JSON' : null;
    return { status: response.status, bytes: bytesOf(response, text), body, problem };
  } catch {
    return { status: null, bytes: 0, body: null, problem: 'lost' };
  }
}

/** The bytes of an answer's body on the wire: servers that compress it whole say its length. */
function bytesOf({ headers }: Response, text: string): number {
  const length = headers.get('content-length');
  return length === null ? new TextEncoder().encode(text).length : Number(length);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export function pause(ms: number): Promise<void> {
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
