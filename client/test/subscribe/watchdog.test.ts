import { expect, test } from 'vitest';
import { createScriptedClock } from '../../../test/support/scripted-clock.ts';
import { Watchdog } from '../../src/subscribe/watchdog.ts';
import { countedEnvironment } from '../support/counted-environment.ts';

function watch({ heartbeatMs = 15_000, canAsk = true } = {}) {
  const clock = createScriptedClock();
  const watched = { asked: 0, deaths: 0, asleepMs: 0 };
  const environment = countedEnvironment({
    now: () => clock.now() + watched.asleepMs,
    uptime: clock.now,
    after: clock.after,
  });
  const ask = () => {
    watched.asked += 1;
  };
  const onDead = () => {
    watched.deaths += 1;
  };
  const watchdog = new Watchdog({ environment, heartbeatMs, ...(canAsk && { ask }), onDead });
  return { clock, watched, watchdog, environment };
}

test.each([
  [15, true, 0],
  [60, false, 0],
  [15, true, -3_600_000],
])(
  'with a heartbeat of %i s a line is dead 10 s after one that did not come (asks: %j), also where the clock is set by %i ms',
  async (s, canAsk, setMs) => {
    const { clock, watched } = watch({ heartbeatMs: s * 1_000, canAsk });
    watched.asleepMs += setMs;
    await clock.advance((s + 5) * 1_000 - 1);
    expect(watched.asked).toBe(0);
    await clock.advance(1);
    expect(watched.asked).toBe(canAsk ? 1 : 0);
    await clock.advance(4_999);
    expect(watched.deaths).toBe(0);
    await clock.advance(1);
    expect(watched.deaths).toBe(1);
  },
);

test('one that answers, or over which events come, is not, however long it lasts', async () => {
  const { clock, watched, watchdog, environment } = watch();
  await clock.advance(20_000);
  expect(watched.asked).toBe(1);
  watchdog.heard();
  for (let round = 0; round < 100; round += 1) {
    await clock.advance(19_000);
    watchdog.heard();
  }
  await clock.advance(19_000);
  expect(watched).toMatchObject({ asked: 1, deaths: 0 });
  watchdog.stop();
  expect(environment.pending).toBe(0);
});

test('an event stream of which nothing can be asked is not doubted by a return', async () => {
  const { clock, watched, watchdog } = watch({ canAsk: false });
  await clock.advance(14_000);
  expect(watchdog.check()).toBe(true);
  await clock.advance(10_999);
  expect(watched.deaths).toBe(0);
  await clock.advance(1);
  expect(watched.deaths).toBe(1);
});
