import { setInterval } from 'node:timers';
import { setTimeout as delay } from 'node:timers/promises';
import type { LiveContestant } from './live-contestants.ts';
import type { CrowdFigures } from './live-crowd.ts';
import type { LiveGateway } from './live-gateway.ts';

export interface LivePace {
  readonly intervalMs: number;
  readonly warmMs: number;
  readonly windowMs: number;
}

export interface WindowFigures extends CrowdFigures {
  readonly polls: number;
  readonly seconds: number;
  /** Microseconds of CPU in all. */
  readonly cpu: number;
  readonly delayP99Ms: number;
}

/** Looks on for a while, first at nothing, then at everything; the market moves once an interval, or not at all. */
export async function watchWindow(
  gateway: LiveGateway,
  { process, crowd }: LiveContestant,
  { intervalMs, warmMs, windowMs }: LivePace,
  market: 'still' | 'moving',
): Promise<WindowFigures> {
  const ticking = setInterval(() => market === 'moving' && void gateway.tick(), intervalMs);
  try {
    await delay(warmMs);
    const pollsBefore = await gateway.polls();
    const beganAtMs = performance.now();
    const cpuBefore = await process.ask({ ask: 'cpu' });
    await process.ask({ ask: 'watch-delay' });
    crowd.begin(intervalMs);
    await delay(windowMs);
    const figures = crowd.figures();
    const cpu = (await process.ask({ ask: 'cpu' })) - cpuBefore;
    const seconds = (performance.now() - beganAtMs) / 1000;
    const polls = (await gateway.polls()) - pollsBefore;
    const { p99Ms } = await process.ask({ ask: 'delay' });
    return { ...figures, polls, seconds, cpu, delayP99Ms: p99Ms };
  } finally {
    clearInterval(ticking);
  }
}
