import { table } from './markdown.ts';
import { KINDS, type ReplicaFigures } from './replica-figures.ts';

const SECOND_MICROSECONDS = 1_000_000;

/** What a unit of work costs, what one core carries of it alone, and the memory by part. */
export function replicaTables(figures: readonly ReplicaFigures[]): string {
  const head = [
    '',
    ...figures.map(({ count }) => (count === 1 ? 'one process' : `${count} processes`)),
  ];
  const costs = [
    ...KINDS.map((kind) => [kind, ...figures.map(({ requests }) => requests[kind])] as const),
    ['poll of an account', ...figures.map(({ poll }) => poll)] as const,
    ['event of a socket', ...figures.map(({ event }) => event)] as const,
  ];
  const parts = [
    ['process without load', 'base', 1_000_000, 'MB'],
    ['catalog of 5,000, and what serving it left', 'catalog', 1_000_000, 'MB'],
    ['feed of an account', 'feed', 1_000, 'kB'],
    ['socket with a subscription', 'socket', 1_000, 'kB'],
  ] as const;
  return [
    '### CPU for a unit of work, µs',
    table(
      head,
      costs.map(([name, ...each]) => [name, ...each.map((value) => shown(value))]),
    ),
    '### What one core carries of it alone, a second (computed: a second over the CPU)',
    table(
      head,
      costs.map(([name, ...each]) => [
        name,
        ...each.map((value) => shown(SECOND_MICROSECONDS / value)),
      ]),
    ),
    '### Resident memory of each process, by part',
    table(
      head,
      parts.map(([name, part, unit, sign]) => [
        name,
        ...figures.map(({ memory }) => `${shown(memory[part] / unit, 1)} ${sign}`),
      ]),
    ),
  ].join('\n\n');
}

/** A difference of two measurements can come out below nothing, where the crowd was small or the machine busy. */
function shown(value: number, digits = 0): string {
  return value > 0 ? value.toFixed(digits) : 'noise';
}
