import { expect, test } from 'vitest';
import { FairScheduler } from '../../../src/lib/fair-scheduler.ts';
import { PackedText } from '../../../src/lib/packed-text.ts';
import { packResult } from '../../../src/plugins/live/delivery.ts';

const TEXT = JSON.stringify({ text: 'x'.repeat(2_000) });

test('results are packed at once, and in turns of their own where the slice is over', async () => {
  const scheduler = new FairScheduler(0);
  const first = packResult(TEXT, scheduler, 'a');
  const second = packResult(TEXT, scheduler, 'b');
  expect(first).toBeInstanceOf(PackedText);
  expect(second).toBeInstanceOf(Promise);
  expect((await second) as PackedText).toEqual(first);
});

test('a short result stays as it is, and so it does where it came in chunks', () => {
  const scheduler = new FairScheduler(0);
  const chunks = [Buffer.from('{}')];
  for (const text of ['{}', chunks]) expect(packResult(text, scheduler, 'a')).toBe(text);
});

test('a large one is packed off the event loop', async () => {
  const large = JSON.stringify({ text: 'x'.repeat(100_000) });
  const scheduler = new FairScheduler();
  for (const text of [large, [Buffer.from(TEXT)]]) {
    const packing = packResult(text, scheduler, 'a');
    expect(packing).toBeInstanceOf(Promise);
    expect((await packing) as PackedText).toBeInstanceOf(PackedText);
  }
});
