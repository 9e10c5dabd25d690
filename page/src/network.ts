import { type AnswerSoFar, boundaryOf, readParts } from '../../client/src/request/answer-parts.ts';
import { formatBytes, formatMs } from './format.ts';
import { noteMark } from './lanes/mark.ts';

/** A network that requests are slowed down to, beside what they take on this machine. */
export interface Network {
  readonly roundTripMs: number;
  readonly bitsPerSecond: number;
}

export const LOCAL: Network = { roundTripMs: 0, bitsPerSecond: Number.POSITIVE_INFINITY };
/** A phone in a train: what browsers' developer tools call slow 4G. */
export const PHONE: Network = { roundTripMs: 150, bitsPerSecond: 1_600_000 };

const REQUEST_ID = 'x-request-id';

/** A call behind an answer of the graph, as the server reports it in sandbox mode. */
export interface Receipt {
  readonly operation: string;
  readonly ms: number;
  readonly source: 'call' | 'cache' | 'shared';
  /** How a call failed. */
  readonly outcome?: string;
}

/** One request as it was measured. */
export interface MeasuredCall {
  readonly label: string;
  /** From the beginning of the whole screen, in milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  /** Bytes of the answer's body, as it was compressed and came over the network. */
  readonly bytes: number;
  /** Whether it took no request, because the browser's cache had it. */
  readonly isLocal: boolean;
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
    // The browser keeps the times of the first 250 requests of a page, and this one has some each second.
    performance.clearResourceTimings();
  }

  /** The answer, as the judge of it sees it. */
  async fetch(
    label: string,
    url: string,
    init: RequestInit,
    judge = (call: MeasuredCall) => call,
    onPart?: (soFar: AnswerSoFar) => void,
  ): Promise<MeasuredCall> {
    const startMs = this.#elapsedMs;
    const id = `${Date.now()}-${Math.random()}`;
    const headers = { ...init.headers, [REQUEST_ID]: id };
    const { roundTripMs, bitsPerSecond } = this.#network;
    const travelled = (bytes: number) => pause(roundTripMs + (bytes * 8_000) / bitsPerSecond);
    const partCame =
      onPart && ((soFar: AnswerSoFar) => void travelled(sizeOf(soFar)).then(() => onPart(soFar)));
    // The size of an answer in parts is found by an address that no other request has.
    const address = onPart ? `${url}?${id}` : url;
    const answer = await answerOf(fetch(address, { ...init, headers }), id, partCame);
    if (!answer.isLocal) await travelled(answer.bytes);
    const call = judge({ label, startMs, endMs: this.#elapsedMs, ...answer });
    this.calls.push(call);
    noteCall(label, call.endMs - startMs, answer);
    return call;
  }

  get #elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }
}

/** The answer to a request; with the request's id it is known whether the browser's cache had it. */
export async function answerOf(
  request: Promise<Response>,
  id?: string,
  onPart: (soFar: AnswerSoFar) => void = () => {},
) {
  try {
    const response = await request.catch(() => {
      throw navigator.onLine ? 'unreachable' : 'offline';
    });
    const boundary = boundaryOf(response);
    if (boundary !== null) {
      const body = await readParts(response, boundary, onPart);
      const bytes = await packedSize(response, sizeOf(body));
      return { body, problem: null, isLocal: false, bytes };
    }
    const text = await response.text();
    const body = parse(text);
    const isRefused = response.status >= 400;
    const problem = isRefused ? String(response.status) : body === null ? 'not JSON' : null;
    // The server says the id of the request that it answers: the browser's cache has the answer to another one.
    const isLocal = id !== undefined && (response.headers.get(REQUEST_ID) ?? id) !== id;
    return { body, problem, isLocal, bytes: isLocal ? 0 : bytesOf(response, text) };
  } catch (reason) {
    const problem = typeof reason === 'string' ? reason : 'broken off';
    return { body: null, problem, isLocal: false, bytes: 0 };
  }
}

/** An answer in parts is packed piece by piece: the browser tells its length, a moment after it has come. */
async function packedSize({ url }: Response, otherwise: number): Promise<number> {
  for (let looks = 0; looks < LOOKS; looks += 1) {
    const [found] = performance.getEntriesByName(url, 'resource') as PerformanceResourceTiming[];
    if (found) return found.encodedBodySize || otherwise;
    await pause(LOOK_MS);
  }
  return otherwise;
}

const LOOKS = 20;
const LOOK_MS = 5;

function sizeOf(answer: AnswerSoFar): number {
  return new TextEncoder().encode(JSON.stringify(answer)).length;
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

type Answer = Pick<MeasuredCall, 'bytes' | 'problem' | 'body'>;

/** Notes a call of the app that has just been answered and, where the graph says what it did for it, that. */
export function noteCall(name: string, ms: number, { bytes, problem, body }: Answer): void {
  const atMs = Date.now() - ms;
  const kind = problem === null ? 'call' : 'fault';
  noteMark({ lane: 'app', kind, atMs, ms, text: `${name} · ${problem ?? formatBytes(bytes)}` });
  const { extensions } = (body ?? {}) as { extensions?: { gateway?: readonly Receipt[] } };
  if (extensions?.gateway === undefined) return;
  const behind = extensions.gateway.map(
    ({ operation, source, outcome, ms: callMs }) =>
      `${operation} ${outcome ?? (source === 'call' ? formatMs(callMs) : source)}`,
  );
  const text = `${name} · behind it ${behind.join(', ') || 'no call'}`;
  const ownMs = Math.max(0, ...extensions.gateway.map((receipt) => receipt.ms));
  // The rest of the time is the network's, there and back.
  noteMark({ lane: 'graph', kind: 'call', atMs: atMs + (ms - ownMs) / 2, ms: ownMs, text });
}

export function pause(ms: number): Promise<void> {
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
