/** The bytes around the results of a stream. */
interface Framing {
  readonly begin: Buffer;
  readonly head: Buffer;
  readonly end: Buffer;
  readonly complete: Buffer;
  /** Ignored by clients. */
  readonly ping: Buffer;
}

/** How a response is written: as one JSON value, or as a stream of them. */
interface Format {
  /** As `Accept` names it; of `multipart/mixed` with the parameter that tells its kinds apart. */
  readonly type: string;
  readonly contentType: string;
  readonly framing: Framing | null;
}

const BOUNDARY = '\r\n--graphql';
const PART = '\r\ncontent-type: application/json\r\n\r\n';

/** Clients read a part when the boundary behind it has come. */
function multipart(spec: string): Format & { readonly framing: Framing } {
  return {
    type: `multipart/mixed;${spec}`,
    contentType: `multipart/mixed;boundary="graphql";${spec}`,
    framing: {
      begin: Buffer.from(BOUNDARY),
      head: Buffer.from(PART),
      end: Buffer.from(BOUNDARY),
      complete: Buffer.from('--\r\n'),
      ping: Buffer.alloc(0),
    },
  };
}

function json(type: string): Format {
  return { type, contentType: `${type}; charset=utf-8`, framing: null };
}

const subscriptionSpec = multipart('subscriptionSpec=1.0');

/** The formats of responses. */
export const FORMATS = {
  json: json('application/json'),
  response: json('application/graphql-response+json'),
  /** graphql-sse's protocol in its distinct connections mode; a ping is a comment. */
  events: {
    type: 'text/event-stream',
    contentType: 'text/event-stream',
    framing: {
      begin: Buffer.alloc(0),
      head: Buffer.from('event: next\ndata: '),
      end: Buffer.from('\n\n'),
      complete: Buffer.from('event: complete\ndata:\n\n'),
      ping: Buffer.from(':\n\n'),
    },
  },
  /** Apollo's protocol for subscriptions over HTTP. */
  subscriptionSpec: {
    ...subscriptionSpec,
    framing: {
      ...subscriptionSpec.framing,
      head: Buffer.from(`${PART}{"payload":`),
      end: Buffer.from(`}${BOUNDARY}`),
      ping: Buffer.from(`${PART}{}${BOUNDARY}`),
    },
  },
  /** Answers in parts, by the proposal of 2022 and by the present one. */
  deferSpec: multipart('deferSpec=20220824'),
  incrementalSpec: multipart('incrementalSpec=v0.2'),
} as const satisfies Readonly<Record<string, Format>>;

type JsonFormat = 'json' | 'response';
export type FormatName = keyof typeof FORMATS;
export type StreamFormat = Exclude<FormatName, JsonFormat>;

export function isStream(name: FormatName): name is StreamFormat {
  return FORMATS[name].framing !== null;
}
