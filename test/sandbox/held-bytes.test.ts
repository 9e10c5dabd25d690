import { expect, test } from 'vitest';
import { VALUE } from '../../src/gateway/operations/set-value.ts';
import { heldBytes } from '../support/heap.ts';
import { openSandbox } from './sandbox-client.ts';

const REQUESTS = 60;
const VALUE_BYTES = 1_000_000;

test('only a small part of large requests and stored values is kept in memory', async () => {
  await using place = await openSandbox();
  const demo = place.as('demo@example.com');
  const store = (key: string) =>
    demo.ask('setValue', VALUE.toWire({ value: 'x'.repeat(VALUE_BYTES) }), { key });
  await store('first');
  const before = heldBytes();
  for (let i = 0; i < REQUESTS; i += 1) expect((await store(`key-${i}`)).status).toBe(200);
  expect(heldBytes() - before).toBeLessThan((REQUESTS * VALUE_BYTES) / 4);
});
