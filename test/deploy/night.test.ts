import { describe, expect, test } from 'vitest';
import { describeWithPrometheus } from '../support/describe-with.ts';
import { hastened, readRules, timesOf } from '../support/night/prometheus.ts';
import { rehearse } from '../support/night/rehearse.ts';
import { SCENES } from '../support/night/scenes.ts';

/** A minute of the rules is a second here; `npm run night` takes its time. */
const HASTENED_BY = 60;

describeWithPrometheus('a real Prometheus', (prometheusPath) => {
  test.concurrent.each([
    ['One backend fails, the payments'],
    ['A wrong path in `GATEWAY_URL`'],
    ['The process is gone'],
  ])('tells of the fault, and that it is over: %s', async (wanted) => {
    const scene = SCENES.find(({ title }) => title === wanted);
    if (scene === undefined) throw new Error(`there is no scene "${wanted}"`);
    const { problems, alerts, resolvedAfter } = await rehearse(scene, {
      prometheusPath,
      redisServerPath: null,
      hastenedBy: HASTENED_BY,
      accounts: 20,
      requestsPerSecond: 10,
      calmMs: 2_000,
      withinMs: 40_000,
    });
    expect(problems).toEqual([]);
    expect(alerts.map(({ name }) => name)).toEqual(scene.alerts);
    expect(resolvedAfter).toBeGreaterThan(0);
  });
});

describe('the rules of a rehearsal', () => {
  test('differ from those of the file in their times alone', async () => {
    const rules = await readRules();
    const quick = hastened(rules, HASTENED_BY);
    const times = /(for: |\[)\d+(?:ms|s|m|h)/g;
    expect(quick.replaceAll(times, '$1')).toBe(rules.replaceAll(times, '$1'));
    expect(quick).toContain('[60000ms]');
    expect(quick).not.toMatch(/(for: |\[)\d+[smh](?!s)/);
    expect(timesOf(rules, 'TradingGraphSlow')).toBe('for 10m, over 5m');
    expect(timesOf(rules, 'TradingGraphErrorShareFast')).toBe('over 1h, over 5m');
    expect(timesOf(rules, 'TradingGraphOrderStuck')).toBe('');
  });
});
