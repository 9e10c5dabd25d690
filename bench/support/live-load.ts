import { type LiveName, QUERY, startLive } from './live-contestants.ts';
import type { LiveGateway } from './live-gateway.ts';
import { type LivePace, type WindowFigures, watchWindow } from './live-window.ts';
import { table } from './markdown.ts';

export interface CrowdSize {
  readonly sockets: number;
  readonly accounts: number;
}

/** Each socket a device with a token of its own, in a market where every account changes at every interval. */
export async function loadTable(
  gateway: LiveGateway,
  size: CrowdSize,
  pace: LivePace,
): Promise<string> {
  const ours = await load('ours', gateway, size, pace, '');
  const bare = await load('bare loop', gateway, size, pace, ours.message);
  const row = (title: string, read: (figures: WindowFigures) => string) => [
    title,
    read(ours.figures),
    read(bare.figures),
  ];
  const perEvent = ({ cpu, events }: WindowFigures) => cpu / events;
  const rows = [
    row('gateway polls per second', ({ polls, seconds }) => (polls / seconds).toFixed(0)),
    row('events per second', ({ events, seconds }) => (events / seconds).toFixed(0)),
    row('share of one core', ({ cpu, seconds }) => percent(cpu / seconds / 1e6)),
    row('CPU per event', (figures) => `${perEvent(figures).toFixed(1)} µs`),
    row('later than two intervals', ({ lateShare }) => percent(lateShare)),
    row('longest pause between two events', ({ longestGapMs }) => `${longestGapMs.toFixed(0)} ms`),
    row('delay of the event loop, p99', ({ delayP99Ms }) => `${delayP99Ms.toFixed(1)} ms`),
  ];
  const ratio = perEvent(ours.figures) / perEvent(bare.figures);
  const { sockets, accounts } = size;
  return [
    `### ${sockets} sockets over ${accounts} accounts, every ${pace.intervalMs} ms (${ours.message.length} bytes an event)`,
    table(['', 'ours', 'bare loop'], rows),
    `Ours takes ${ratio.toFixed(2)} times the bare loop’s CPU for an event.`,
  ].join('\n\n');
}

async function load(
  name: LiveName,
  gateway: LiveGateway,
  { sockets, accounts }: CrowdSize,
  pace: LivePace,
  message: string,
) {
  const { intervalMs } = pace;
  const tokens = await gateway.tokens(accounts, sockets / accounts);
  await using contestant = await startLive(name, gateway, { intervalMs, message });
  await contestant.crowd.connect(tokens);
  await contestant.crowd.subscribe(QUERY);
  const sample = contestant.crowd.sample();
  await gateway.tick();
  const event = await sample;
  return { message: event, figures: await watchWindow(gateway, contestant, pace, 'moving') };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
