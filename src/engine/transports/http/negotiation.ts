import { MIMEType } from 'node:util';
import { LRUCache } from 'lru-cache';
import { memo } from '../../../lib/memo.ts';
import { FORMATS, type Format, type StreamFormat } from './formats.ts';

/** The formats that an `Accept` header allows for a response. */
export interface Accepted {
  /** The format of one result: of a query, a mutation or a refusal. */
  readonly single: Format;
  /** The format of a subscription's events; null if none is acceptable. */
  readonly events: StreamFormat | null;
  /** The format of an answer in parts; null if the client prefers one piece, or accepts no such format. */
  readonly parts: StreamFormat | null;
}

const { json, response, events, subscriptionSpec, deferSpec, incrementalSpec } = FORMATS;
// Plain JSON: GraphQL over HTTP requires it for clients that do not name the newer type.
const ANYTHING: Accepted = { single: json, events, parts: null };

/** Clients send only a handful of different headers. */
const known = new LRUCache<string, { readonly accepted: Accepted | null }>({ max: 100 });

/** Content negotiation by RFC 9110, 12.5.1. Null if no format is acceptable. */
export function negotiated(accept: string | undefined): Accepted | null {
  if (accept === undefined) return ANYTHING;
  return memo<string, { accepted: Accepted | null }>(known, accept, () => ({
    accepted: acceptedBy(accept),
  })).accepted;
}

/** Whether a `Content-Type` is JSON. Its charset makes no difference: JSON is UTF-8 (RFC 8259). */
export function isJsonType(contentType: string | undefined): boolean {
  return /^application\/json[ \t]*(?:;|$)/i.test(contentType ?? '');
}

/** One element of the header. */
interface MediaRange {
  /** For `multipart/mixed` it includes the parameter that distinguishes its kinds. */
  readonly type: string;
  readonly weight: number;
  readonly at: number;
}

/** A format with the range that allows it. */
interface Ranked<Kind = Format> extends MediaRange {
  readonly format: Kind;
  readonly isNamed: boolean;
}

// The elements of the list. A quoted string may contain commas.
const ELEMENTS = /(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g;
// Clients name a few.
const MAX_ELEMENTS = 100;
const SPECS = ['subscriptionspec', 'deferspec', 'incrementalspec'];

function acceptedBy(accept: string): Accepted | null {
  const ranges = (accept.match(ELEMENTS) ?? []).slice(0, MAX_ELEMENTS).flatMap(readRange);
  // An empty list expresses no preference.
  if (ranges.length === 0) return ANYTHING;
  const ranked = <Kind extends Format>(formats: readonly Kind[]) =>
    formats.flatMap((format) => rankOf(format, ranges)).sort(byPreference);
  const [one] = ranked([json, response]);
  const [stream] = ranked([events, subscriptionSpec]);
  // Parts are for clients that name one of their formats and do not prefer JSON.
  const [part] = ranked([events, deferSpec, incrementalSpec]).filter(
    ({ isNamed, weight }) => isNamed && weight >= (one?.weight ?? 0),
  );
  // A single result is JSON, unless a stream has a higher weight.
  const isJson = one && one.weight >= (stream?.weight ?? 0);
  const single = isJson ? one : (stream ?? part);
  if (single === undefined) return null;
  return { single: single.format, events: stream?.format ?? null, parts: part?.format ?? null };
}

/** Leaves out a range that cannot be read. */
function readRange(element: string, at: number): MediaRange[] {
  try {
    // The time that MIMEType takes for a run of spaces grows with its square.
    const text = element.replace(/[ \t]+/g, ' ').trim();
    // Java's HttpURLConnection sends `*` for any type.
    const { essence, params } = new MIMEType(text.replace(/^\*(?!\/)/, '*/*'));
    const spec = SPECS.find((name) => params.has(name));
    // A client that names no version gets the version that most clients read.
    const version = spec === undefined ? 'deferspec=20220824' : `${spec}=${params.get(spec)}`;
    const type = essence === 'multipart/mixed' ? `${essence};${version}` : essence;
    const weight = Number(params.get('q') ?? 1);
    // A weight that cannot be read is ignored.
    return [{ type, weight: weight >= 0 && weight <= 1 ? weight : 1, at }];
  } catch {
    return [];
  }
}

/** The most specific range that names a format; empty if the format is not acceptable. */
function rankOf<Kind extends Format>(format: Kind, ranges: readonly MediaRange[]): Ranked<Kind>[] {
  const { type } = format;
  // A client that does not name a kind of `multipart/mixed` cannot read it.
  const matching = type.includes(';') ? [type] : [type, `${type.split('/', 1)[0]}/*`, '*/*'];
  for (const name of matching) {
    // A type that is listed twice has the higher of its weights.
    const [best] = ranges.filter((range) => range.type === name).sort(byWeight);
    if (best?.weight === 0) return [];
    if (best !== undefined) return [{ ...best, format, isNamed: name === type }];
  }
  return [];
}

function byWeight(one: MediaRange, other: MediaRange): number {
  return other.weight - one.weight;
}

/** Sorts by weight. Types that are named precede wildcards, then the order of the header counts. */
function byPreference(one: Ranked, other: Ranked): number {
  return byWeight(one, other) || Number(other.isNamed) - Number(one.isNamed) || one.at - other.at;
}
