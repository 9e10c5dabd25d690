import { LRUCache } from 'lru-cache';
import type { PartsFormat } from '../../operation/transport-context.ts';
import { FORMATS, type FormatName, isStream, type StreamFormat } from './formats.ts';

/** The formats that an `Accept` header allows for a response. */
export interface Accepted {
  /** The format of one result: a query's, a mutation's or a refusal. */
  readonly single: FormatName;
  /** The format of a subscription's events; null where none is acceptable. */
  readonly events: StreamFormat | null;
  /** The format of an answer in parts; null where one piece is preferred, or no other is acceptable. */
  readonly parts: { readonly format: StreamFormat; readonly spec: PartsFormat } | null;
}

// Plain JSON, as GraphQL over HTTP wants it for clients that do not name the newer type.
const ANYTHING: Accepted = { single: 'json', events: 'events', parts: null };

// Clients send a handful of headers. The caches of hostile ones stay within some 130 kB.
const MAX_KNOWN = 256;
const MAX_KNOWN_LENGTH = 256;
const known = new LRUCache<string, { readonly accepted: Accepted | null }>({ max: MAX_KNOWN });

/** Content negotiation by RFC 9110, 12.5.1; null where no format is acceptable. Short headers are memoized. */
export function negotiated(accept: string | undefined): Accepted | null {
  if (accept === undefined) return ANYTHING;
  const before = known.get(accept);
  if (before !== undefined) return before.accepted;
  const accepted = acceptedBy(accept);
  if (accept.length <= MAX_KNOWN_LENGTH) known.set(accept, { accepted });
  return accepted;
}

/** Whether a `Content-Type` says JSON. Its charset makes no difference: JSON is UTF-8 (RFC 8259). */
export function isJsonType(contentType: string | undefined): boolean {
  return /^application\/json[ \t]*(?:;|$)/i.test(contentType ?? '');
}

const NAMES = Object.keys(FORMATS) as FormatName[];
const PARTS: readonly FormatName[] = ['events', 'deferSpec', 'incrementalSpec'];

function acceptedBy(accept: string): Accepted | null {
  const elements = (accept.match(ELEMENTS) ?? []).filter((element) => element.trim() !== '');
  // An empty list is no preference.
  if (elements.length === 0) return ANYTHING;
  const ranges = elements.map(readRange);
  const ranked = NAMES.flatMap((name) => rankOf(name, ranges) ?? []).sort(byPreference);
  const best = (names: readonly FormatName[]) => ranked.find(({ name }) => names.includes(name));
  const json = best(['json', 'response']);
  const events = best(['events', 'subscriptionSpec']);
  // Parts are for clients that name a format of them, and do not prefer JSON.
  const named = ranked.find(
    ({ name, specificity }) => specificity === NAMED && PARTS.includes(name),
  );
  const parts =
    named && isStream(named.name) && !(json && json.weight > named.weight)
      ? { format: named.name, spec: named.spec }
      : null;
  // A single result is JSON, unless a stream has a higher weight.
  const single = json && !(events && events.weight > json.weight) ? json : events;
  const name = single?.name ?? parts?.format;
  if (name === undefined) return null;
  return { single: name, events: (events?.name ?? null) as StreamFormat | null, parts };
}

/** One element of the header. */
interface MediaRange {
  /** Of `multipart/mixed` with the parameter that tells its kinds apart. */
  readonly type: string;
  /** The proposal by which it wants parts. */
  readonly spec: PartsFormat;
  /** Of two ranges that match, the more specific one counts. */
  readonly specificity: number;
  readonly weight: number;
  readonly at: number;
}

interface Ranked extends MediaRange {
  readonly name: FormatName;
}

// The parts of a list, whose separators may stand in quoted strings as well.
const ELEMENTS = /(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g;
const PARAMETERS = /(?:[^;"]|"(?:\\.|[^"\\])*"?)+/g;
const SPEC = /^(?:subscription|defer|incremental)Spec$/i;
const ANY_TYPE = 0;
const ANY_SUBTYPE = 1;
const NAMED = 2;

/** The range that decides about a format; null where the format is not acceptable. */
function rankOf(name: FormatName, ranges: readonly MediaRange[]): Ranked | null {
  const type = FORMATS[name].type.toLowerCase();
  // A client that does not name a kind of `multipart/mixed` cannot read it.
  const isMultipart = type.startsWith('multipart/');
  const matching = isMultipart ? [type] : [type, `${type.split('/', 1)[0]}/*`, '*/*'];
  const [best] = ranges
    .filter((range) => matching.includes(range.type))
    // A type that comes twice has the higher of its weights.
    .sort((one, other) => other.specificity - one.specificity || other.weight - one.weight);
  return best === undefined || best.weight === 0 ? null : { ...best, name };
}

/** By weight, then types that are named before wildcards, then in the order of the header. */
function byPreference(one: Ranked, other: Ranked): number {
  return other.weight - one.weight || other.specificity - one.specificity || one.at - other.at;
}

function readRange(element: string, at: number): MediaRange {
  const [name = '', ...parameters] = element.match(PARAMETERS) ?? [];
  const written = name.trim().toLowerCase();
  // Java's HttpURLConnection sends the short form.
  const whole = written === '*' ? '*/*' : written;
  let weight = 1;
  // A client that names no version gets the one that most clients read.
  let spec = 'deferspec=20220824';
  for (const parameter of parameters) {
    const [key = '', value = ''] = parameter.split('=', 2).map((part) => part.trim());
    if (key.toLowerCase() === 'q') weight = readWeight(value);
    if (SPEC.test(key)) spec = `${key.toLowerCase()}=${value.replaceAll('"', '')}`;
  }
  return {
    type: whole === 'multipart/mixed' ? `${whole};${spec}` : whole,
    spec: spec === 'incrementalspec=v0.2' ? 'incrementalSpec' : 'deferSpec',
    specificity: whole === '*/*' ? ANY_TYPE : whole.endsWith('/*') ? ANY_SUBTYPE : NAMED,
    weight,
    at,
  };
}

/** A weight that cannot be read counts as left out, which is 1. */
function readWeight(text: string): number {
  return /^(?:0?\.\d+|0\.?|1\.?0*)$/.test(text) ? Number(text) : 1;
}
