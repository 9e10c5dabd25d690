import { describe, expect, test } from 'vitest';
import { FillForecast } from '../../src/store/fill-forecast.ts';
import { FullestAccounts } from '../../src/store/fullest-accounts.ts';
import { RECORD_LIFE_MS } from '../../src/store/order-records.ts';

const DAY = RECORD_LIFE_MS / 1_000;

describe('the time until a store is full', () => {
  const begin = () => {
    let nowMs = 0;
    const forecast = new FillForecast({ now: () => nowMs }, 1_000);
    return (minutes: number, held: number) => {
      nowMs += minutes * 60_000;
      return forecast.secondsLeft(held);
    };
  };

  test('follows the growth of the last quarter of an hour', () => {
    const later = begin();
    expect(later(0, 100)).toBe(DAY);
    expect(later(1, 110)).toBe((890 / 10) * 60);
    expect(later(9, 200)).toBe((800 / 100) * 600);
    for (let minute = 0; minute < 14; minute += 1) later(1, 200);
    // What grew before is over.
    expect(later(1, 200)).toBe(DAY);
    expect(later(1, 400)).toBe((600 / 200) * 900);
  });

  test('is none when it is full, and a day while it does not grow', () => {
    const later = begin();
    later(0, 500);
    expect(later(5, 400)).toBe(DAY);
    expect(later(5, 501)).toBe(DAY);
    expect(later(1, 1_000)).toBe(0);
    expect(later(60, 1_001)).toBe(0);
  });
});

describe('the fullest accounts', () => {
  test('are counted together, each as it was last seen', () => {
    const fullest = new FullestAccounts({ now: () => 0 });
    for (const [login, held] of [
      ['1', 7],
      ['2', 30],
      ['1', 8],
      ['3', 20],
    ] as const) {
      fullest.observe(login, held);
    }
    expect([1, 2, 3, 100].map((count) => fullest.held(count))).toEqual([30, 50, 58, 58]);
  });

  test('are kept though thousands of others trade once, and forgotten after a day', () => {
    let nowMs = 0;
    const fullest = new FullestAccounts({ now: () => nowMs });
    fullest.observe('full', 5_000);
    for (let n = 0; n < 9_000; n += 1) fullest.observe(`other ${n}`, 1);
    expect(fullest.held(1)).toBe(5_000);
    expect(fullest.held(10_000)).toBeLessThanOrEqual(5_000 + 2_000);
    nowMs = RECORD_LIFE_MS;
    expect(fullest.held(100)).toBe(0);
  });
});
