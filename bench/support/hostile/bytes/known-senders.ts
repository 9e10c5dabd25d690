import type { Part, Sender } from './sender.ts';

const CONTINUATION = 0;
export const TEXT = 1;
const PING = 9;

export function frame(more: Partial<Part & { kind: 'frame' }> = {}): Part {
  const usual = { opcode: TEXT, isLast: true, text: '', padding: 0, missing: 0, times: 1 };
  return { kind: 'frame', ...usual, ...more };
}

export function request(lines: string, times = 1): Part {
  return { kind: 'request', lines, times };
}

export const INIT = frame({ text: '{"type":"connection_init"}' });
const JSON_HEAD = 'POST /graphql HTTP/1.1\nhost: a\ncontent-type: application/json';
export const CHUNKED = `${JSON_HEAD}\ntransfer-encoding: chunked`;

const FULL_SPEED = { writeBytes: 65_536, pauseMs: 0, returns: true };

/** What once stopped the service for everybody. The search finds others. */
export const KNOWN_SENDERS: Readonly<Record<string, Sender>> = {
  '650 sockets, one message of 16,000 fragments each': {
    ...FULL_SPEED,
    transport: 'websocket',
    connections: 650,
    first: [
      INIT,
      frame({ isLast: false, text: ' ' }),
      frame({ opcode: CONTINUATION, isLast: false, text: ' ', times: 15_999 }),
    ],
    repeated: [],
  },
  '600 sockets, a message of 250 kB unfinished': {
    ...FULL_SPEED,
    transport: 'websocket',
    connections: 600,
    first: [INIT, frame({ padding: 250_000, missing: 10_000 })],
    repeated: [],
  },
  '30 connections, bodies of 262,000 chunks of a byte': {
    ...FULL_SPEED,
    transport: 'http',
    connections: 30,
    first: [],
    repeated: [
      request(CHUNKED),
      { kind: 'chunk', bytes: 1, times: 262_000 },
      { kind: 'chunk', bytes: 0, times: 1 },
    ],
  },
  '8 sockets, protocol pings, pongs and unknown completes': {
    ...FULL_SPEED,
    transport: 'websocket',
    connections: 8,
    first: [INIT],
    repeated: [
      frame({ text: '{"type":"ping"}', times: 100 }),
      frame({ text: '{"type":"pong"}', times: 100 }),
      frame({ text: '{"type":"complete","id":"none"}', times: 100 }),
    ],
  },
  '8 sockets, WebSocket pings': {
    ...FULL_SPEED,
    transport: 'websocket',
    connections: 8,
    first: [INIT],
    repeated: [frame({ opcode: PING, times: 1_000 })],
  },
  '8 connections, pipelined requests that are refused': {
    ...FULL_SPEED,
    transport: 'http',
    connections: 8,
    first: [],
    repeated: [
      request('GET /nothing HTTP/1.1\nhost: a', 50),
      request('OPTIONS /graphql HTTP/1.1\nhost: a', 50),
      request(`${JSON_HEAD}\ncontent-length: 2\n\n{}`, 50),
    ],
  },
};
