/** The texts around the results of a stream: `begin` once, `head` and `end` around each result, `complete` after the last. */
export interface Framing {
  readonly begin: string;
  readonly head: string;
  readonly end: string;
  readonly complete: string;
  /** Ignored by clients. */
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

function json(type: string): Format {
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
  response: json('application/graphql-response+json'),
  json: json('application/json'),
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
