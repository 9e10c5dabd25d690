import { type LiveName, QUERY, startLive } from './live-contestants.ts';
import type { LiveGateway } from './live-gateway.ts';
import { type LivePace, watchWindow } from './live-window.ts';
import { table } from './markdown.ts';

/** One watcher per account, so that a changed poll is one event: what the comparison of bytes saves. */
export async function pollTable(
  gateway: LiveGateway,
  accounts: number,
  pace: LivePace,
): Promise<string> {
  const rows = [];
  for (const name of ['ours', 'bare loop'] as const) {
    const { still, moving } = await pollCosts(name, gateway, accounts, pace);
    rows.push([name, `${still.toFixed(1)} µs`, `${moving.toFixed(1)} µs`]);
  }
  return [
    `### One poll, and what follows from it (${accounts} accounts, one socket each)`,
    table(['', 'nothing has changed', 'every position has, one event'], rows),
  ].join('\n\n');
}

async function pollCosts(name: LiveName, gateway: LiveGateway, accounts: number, pace: LivePace) {
  const tokens = await gateway.tokens(accounts, 1);
  const message = 'x'.repeat(1_000);
  await using contestant = await startLive(name, gateway, { ...pace, message });
  await contestant.crowd.connect(tokens);
  await contestant.crowd.subscribe(QUERY);
  const perPoll = async (market: 'still' | 'moving') => {
    const { cpu, polls } = await watchWindow(gateway, contestant, pace, market);
    return cpu / polls;
  };
  return { still: await perPoll('still'), moving: await perPoll('moving') };
}
