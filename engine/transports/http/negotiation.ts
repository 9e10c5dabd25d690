import { LRUCache } from 'lru-cache';
import type { PartsFormat } from '../../operation/transport-context.ts';

export const PLAIN_JSON = 'application/json';
export const RESPONSE_JSON = 'application/graphql-response+json';
export const EVENT_STREAM = 'text/event-stream';
/** Apollo's protocol for subscriptions over HTTP. */
export const MULTIPART = 'multipart/mixed;subscriptionSpec="1.0"';

/** Answers in parts, by the proposal of 2022 and by the present one. */
export const DEFERRED = 'multipart/mixed;deferSpec=20220824';
export const INCREMENTAL = 'multipart/mixed;incrementalSpec=v0.2';

export type StreamType =
  | typeof EVENT_STREAM
  | typeof MULTIPART
  | typeof DEFERRED
  | typeof INCREMENTAL;
export type MediaType = typeof PLAIN_JSON | typeof RESPONSE_JSON | StreamType;

/** The media types that an `Accept` header allows for a response. */
export interface Accepted {
  /** The type of one result, which is a query's, a mutation's or a refusal. */
  readonly single: MediaType;
  /** The type of a subscription's events; null where none is acceptable. */
  readonly events: StreamType | null;
  /** How an answer in parts is sent; null where one piece is liked better, or no other is acceptable. */
  readonly parts: { readonly type: StreamType; readonly format: PartsFormat } | null;
}

// Clients send a handful of headers. The caches of hostile ones stay within some 130 kB.
const MEMOIZED = 256;
const MEMOIZED_LENGTH = 256;

const known = new LRUCache<string, { readonly accepted: Accepted | null }>({ max: MEMOIZED });

/** Content negotiation by RFC 9110, 12.5.1; null where no type of ours is acceptable. Headers are remembered. */
export function negotiated(accept: string | undefined): Accepted | null {
  if (accept === undefined) return ANYTHING;
  const before = known.get(accept);
  if (before !== undefined) return before.accepted;
  const accepted = acceptedBy(accept);
  if (accept.length <= MEMOIZED_LENGTH) known.set(accept, { accepted });
  return accepted;
}

/** Whether a `Content-Type` says JSON. Its charset makes no difference: JSON is UTF-8 (RFC 8259). */
export function isJsonType(contentType: string | undefined): boolean {
  return contentType === PLAIN_JSON || /^application\/json[ \t]*(?:;|$)/i.test(contentType ?? '');
}

// Plain JSON, as GraphQL over HTTP wants it for clients that do not name the newer type.
const ANYTHING: Accepted = { single: PLAIN_JSON, events: EVENT_STREAM, parts: null };

/** One element of the header. */
interface MediaRange {
  readonly type: string;
  /** The kind of `multipart/mixed` that it names, or whose parts an event stream is asked to have; undefined for another's. */
  readonly spec: StreamType | undefined;
  /** The higher, the more exactly it names a type; of two that match, the more specific one counts. */
  readonly specificity: number;
  readonly weight: number;
  readonly at: number;
}

