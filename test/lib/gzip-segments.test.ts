import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { GzipSegments, PackedText } from '../../src/lib/packed-text.ts';

test('packed and stored pieces are one gzip stream, whose checksum holds', async () => {
  const texts = ['Привет, 世界 🐟 '.repeat(100), 'x'.repeat(70_000)];
  const one = PackedText.of(texts[0] as string);
  const two = await PackedText.ofLarge([Buffer.from(texts[1] as string), Buffer.from('🐟')]);
  for (const pieces of [[], [one, 'ä', two, ':', one]] as const) {
    const gzip = new GzipSegments();
    const parts = pieces.map((piece) =>
      typeof piece === 'string' ? gzip.stored(Buffer.from(piece)) : gzip.packed(piece),
    );
    const stream = Buffer.concat([gzip.begin(), ...parts, gzip.end()]);
    expect(gunzipSync(stream).toString()).toBe(
      pieces.length === 0 ? '' : `${texts[0]}ä${texts[1]}🐟:${texts[0]}`,
    );
  }
});
