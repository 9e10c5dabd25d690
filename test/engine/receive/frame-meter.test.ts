import { expect, test } from 'vitest';
import * as ws from 'ws';
import { FrameMeter } from '../../../engine/receive/frame-meter.ts';

interface Shape {
  readonly opcode: number;
  readonly fin: boolean;
  readonly size: number;
}

const TEXT = 1;
const CONTINUATION = 0;
const PONG = 10;

// The types of `ws` lack it.
const { Sender } = ws as unknown as {
  readonly Sender: { frame(data: Buffer, options: object): Buffer[] };
};

/** Frames as `ws` writes them for a client. */
function frames(shapes: readonly Shape[]): Buffer {
  const parts = shapes.flatMap(({ opcode, fin, size }) =>
    Sender.frame(Buffer.alloc(size, 'x'), {
      fin,
      opcode,
      mask: true,
      readOnly: false,
      rsv1: false,
    }),
  );
  return Buffer.concat(parts);
}

const SHAPES: readonly Shape[] = [
  { opcode: TEXT, fin: true, size: 0 },
  { opcode: TEXT, fin: true, size: 125 },
  { opcode: TEXT, fin: false, size: 126 },
  { opcode: PONG, fin: true, size: 3 },
  { opcode: CONTINUATION, fin: false, size: 65_535 },
  { opcode: CONTINUATION, fin: true, size: 65_536 },
  { opcode: TEXT, fin: true, size: 200_000 },
];

function ends(bytes: Buffer, chunkBytes: number): { ends: number[]; meter: FrameMeter } {
  const meter = new FrameMeter();
  const found: number[] = [];
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    const chunk = bytes.subarray(start, start + chunkBytes);
    for (let at = 0; at < chunk.length; ) {
      const before = meter.frames;
      const next = meter.next(chunk, at);
      if (next <= at) throw new Error(`the meter stays at byte ${start + at}`);
      at = next;
      if (meter.frames > before) found.push(start + at);
    }
  }
  return { ends: found, meter };
}

test.each([1, 2, 3, 7, 1_000, 10_000_000])(
  'it finds the ends of frames in parts of %i bytes',
  (chunkBytes) => {
    const bytes = frames(SHAPES);
    const expected = SHAPES.map((_shape, at) => frames(SHAPES.slice(0, at + 1)).length);
    const found = ends(bytes, chunkBytes);
    expect(found.ends).toEqual(expected);
    expect(found.meter).toMatchObject({ frames: 7, messages: 4, unfinishedBytes: 0 });
  },
);

test('what is unfinished is counted until the last fragment, whatever control frames come in between', () => {
  const { meter } = ends(frames(SHAPES.slice(2, 5)), 1_000);
  expect(meter.unfinishedBytes).toBeGreaterThan(126 + 65_535);
  meter.next(frames([SHAPES[3] as Shape]), 0);
  expect(meter.unfinishedBytes).toBeGreaterThan(126 + 65_535);
  const last = frames([SHAPES[5] as Shape]);
  meter.next(last.subarray(0, 10), 0);
  const before = meter.unfinishedBytes;
  meter.next(last.subarray(10, 1_010), 0);
  expect(meter.unfinishedBytes - before).toBeGreaterThanOrEqual(1_000);
  meter.next(last.subarray(1_010), 0);
  expect(meter.unfinishedBytes).toBe(0);
});

test('a fragment of one byte counts what it costs', () => {
  const { meter } = ends(frames([{ opcode: TEXT, fin: false, size: 1 }]), 100);
  expect(meter.unfinishedBytes).toBeGreaterThan(200);
});
