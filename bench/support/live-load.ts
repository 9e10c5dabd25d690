import { type DuelFigures, perEvent, type WindowFigures } from './live-duel.ts';
import { table } from './markdown.ts';
import { median } from './statistics.ts';

/** Each socket a device with a token of its own, in a market where every account changes at every interval. */
export function loadTable(figures: DuelFigures): string {
  const { size, intervalMs, eventBytes, ours, beside, pollsPerSecond, ratio } = figures;
  const row = (
    title: string,
    read: (window: WindowFigures) => number,
    unit: string,
    digits = 1,
  ) => [
    title,
    ...[ours, beside].map((windows) =>
      `${median(windows.map(read)).toFixed(digits)} ${unit}`.trim(),
    ),
  ];
  const rows = [
    row('events per second', ({ events, seconds }) => events / seconds, '', 0),
    row('share of one core', coreShare, '%'),
    row('CPU per event', perEvent, 'µs'),
    row('later than two intervals', ({ lateShare }) => lateShare * 100, '%'),
    row('longest pause between two events', ({ longestGapMs }) => longestGapMs, 'ms', 0),
    row('delay of the event loop, p99', ({ delayP99Ms }) => delayP99Ms, 'ms'),
  ];
  return [
    `### ${size.sockets} sockets over ${size.accounts} accounts, every ${intervalMs} ms (${eventBytes} bytes an event)`,
    table(['', 'ours', 'bare loop'], rows),
    `Ours takes ${ratio.toFixed(2)} times the bare loop’s CPU for an event. It makes ${pollsPerSecond.toFixed(0)} polls per second.`,
  ].join('\n\n');
}

/** In per cent. */
export function coreShare({ cpu, seconds }: WindowFigures): number {
  return cpu / seconds / 10_000;
}
