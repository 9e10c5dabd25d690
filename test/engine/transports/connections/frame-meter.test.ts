import { expect, test } from 'vitest';
import * as ws from 'ws';
import { FrameMeter } from '../../../../engine/transports/connections/frame-meter.ts';
import { OPCODES } from '../../../support/websocket-frames.ts';

const { text, continuation, pong } = OPCODES;

// The types of `ws` lack it.
const { Sender } = ws as unknown as {
  readonly Sender: { frame(data: Buffer, options: object): Buffer[] };
};

/** A frame as `ws` writes it for a client. */
function frame(opcode: number, fin: boolean, size: number): Buffer {
  const options = { fin, opcode, mask: true, readOnly: false, rsv1: false };
  return Buffer.concat(Sender.frame(Buffer.alloc(size, 'x'), options));
}

const FRAMES = [
  frame(text, true, 0),
  frame(text, true, 125),
  frame(text, false, 126),
  frame(pong, true, 3),
  frame(continuation, false, 65_535),
  frame(continuation, true, 65_536),
  frame(text, true, 200_000),
];

test.each([1, 2, 7, 1_000, 10_000_000])(
  'it finds the ends of frames in parts of %i bytes',
  (chunkBytes) => {
    const bytes = Buffer.concat(FRAMES);
    const meter = new FrameMeter();
    const ends: number[] = [];
    for (let start = 0; start < bytes.length; start += chunkBytes) {
      const chunk = bytes.subarray(start, start + chunkBytes);
      for (let at = 0; at < chunk.length; ) {
        const before = meter.frames;
        const next = meter.next(chunk, at);
        if (next <= at) throw new Error(`the meter stays at byte ${start + at}`);
        at = next;
        if (meter.frames > before) ends.push(start + at);
      }
    }
    let end = 0;
    expect(ends).toEqual(FRAMES.map(({ length }) => (end += length)));
    expect(meter).toMatchObject({ frames: 7, messages: 4, unfinishedBytes: 0 });
  },
);

test('what is unfinished is counted by what it costs until the last fragment, whatever control frames come in between', () => {
  const meter = new FrameMeter();
  meter.next(frame(text, false, 1), 0);
  expect(meter.unfinishedBytes).toBeGreaterThan(200);
  meter.next(frame(continuation, false, 65_535), 0);
  const before = meter.unfinishedBytes;
  expect(before).toBeGreaterThan(200 + 65_535);
  meter.next(frame(pong, true, 3), 0);
  expect(meter.unfinishedBytes).toBe(before);
  const last = frame(continuation, true, 65_536);
  meter.next(last.subarray(0, 1_010), 0);
  expect(meter.unfinishedBytes - before).toBeGreaterThanOrEqual(1_000);
  meter.next(last.subarray(1_010), 0);
  expect(meter.unfinishedBytes).toBe(0);
});