// The parts of a list, whose separators may stand in quoted strings as well.
const ELEMENTS = /(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g;
const PARAMETERS = /(?:[^;"]|"(?:\\.|[^"\\])*"?)+/g;

/** The parameters that tell the kinds of `multipart/mixed` apart, of which an event stream may have the last two as well. */
const SPECS: ReadonlyMap<string, StreamType> = new Map([
  ['subscriptionspec=1.0', MULTIPART],
  ['deferspec=20220824', DEFERRED],
  ['incrementalspec=v0.2', INCREMENTAL],
]);
const SPEC = /^(?:subscription|defer|incremental)spec$/;

const ANY_TYPE = 0;
const ANY_SUBTYPE = 2;
const NAMED = 4;

function acceptedBy(header: string): Accepted | null {
  const elements = (header.match(ELEMENTS) ?? []).filter((element) => element.trim() !== '');
  // An empty list is no preference.
  if (elements.length === 0) return ANYTHING;
  const ranges = elements.map(readRange).filter((range) => range !== null);
  const plain = matchFor(PLAIN_JSON, ranges);
  const response = matchFor(RESPONSE_JSON, ranges);
  const stream = matchFor(EVENT_STREAM, ranges);
  // Only whoever names its protocol can read it.
  const multipart = matchFor(
    MULTIPART,
    ranges.filter(({ type }) => type === MULTIPART),
  );
  const isMultipart = multipart !== null && (stream === null || isBetter(multipart, stream));
  const streamed = isMultipart ? multipart : stream;
  const events = isMultipart ? MULTIPART : stream && EVENT_STREAM;
  const isPlainBetter = plain !== null && (response === null || !isBetter(response, plain));
  const json = isPlainBetter ? plain : response;
  const parts = partsBy(ranges, json, stream);
  // A single result is JSON unless the client says by a weight that it likes a stream better.
  if (events !== null && streamed !== null && (json === null || streamed.weight > json.weight)) {
    return { single: events, events, parts };
  }
  if (json === null) return parts && { single: parts.type, events, parts };
  return { single: isPlainBetter ? PLAIN_JSON : RESPONSE_JSON, events, parts };
}

/** Parts are for those that name a type of them, and do not like JSON better. */
function partsBy(
  ranges: readonly MediaRange[],
  json: MediaRange | null,
  stream: MediaRange | null,
): Accepted['parts'] {
  const named = ranges.filter(
    ({ type, weight }) => weight > 0 && (type === DEFERRED || type === INCREMENTAL),
  );
  if (stream !== null && stream.specificity >= NAMED) named.push(stream);
  const [best] = named.sort((one, other) => (isBetter(one, other) ? -1 : 1));
  if (best === undefined || (json !== null && json.weight > best.weight)) return null;
  const format = best.spec === INCREMENTAL ? 'incrementalSpec' : 'deferSpec';
  return { type: best.type as StreamType, format };
}

/** The range that decides about a type; null where the type is not acceptable. */
function matchFor(type: MediaType, ranges: readonly MediaRange[]): MediaRange | null {
  const family = `${type.slice(0, type.indexOf('/'))}/*`;
  let best: MediaRange | null = null;
  for (const range of ranges) {
    if (range.type !== type && range.type !== family && range.type !== '*/*') continue;
    const more = best === null ? 1 : range.specificity - best.specificity;
    // A type that comes twice has the higher of its weights.
    if (best === null || more > 0 || (more === 0 && range.weight > best.weight)) best = range;
  }
  return best !== null && best.weight > 0 ? best : null;
}

/**
 * The client means the type that it names, of two with the same weight, rather than one that a wildcard
 * includes; of two that it names, the first, as clients and other servers read a list.
 */
function isBetter(one: MediaRange, other: MediaRange): boolean {
  if (one.weight !== other.weight) return one.weight > other.weight;
  const isNamed = one.specificity >= NAMED;
  return isNamed === other.specificity >= NAMED ? one.at < other.at : isNamed;
}

/** Null for a range of another charset: responses are UTF-8. Other parameters are unknown to JSON, and ignored. */
function readRange(element: string, at: number): MediaRange | null {
  const [name = '', ...parameters] = element.match(PARAMETERS) ?? [];
  const written = name.trim().toLowerCase();
  // Java's HttpURLConnection sends the short form.
  const whole = written === '*' ? '*/*' : written;
  let specificity = whole === '*/*' ? ANY_TYPE : whole.endsWith('/*') ? ANY_SUBTYPE : NAMED;
  let weight = 1;
  // A request that names no version gets the one that most clients read.
  let spec: StreamType | undefined = DEFERRED;
  for (const parameter of parameters) {
    const equals = parameter.indexOf('=');
    const value = unquoted(parameter.slice(equals + 1).trim());
    const key = parameter.slice(0, Math.max(0, equals)).trim().toLowerCase();
    if (key === 'q') weight = readWeight(value);
    if (SPEC.test(key)) spec = SPECS.get(`${key}=${value}`);
    if (key !== 'charset') continue;
    if (!/^utf-?8$/i.test(value)) return null;
    specificity += 1;
  }
  const type = whole === 'multipart/mixed' ? (spec ?? whole) : whole;
  return { type, spec, specificity, weight, at };
}

/** A weight that is none counts as left out, which is 1. */
function readWeight(text: string): number {
  return /^(?:0?\.\d+|0\.?|1\.?0*)$/.test(text) ? Number(text) : 1;
}

function unquoted(text: string): string {
  return text.startsWith('"') ? text.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1') : text;
}
