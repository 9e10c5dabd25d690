import {
  type AnswerSoFar,
  boundaryOf,
  readParts,
} from '../../../client/src/request/answer-parts.ts';

/** A phone in a train: the preset "fast 3G" of browsers' developer tools, which newer ones call "slow 4G". */
const PHONE = { roundTripMs: 150, bytesPerMs: 200 };

/** One measured request. */
export interface MeasuredCall {
  readonly label: string;
  /** Since the beginning of the whole screen, in milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  /** The size of the answer's body, compressed if the server compressed it. */
  readonly bytes: number;
  /** Null if the body is not JSON. */
  readonly body: unknown;
  /** The fault of the answer, in one or two words; null without a fault. */
  readonly problem: string | null;
  /** Whether an answer with a fault has data as well. */
  readonly isPartial?: boolean;
}

/** Measures requests from one common start. */
export class Stopwatch {
  readonly calls: MeasuredCall[] = [];
  readonly #startedAt = performance.now();

  constructor() {
    // The browser keeps the times of the first 250 requests of a page, and this page makes more.
    performance.clearResourceTimings();
  }

  /** Sends a request, and returns it with its times and the result of `judge`. */
  async fetch(
    label: string,
    url: string,
    init: RequestInit,
    judge = (call: MeasuredCall) => call,
    onPart?: (soFar: AnswerSoFar) => void,
  ): Promise<MeasuredCall> {
    const startMs = this.#elapsedMs;
    const id = `${Date.now()}-${Math.random()}`;
    const travel = (bytes: number) => pause(PHONE.roundTripMs + bytes / PHONE.bytesPerMs);
    const showLater =
      onPart && ((soFar: AnswerSoFar) => void travel(sizeOf(soFar)).then(() => onPart(soFar)));
    // For an answer in parts the address must be unique, so that `packedSize` finds the browser's entry of this request.
    const address = onPart ? `${url}?${id}` : url;
    const answer = await answerOf(fetch(address, { ...init, cache: 'reload' }), showLater);
    await travel(answer.bytes);
    const call = judge({ label, startMs, endMs: this.#elapsedMs, ...answer });
    this.calls.push(call);
    return call;
  }

  get #elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }
}

async function answerOf(
  request: Promise<Response>,
  onPart: (soFar: AnswerSoFar) => void = () => {},
) {
  try {
    const response = await request.catch(() => {
      // A thrown text is the problem itself.
      throw navigator.onLine ? 'unreachable' : 'offline';
    });
    const boundary = boundaryOf(response);
    if (boundary !== null) {
      const body = await readParts(response, boundary, onPart);
      const bytes = await packedSize(response, sizeOf(body));
      return { body, problem: null, bytes };
    }
    const text = await response.text();
    const body = parse(text);
    return { body, problem: problemOf(response, body), bytes: bytesOf(response, text) };
  } catch (reason) {
    const problem = typeof reason === 'string' ? reason : 'broken off';
    return { body: null, problem, bytes: 0 };
  }
}

function problemOf({ status }: Response, body: unknown): string | null {
  if (status >= 400) return String(status);
  return body === null ? 'not JSON' : null;
}

/** The compressed size of an answer in parts. The browser reports the size a moment after the end of the answer. */
async function packedSize({ url }: Response, fallback: number): Promise<number> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
    const [found] = performance.getEntriesByName(url, 'resource') as PerformanceResourceTiming[];
    if (found) return found.encodedBodySize || fallback;
    await pause(ATTEMPT_MS);
  }
  return fallback;
}

const MAX_ATTEMPTS = 20;
const ATTEMPT_MS = 5;

function sizeOf(answer: AnswerSoFar): number {
  return new TextEncoder().encode(JSON.stringify(answer)).length;
}

/** The size of an answer's body. A chunked answer has no Content-Length, so its uncompressed size is returned. */
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
