import { pick, type Random } from '../../../../src/sandbox/random.ts';
import { CHUNKED, frame, INIT, request, TEXT } from './known-senders.ts';
import type { Part, Sender } from './sender.ts';

const CONNECTIONS = [1, 8, 30, 200, 600];
const WRITES = [1, 7, 100, 1_400, 16_384, 65_536];
const PAUSES = [0, 0, 0, 1, 10, 100];
const TIMES = [1, 10, 64, 1_000, 16_000];
const SIZES = [0, 1, 100, 1_000, 16_000, 250_000];
const OPCODES = [0, 1, 1, 2, 9, 10];
const MESSAGES = [
  '',
  ' ',
  '{"type":"ping"}',
  '{"type":"pong"}',
  '{"type":"complete","id":"1"}',
  '{"type":"subscribe","id":"1","payload":{"query":"{ __typename }"}}',
  '{"type":"subscribe","id":"2","payload":{"query":"{ nothing }"}}',
  '{',
];
const HEADS = [
  'GET /nothing HTTP/1.1\nhost: a',
  'OPTIONS /graphql HTTP/1.1\nhost: a',
  'HEAD /graphql HTTP/1.1\nhost: a',
  'GET /graphql?query={__typename} HTTP/1.1\nhost: a',
  'GET /health/ready HTTP/1.1\nhost: a',
  'POST /graphql HTTP/1.1\nhost: a\ncontent-type: application/json\ncontent-length: 26\n\n{"query":"{ __typename }"}',
  'POST /graphql HTTP/1.1\nhost: a\ncontent-type: application/json\ncontent-length: 250000',
  'POST /graphql HTTP/1.1\nhost: a\ncontent-type: text/plain\ncontent-length: 250000',
  `GET /graphql HTTP/1.1\nhost: a\nx-padding: ${'x'.repeat(15_000)}`,
];
// More would take longer to make than to send.
const LARGEST_PART = 4_000_000;

/** Makes up senders from what TCP, HTTP and WebSocket allow, and changes them. */
export class SenderComposer {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  compose(): Sender {
    const transport = this.#one(['websocket', 'http'] as const);
    return {
      transport,
      connections: this.#one(CONNECTIONS),
      first: this.#first(transport),
      repeated: this.#parts(transport, 3),
      writeBytes: this.#one(WRITES),
      pauseMs: this.#one(PAUSES),
      returns: this.#random() < 0.7,
    };
  }

  mutate(sender: Sender): Sender {
    const other = this.compose();
    const name = this.#one(['connections', 'writeBytes', 'pauseMs', 'returns', 'parts'] as const);
    if (name !== 'parts') return { ...sender, [name]: other[name] };
    const { transport, repeated } = sender;
    const more = this.#parts(transport, 1);
    const fewer = repeated.filter(() => this.#random() < 0.7);
    return { ...sender, repeated: this.#random() < 0.5 ? [...repeated, ...more].slice(-4) : fewer };
  }

  #first(transport: Sender['transport']): Part[] {
    const some = this.#random() < 0.5 ? this.#parts(transport, 2) : [];
    return transport === 'websocket' ? [INIT, ...some] : some;
  }

  #parts(transport: Sender['transport'], most: number): Part[] {
    const count = Math.floor(this.#random() * (most + 1));
    return Array.from({ length: count }, () => bounded(this.#part(transport)));
  }

  #part(transport: Sender['transport']): Part {
    const times = this.#one(TIMES);
    if (transport === 'websocket') {
      const missing = this.#random() < 0.2 ? this.#one(SIZES) : 0;
      const [text, padding] = [this.#one(MESSAGES), this.#random() < 0.3 ? this.#one(SIZES) : 0];
      const opcode = text === '' || this.#random() < 0.3 ? this.#one(OPCODES) : TEXT;
      return frame({ opcode, text, padding, missing, isLast: this.#random() < 0.7, times });
    }
    const kind = this.#random();
    if (kind < 0.3) return { kind: 'chunk', bytes: this.#one(SIZES), times };
    return kind < 0.5 ? request(CHUNKED) : request(this.#one(HEADS), times);
  }

  #one<T>(values: readonly T[]): T {
    return pick(this.#random, values);
  }
}

function bounded(part: Part): Part {
  const each =
    part.kind === 'frame'
      ? part.text.length + part.padding + 10
      : part.kind === 'chunk'
        ? part.bytes + 6
        : part.lines.length;
  return { ...part, times: Math.max(1, Math.min(part.times, Math.floor(LARGEST_PART / each))) };
}
