import { gunzipSync, inflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { GzipSegments, PackedText, storedBlocks } from '../../lib/packed-text.ts';

// An empty final block.
const END = Buffer.from([0x03, 0x00]);

function unpacked(...segments: readonly Buffer[]): string {
  return inflateRawSync(Buffer.concat([...segments, END])).toString();
}

test('packed segments unpack in any order and number, between stored ones of any size', async () => {
  const [small, large, stored] = [
    'Привет, 世界 🐟 '.repeat(100),
    'x'.repeat(70_000),
    'z'.repeat(200_000),
  ];
  const one = PackedText.of(small);
  const two = await PackedText.ofLarge([Buffer.from(large), Buffer.from('🐟')]);
  const three = await PackedText.ofLarge(large);
  for (const between of ['', 'ä', 'z'.repeat(65_535), 'z'.repeat(65_536), stored]) {
    const { segment } = one;
    const block = storedBlocks(Buffer.from(between));
    expect(unpacked(segment, block, two.segment, block, segment, three.segment)).toBe(
      `${small}${between}${large}🐟${between}${small}${large}`,
    );
  }
});

test('packed and stored pieces are one gzip stream, whose checksum holds', async () => {
  const text = 'Привет, 世界 🐟 '.repeat(100);
  const one = PackedText.of(text);
  const two = await PackedText.ofLarge(text);
  for (const pieces of [[], [one, 'ä', two, ':', one]] as const) {
    const gzip = new GzipSegments();
    const parts = pieces.map((piece) =>
      typeof piece === 'string' ? gzip.stored(Buffer.from(piece)) : gzip.packed(piece),
    );
    const stream = Buffer.concat([gzip.begin(), ...parts, gzip.end()]);
    expect(gunzipSync(stream).toString()).toBe(
      pieces.length === 0 ? '' : `${text}ä${text}:${text}`,
    );
  }
});
