import { expect, test } from 'vitest';
import { initializedSocket } from '../../end-to-end/live/raw-socket.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';

const app = sharedApp({}, { connections: { pingMs: 50 } });

test('a socket that answers none of five pings is closed, unlike sockets that answer or send messages', async () => {
  using silent = await initializedSocket(app, undefined, { autoPong: false });
  using talking = await initializedSocket(app, undefined, { autoPong: false });
  using calm = await initializedSocket(app);
  let pings = 0;
  calm.socket.on('ping', () => {
    pings += 1;
    talking.send({ type: 'ping' });
  });
  await eventually(() => silent.closed !== null);
  expect(silent.closed).toEqual({ code: 1006, reason: '' });
  const before = pings;
  await eventually(() => expect(pings).toBeGreaterThan(before + 10));
  expect([talking.closed, calm.closed]).toEqual([null, null]);
});
