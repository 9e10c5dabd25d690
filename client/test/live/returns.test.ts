import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { Audience, startLiveWorld } from './live-world.ts';

test('an app that is hidden lets go of its line, and goes on from its cursor on return', async () => {
  await using world = await startLiveWorld();
  const { positions, environment, core } = world.device({ hiddenSeconds: 0.05 });
  const live = new Audience();
  const end = positions(live.listener);
  await eventually(() => live.isLive);
  environment.hide();
  await eventually(() => live.last?.status === 'OFFLINE' && world.proxy.openLines === 0);
  const shown = live.last?.positions;
  expect(shown?.length).toBeGreaterThan(0);
  world.sandbox.tick();
  environment.show();
  await eventually(() => live.isLive && live.last?.positions !== shown);
  expect(core.begun).toBe(1);
  expect(core.sent.at(-1)).toMatchObject({ after: expect.any(String) });
  end();
  await eventually(() => environment.pending === 0);
});

test('a real line that stalls is replaced on return, and the list goes on from its cursor', async () => {
  await using world = await startLiveWorld();
  let asleepMs = 0;
  const { positions, environment, core } = world.device({
    time: {
      now: () => Date.now() + asleepMs,
      uptime: () => performance.now(),
      after(ms, task) {
        const timer = setTimeout(task, ms);
        return () => clearTimeout(timer);
      },
    },
  });
  const live = new Audience();
  positions(live.listener);
  await eventually(() => live.isLive);
  world.proxy.stall();
  world.sandbox.tick();
  asleepMs = 60_000;
  environment.show();
  expect(live.last?.status).toBe('OFFLINE');
  const shown = live.last?.positions;
  world.proxy.heal();
  await eventually(() => live.isLive && live.last?.positions !== shown);
  expect(core.begun).toBe(1);
  expect(core.sent).toHaveLength(2);
  expect(core.sent[1]).toMatchObject({ after: expect.any(String) });
});
