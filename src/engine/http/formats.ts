import { memo } from '../../lib/caches.ts';

/** The texts around the results of a stream: `begin` once, `head` and `end` around each result, `complete` after the last. */
export interface Framing {
  readonly begin: string;
  readonly head: string;
  readonly end: string;
  readonly complete: string;
  /** A text that clients ignore. It keeps a quiet stream open. */
  readonly ping: string;
}

export interface Format {
  /** The media type as in `Accept`. For `multipart/mixed` it includes the parameter that distinguishes its kinds. */
  readonly type: string;
  readonly contentType: string;
  /** Null for one JSON value. */
  readonly framing: Framing | null;
}

export interface StreamFormat extends Format {
  readonly framing: Framing;
}

const BOUNDARY = '\r\n--graphql';
const PART = '\r\ncontent-type: application/json\r\n\r\n';

function jsonFormat(type: string): Format {
  return { type, contentType: `${type}; charset=utf-8`, framing: null };
}

/** Each part ends with the next boundary, because a client reads a part only when that has arrived. */
function multipart(spec: string, before = '', after = '', ping = ''): StreamFormat {
  return {
    type: `multipart/mixed;${spec.toLowerCase()}`,
    contentType: `multipart/mixed;boundary="graphql";${spec}`,
    framing: {
      begin: BOUNDARY,
      head: PART + before,
      end: after + BOUNDARY,
      complete: '--\r\n',
      ping,
    },
  };
}

export const FORMATS = {
  response: jsonFormat('application/graphql-response+json'),
  json: jsonFormat('application/json'),
  /** graphql-sse's protocol in its distinct connections mode; a ping is a comment. */
  events: {
    type: 'text/event-stream',
    contentType: 'text/event-stream',
    framing: {
      begin: '',
      head: 'event: next\ndata: ',
      end: '\n\n',
      complete: 'event: complete\ndata:\n\n',
      ping: ':\n\n',
    },
  },
  /** Apollo's protocol for subscriptions over HTTP. */
  subscriptionSpec: multipart('subscriptionSpec=1.0', '{"payload":', '}', `${PART}{}${BOUNDARY}`),
  /** Answers in parts, by the proposal of 2022 and by the current one. */
  deferSpec: multipart('deferSpec=20220824'),
  incrementalSpec: multipart('incrementalSpec=v0.2'),
} as const;

/** The formats that an `Accept` header allows for a response. */
export interface Accepted {
  /** The format of one result: of a query, a mutation or a refusal. */
  readonly single: Format;
  /** The format of a subscription's events; null if none is acceptable. */
  readonly events: StreamFormat | null;
  /** The format of an answer in parts; null if the client prefers one piece, or accepts no such format. */
  readonly parts: StreamFormat | null;
}

const { response, json, events, subscriptionSpec, deferSpec, incrementalSpec } = FORMATS;
// Plain JSON: GraphQL over HTTP requires it for clients that do not name the newer type.
const ANYTHING: Accepted = { single: json, events, parts: null };

// Clients send only a handful of different headers.
const MAX_KNOWN = 100;
const known = new Map<string, Accepted | null>();

/** Content negotiation by RFC 9110, 12.5.1. Null if no format is acceptable. */
export function negotiated(accept: string | undefined): Accepted | null {
  if (accept === undefined) return ANYTHING;
  if (known.size > MAX_KNOWN) known.clear();
  return memo(known, accept, acceptedBy);
}

/** Whether a `Content-Type` is JSON. Its charset makes no difference: JSON is UTF-8 (RFC 8259). */
export function isJsonType(contentType: string | undefined): boolean {
  return /^application\/json[ \t]*(?:;|$)/i.test(contentType ?? '');
}

const MAX_ELEMENTS = 100;
/** A quoted value, which may contain separators. */
const QUOTED = /"((?:\\.|[^"\\])*)"?/g;
/** The parameter that distinguishes the kinds of `multipart/mixed`. */
const SPEC = /^(?:subscription|defer|incremental)spec=/;
// A client that names no kind gets the one that most clients read.
const COMMON_SPEC = 'deferspec=20220824';

/** The weights of media types and wildcards. The type of `multipart/mixed` includes the parameter of its kind. */
type Weights = ReadonlyMap<string, number>;

function acceptedBy(accept: string): Accepted | null {
  const weights = weightsIn(accept);
  // An empty list expresses no preference.
  if (weights.size === 0) return ANYTHING;
  const weight = (format: Format) => weightOf(format, weights);
  // If weights are equal, the first in the list is chosen.
  const best = <Kind extends Format>(formats: readonly Kind[]): Kind | null =>
    formats
      .filter((format) => weight(format) > 0)
      .sort((one, other) => weight(other) - weight(one))[0] ?? null;
  // The formats of parts carry a single result only if nothing else is accepted.
  const single: Format | null =
    best([response, json, events, subscriptionSpec]) ?? best([deferSpec, incrementalSpec]);
  if (single === null) return null;
  // Parts are for clients that name one of their formats and do not prefer JSON.
  const preferred = [events, deferSpec, incrementalSpec].filter(
    (format) => weights.has(format.type) && weight(format) >= weight(single),
  );
  return { single, events: best([events, subscriptionSpec]), parts: best(preferred) };
}

/** A type that is listed twice has the higher of its weights. */
function weightsIn(accept: string): Weights {
  const weights = new Map<string, number>();
  const unquoted = accept.replace(QUOTED, (_, value: string) => value.replace(/[,;]/g, ''));
  for (const element of unquoted.toLowerCase().split(',', MAX_ELEMENTS)) {
    const [essence = '', ...params] = element.split(';').map((part) => part.trim());
    if (essence === '') continue;
    const spec = params.find((param) => SPEC.test(param)) ?? COMMON_SPEC;
    const type = essence === 'multipart/mixed' ? `${essence};${spec}` : essence;
    const given = Number(params.find((param) => param.startsWith('q='))?.slice(2) ?? 1);
    // A weight that cannot be read is ignored.
    const weight = given >= 0 && given <= 1 ? given : 1;
    weights.set(type, Math.max(weight, weights.get(type) ?? 0));
  }
  return weights;
}

/** The weight of the most specific range. A wildcard matches only the formats that every client can read. */
function weightOf(format: Format, weights: Weights): number {
  const { type } = format;
  const named = weights.get(type);
  if (named !== undefined) return named;
  const matchesWildcards = format === json || format === events;
  if (!matchesWildcards) return 0;
  const [group] = type.split('/', 1);
  return weights.get(`${group}/*`) ?? weights.get('*/*') ?? 0;
}
