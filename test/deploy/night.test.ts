import { describe, expect, test } from 'vitest';
import { describeWithPrometheus } from '../support/describe-with.ts';
import { haproxyPath, redisServerPath } from '../support/machine.ts';
import { hastened, readRules, timesOf } from '../support/night/prometheus.ts';
import { rehearse } from '../support/night/rehearse.ts';
import { drawScenes, SCENES } from '../support/night/scenes.ts';
import type { Line } from '../support/night/stage.ts';

/** A minute of the rules is a second here; `npm run night` takes its time. */
const HASTENED_BY = 60;
/** For what is told of the fault, and again for its end. */
const WITHIN_MS = 60_000;

describeWithPrometheus('a night under a real Prometheus', (prometheusPath) => {
  const tools = haproxyPath !== null &&
    redisServerPath !== null && { haproxyPath, redisServerPath };
  test
    .skipIf(!tools)
    .each([
      ['Two builds run at once'],
      ['One backend fails, the payments'],
      ['The catalog has lost a fifth of its instruments'],
    ])(
    'tells of the fault, its cause and its end: %s',
    async (wanted) => {
      if (!tools) throw new Error('it needs haproxy and redis-server');
      const scene = SCENES.find(({ title }) => title === wanted);
      if (scene === undefined) throw new Error(`there is no scene "${wanted}"`);
      const { problems, alerts, lines, reasons, resolvedAfter, evidence } = await rehearse(scene, {
        ...tools,
        prometheusPath,
        seed: wanted,
        hastenedBy: HASTENED_BY,
        accounts: 20,
        requestsPerSecond: 10,
        calmMs: 2_000,
        withinMs: WITHIN_MS,
      });
      expect(problems).toEqual([]);
      for (const cell of [alerts, lines, reasons]) expect(cell.length).toBeGreaterThan(0);
      expect(alerts.map(({ what }) => what)).toEqual(scene.alerts);
      expect(resolvedAfter).toBeGreaterThan(0);
      // The drill hands out all of this, but not the fault that was acted.
      for (const name of scene.alerts) expect(evidence['alerts.txt']).toContain(name);
      const everything = Object.values(evidence).join('\n');
      for (const { fits } of scene.lines) expect(linesOf(everything).some(fits)).toBe(true);
      expect(everything).not.toContain(wanted);
    },
    3 * WITHIN_MS,
  );
});

function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .filter((each) => each.startsWith('{'))
    .map((each) => JSON.parse(each) as Line);
}

describe('the list of faults', () => {
  test('gives the same night to the same seed, and another one to another', () => {
    const night = (seed: string) => drawScenes(SCENES, seed, 6).map(({ title }) => title);
    expect(night('7')).toEqual(night('7'));
    expect(night('8')).not.toEqual(night('7'));
    expect(new Set(drawScenes(SCENES, '7', 100))).toEqual(new Set(SCENES));
  });

  test('leaves no cell of a row empty, and expects only alerts that there are', async () => {
    const rules = await readRules();
    for (const { title, alerts, lines, reasons } of SCENES) {
      for (const cell of [alerts, lines, reasons]) expect(cell.length, title).toBeGreaterThan(0);
      for (const name of alerts) expect(rules).toContain(`- alert: ${name}\n`);
    }
    expect(new Set(SCENES.map(({ title }) => title)).size).toBe(SCENES.length);
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
