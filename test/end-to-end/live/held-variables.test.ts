import { expect, test } from 'vitest';
import { heldBytes } from '../../support/heap.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { initializedSocket } from './raw-socket.ts';
import { CHANGES } from './watcher.ts';

const app = sharedApp();

test('subscriptions hold no variables that their documents do not define', async () => {
  using socket = await initializedSocket(app, app.sandbox.token({ email: 'demo@example.com' }));
  await socket.watch('first');
  const before = heldBytes();
  for (let at = 0; at < 40; at += 1) {
    socket.subscribe(`${at}`, CHANGES, { unused: `${at}`.repeat(50_000) });
    await socket.until(`${at}`, 'next');
  }
  expect(heldBytes() - before).toBeLessThan(2_000_000);
  expect(socket.closed).toBeNull();
});
