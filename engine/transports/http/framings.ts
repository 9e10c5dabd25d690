import {
  DEFERRED,
  EVENT_STREAM,
  INCREMENTAL,
  type MediaType,
  MULTIPART,
  type StreamType,
} from './negotiation.ts';

/** The bytes around the results of a stream. */
export interface Framing {
  readonly contentType: string;
  readonly begin: Buffer;
  readonly head: Buffer;
  readonly end: Buffer;
  readonly complete: Buffer;
  /** Ignored by clients. */
  readonly ping: Buffer;
}

const BOUNDARY = '\r\n--graphql';
const PART = '\r\ncontent-type: application/json\r\n\r\n';

/** Results in parts: clients read a part when the boundary behind it has come. */
function ofParts(spec: string): Framing {
  return {
    contentType: `multipart/mixed;boundary="graphql";${spec}`,
    begin: Buffer.from(BOUNDARY),
    head: Buffer.from(PART),
    end: Buffer.from(BOUNDARY),
    complete: Buffer.from('--\r\n'),
    ping: Buffer.alloc(0),
  };
}

export const FRAMINGS: Readonly<Record<StreamType, Framing>> = {
  // This is graphql-sse's protocol in its distinct connections mode; a ping is a comment.
  [EVENT_STREAM]: {
    contentType: EVENT_STREAM,
    begin: Buffer.alloc(0),
    head: Buffer.from('event: next\ndata: '),
    end: Buffer.from('\n\n'),
    complete: Buffer.from('event: complete\ndata:\n\n'),
    ping: Buffer.from(':\n\n'),
  },
  // This is Apollo's protocol.
  [MULTIPART]: {
    ...ofParts('subscriptionSpec=1.0'),
    head: Buffer.from(`${PART}{"payload":`),
    end: Buffer.from(`}${BOUNDARY}`),
    ping: Buffer.from(`${PART}{}${BOUNDARY}`),
  },
  [DEFERRED]: ofParts('deferSpec=20220824'),
  [INCREMENTAL]: ofParts('incrementalSpec=v0.2'),
};

export function isStream(media: MediaType): media is StreamType {
  return media in FRAMINGS;
}
