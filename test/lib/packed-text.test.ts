import { inflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { PackedText, storedBlocks } from '../../src/lib/packed-text.ts';

// An empty final block.
const END = Buffer.from([0x03, 0x00]);

function unpacked(...segments: readonly Buffer[]): string {
  return inflateRawSync(Buffer.concat([...segments, END])).toString();
}

test('segments unpack in any order and number, between stored blocks', async () => {
  const text = 'Привет, 世界 🐟 '.repeat(100);
  const one = PackedText.of(text);
  const two = await PackedText.ofLarge([Buffer.from('x'.repeat(70_000)), Buffer.from('🐟')]);
  const three = await PackedText.ofLarge('y'.repeat(70_000));
  const between = storedBlocks(Buffer.from('ä'));
  const none = storedBlocks(Buffer.alloc(0));
  expect(unpacked(one.segment, between, two.segment, none, one.segment, three.segment)).toBe(
    `${text}ä${'x'.repeat(70_000)}🐟${text}${'y'.repeat(70_000)}`,
  );
});

test('stored blocks hold any number of bytes', () => {
  for (const length of [1, 65_535, 65_536, 200_000]) {
    const text = 'z'.repeat(length);
    expect(unpacked(storedBlocks(Buffer.from(text))) === text).toBe(true);
  }
});

test('what is packed is over a kilobyte, and large ones are left to the thread pool', () => {
  const texts = ['x'.repeat(1_024), 'ä'.repeat(513), 'x'.repeat(65_536), 'x'.repeat(65_537)];
  expect(texts.map((text) => PackedText.isWorthwhile(text))).toEqual([false, true, true, true]);
  expect(texts.map((text) => PackedText.isLarge(text))).toEqual([false, false, false, true]);
  expect(PackedText.isWorthwhile([Buffer.alloc(1_024)])).toBe(false);
  expect(PackedText.isLarge([Buffer.alloc(1)])).toBe(true);
});
