import { LRUCache } from 'lru-cache';
import type { PartsFormat } from '../../operation/transport-context.ts';
import { FORMATS, type FormatName, isStream, type StreamFormat } from './formats.ts';

/** The formats that an `Accept` header allows for a response. */
export interface Accepted {
  /** The format of one result, which is a query's, a mutation's or a refusal. */
  readonly single: FormatName;
  /** The format of a subscription's events; null where none is acceptable. */
  readonly events: StreamFormat | null;
  /** How an answer in parts is sent; null where one piece is liked better, or no other is acceptable. */
  readonly parts: { readonly format: StreamFormat; readonly spec: PartsFormat } | null;
}

// Plain JSON, as GraphQL over HTTP wants it for clients that do not name the newer type.
const ANYTHING: Accepted = { single: 'json', events: 'events', parts: null };

// Clients send a handful of headers. The caches of hostile ones stay within some 130 kB.
const MEMOIZED = 256;
const MEMOIZED_LENGTH = 256;
const known = new LRUCache<string, { readonly accepted: Accepted | null }>({ max: MEMOIZED });

/** Content negotiation by RFC 9110, 12.5.1; null where no format of ours is acceptable. Headers are remembered. */
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
  return /^application\/json[ \t]*(?:;|$)/i.test(contentType ?? '');
}

function acceptedBy(accept: string): Accepted | null {
  const elements = (accept.match(ELEMENTS) ?? []).filter((element) => element.trim() !== '');
  // An empty list is no preference.
  if (elements.length === 0) return ANYTHING;
  const ranges = elements.map(readRange).filter((range) => range !== null);
  const ranked = NAMES.flatMap((name) => rankOf(name, ranges) ?? []).sort(compare);
  const best = (names: readonly FormatName[]) => ranked.find(({ name }) => names.includes(name));
  const json = best(['json', 'response']);
  const events = best(['events', 'subscriptionSpec']);
  // Parts are for those that name a format of them, and do not like JSON better.
  const named = ranked.find(({ name, isNamed }) => isNamed && PARTS.includes(name));
  const parts = named && !(json && json.weight > named.weight) ? partsBy(named) : null;
  const allowed = { events: (events?.name ?? null) as StreamFormat | null, parts };
  // A single result is JSON unless the client says by a weight that it likes a stream better.
  const single = json && !(events && events.weight > json.weight) ? json : events;
  const name = single?.name ?? parts?.format;
  return name === undefined ? null : { single: name, ...allowed };
}

const NAMES = Object.keys(FORMATS) as FormatName[];
const PARTS: readonly FormatName[] = ['events', 'deferSpec', 'incrementalSpec'];

/** One element of the header. */
interface MediaRange {
  /** Of `multipart/mixed` with the parameter that tells its kinds apart. */
  readonly type: string;
  /** The proposal by which it wants parts. */
  readonly spec: PartsFormat;
  /** The higher, the more exactly it names a type; of two that match, the more specific one counts. */
  readonly specificity: number;
  readonly weight: number;
  readonly at: number;
}

interface Ranked extends MediaRange {
  readonly name: FormatName;
  readonly isNamed: boolean;
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
  // Only those that name a kind of `multipart/mixed` can read it.
  const isMultipart = type.startsWith('multipart/');
  const family = isMultipart ? type : `${type.slice(0, type.indexOf('/'))}/*`;
  const any = isMultipart ? type : '*/*';
  const [best] = ranges
    .filter((range) => [type, family, any].includes(range.type))
    // A type that comes twice has the higher of its weights.
    .sort((one, other) => other.specificity - one.specificity || other.weight - one.weight);
  if (best === undefined || best.weight === 0) return null;
  return { ...best, name, isNamed: best.specificity >= NAMED };
}

/** Of two with the same weight a client likes the one better that it names; of two that it names, the first. */
function compare(one: Ranked, other: Ranked): number {
  return (
    other.weight - one.weight || Number(other.isNamed) - Number(one.isNamed) || one.at - other.at
  );
}

function partsBy({ name, spec }: Ranked): Accepted['parts'] {
  return isStream(name) ? { format: name, spec } : null;
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
  let spec = 'deferspec=20220824';
  for (const parameter of parameters) {
    const equals = parameter.indexOf('=');
    const key = parameter.slice(0, Math.max(0, equals)).trim().toLowerCase();
    const value = unquoted(parameter.slice(equals + 1).trim());
    if (key === 'q') weight = readWeight(value);
    if (SPEC.test(key)) spec = `${key}=${value}`;
    if (key !== 'charset') continue;
    if (!/^utf-?8$/i.test(value)) return null;
    specificity += 1;
  }
  return {
    type: whole === 'multipart/mixed' ? `${whole};${spec}` : whole,
    spec: spec === 'incrementalspec=v0.2' ? 'incrementalSpec' : 'deferSpec',
    specificity,
    weight,
    at,
  };
}

/** A weight that is none counts as left out, which is 1. */
function readWeight(text: string): number {
  return /^(?:0?\.\d+|0\.?|1\.?0*)$/.test(text) ? Number(text) : 1;
}

function unquoted(text: string): string {
  return text.startsWith('"') ? text.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1') : text;
}
