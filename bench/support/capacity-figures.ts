import { setTimeout as delay } from 'node:timers/promises';
import { haproxyPath, redisServerPath } from '../../test/support/machine.ts';
import { startTestRedis } from '../../test/support/redis.ts';
import { CONFIGURATION, startHaproxy } from '../../test/support/replicas.ts';
import { comes, contrast, WINDOWS } from './capacity-design.ts';
import { type CrowdSizes, request, startUnits } from './capacity-units.ts';
import { startLive } from './live-contestants.ts';
import type { LiveGateway } from './live-gateway.ts';
import { table } from './markdown.ts';
import { median, quantile } from './statistics.ts';

export interface CapacityPace extends CrowdSizes {
  /** Before the first round that counts, in which the load is brought to half a core. */
  readonly warmRounds: number;
  readonly rounds: number;
  readonly windowMs: number;
  readonly settleMs: number;
  /** Of the live feeds; every account's list changes in each. */
  readonly intervalMs: number;
}

const PLANNED_SHARE = 0.5;
/** As docs/orders.md asks for. */
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];
const AS_DEPLOYED = {
  LOG_LEVEL: 'info',
  TRUSTED_PROXIES: '127.0.0.1',
  // Users sign in over and over here, from a few addresses.
  LOGIN_LIMIT_PER_MINUTE: '1000000',
};

type Capacity = Awaited<ReturnType<typeof measureCapacity>>;

/** The marginal cost of each unit: what the windows that have it take more than those without, for each time that it came. */
export async function measureCapacity(gateway: LiveGateway, pace: CapacityPace) {
  const { rounds, warmRounds, windowMs, settleMs, intervalMs } = pace;
  if (!haproxyPath || !redisServerPath) throw new Error('haproxy and redis-server are needed');
  await using redis = await startTestRedis(redisServerPath, { args: DURABLE });
  const environment = { ...AS_DEPLOYED, REDIS_URL: redis.url };
  await using ours = await startLive(gateway, { intervalMs, environment });
  const addresses = { REPLICA_1: `127.0.0.1:${ours.port}` };
  await using haproxy = await startHaproxy(haproxyPath, CONFIGURATION, addresses);
  await using mix = await startUnits(Number(new URL(haproxy.url).port), gateway, pace);
  const { units } = mix;
  using _ticking = setInterval(() => void gateway.tick(), intervalMs);
  // Microseconds, and calls of the gateway, of one; by round.
  const figures = units.map(({ name }) => ({ name, cpu: [] as number[], calls: [] as number[] }));
  const shares: number[] = [];
  let factor = 1;

  const measureWindow = async (window: number) => {
    const here = units.map((unit, at) => (comes(at, window) ? unit : null));
    for (const [at, unit] of units.entries()) await unit.set?.(here[at] !== null);
    await delay(settleMs);
    const read = async () => ({
      cpu: await ours.ask({ ask: 'cpu' }),
      calls: Object.values(await gateway.calls()).reduce((one, other) => one + other, 0),
      events: units.map((unit) => unit.events?.() ?? 0),
    });
    const before = await read();
    const beganMs = performance.now();
    const requested = await request(here, windowMs, factor);
    const after = await read();
    const cpu = after.cpu - before.cpu;
    return {
      cpu,
      calls: after.calls - before.calls,
      counts: requested.map(
        (count, at) => count + (after.events[at] ?? 0) - (before.events[at] ?? 0),
      ),
      share: cpu / 1000 / (performance.now() - beganMs),
    };
  };

  for (let round = -warmRounds; round < rounds; round += 1) {
    const windows: Awaited<ReturnType<typeof measureWindow>>[] = [];
    for (let at = 0; at < WINDOWS; at += 1) windows.push(await measureWindow(at));
    const share = windows.reduce((sum, each) => sum + each.share, 0) / WINDOWS;
    if (round < 0) {
      factor *= PLANNED_SHARE / share;
      continue;
    }
    shares.push(share);
    for (const [at, { cpu, calls }] of figures.entries()) {
      const of = (read: (window: (typeof windows)[number]) => number) =>
        contrast(at, windows.map(read));
      const count = of(({ counts }) => counts[at] ?? 0);
      cpu.push(of((window) => window.cpu) / count);
      calls.push(of((window) => window.calls) / count);
    }
  }
  // The share of a core that the process used, at the median of the rounds.
  return { coreShare: median(shares), units: figures };
}

export function capacityTable({ coreShare, units }: Capacity): string {
  const rows = units.map(({ name, cpu, calls }) => [
    name,
    median(cpu).toFixed(0),
    `${quantile(cpu, 0.25).toFixed(0)} to ${quantile(cpu, 0.75).toFixed(0)}`,
    Math.abs(median(calls)).toFixed(1),
  ]);
  const head = ['Unit of work', 'CPU, µs', 'half of the rounds', 'calls of the gateway'];
  return `${table(head, rows)}\n\nThe process used ${(coreShare * 100).toFixed(0)} % of a core.`;
}
