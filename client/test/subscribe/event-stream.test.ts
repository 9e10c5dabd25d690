import { expect, test } from 'vitest';
import { EventStreamReader } from '../../src/subscribe/event-stream.ts';

const TEXT =
  ':\n\nevent: next\ndata: {"a":"é€😀"}\n\nevent: next\r\ndata: 1\r\ndata: 2\r\nid: 7\r\n\r\ndata:x\n\nevent: complete\ndata:\n\n';
const EVENTS = [
  { event: 'next', data: '{"a":"é€😀"}' },
  { event: 'next', data: '1\n2' },
  { event: 'message', data: 'x' },
  { event: 'complete', data: '' },
];

test.each([1, 2, 3, 7, 1_000])('events come whole out of pieces of %i bytes', (size) => {
  const reader = new EventStreamReader();
  const bytes = new TextEncoder().encode(TEXT);
  const found = [];
  for (let at = 0; at < bytes.length; at += size) {
    found.push(...reader.read(bytes.subarray(at, at + size)));
  }
  expect(found).toEqual(EVENTS);
});
