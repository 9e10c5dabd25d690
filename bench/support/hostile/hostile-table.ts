import { table } from '../markdown.ts';
import type { Damage } from './damage.ts';
import type { HostileDocument } from './hostile-document.ts';

export interface Finding {
  readonly name: string;
  readonly document: HostileDocument;
  readonly damage: Damage;
}

const SHOWN = 160;
const MEGABYTE = 1_048_576;
const FATES: Readonly<Record<Damage['fate'], string>> = {
  alive: '',
  stuck: 'did not come back: more than ',
  ended: 'process ended within ',
  'too large': 'process took 4 GB and was ended within ',
};

export function damageTable(findings: readonly Finding[], quiet: Damage): string {
  const rows = findings.map(({ name, document, damage }) => [
    name,
    shortened(document),
    ...cellsOf(damage),
  ]);
  return table(
    [
      'kind',
      'document',
      'longest loop hold, ms (aim 50)',
      'bystander p50 / p99, ms (aim p99 100)',
      'memory growth, MB (aim 200)',
      'answers',
    ],
    [['none', '', ...cellsOf(quiet)], ...rows],
  );
}

function cellsOf({ holdMs, fate, bystander, grownBytes, replies }: Damage): string[] {
  const { p50Ms, p99Ms, failed } = bystander;
  const answered = `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)}`;
  return [
    `${FATES[fate]}${holdMs.toFixed(0)}`,
    failed > 0 ? `${answered}, ${failed} failed` : answered,
    megabytes(grownBytes),
    replies,
  ];
}

function shortened({ text }: HostileDocument): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
  const rest = line.length - SHOWN;
  return `\`${line.slice(0, SHOWN)}${rest > 0 ? ' …' : ''}\`${rest > 0 ? ` (${line.length} characters)` : ''}`;
}

function megabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(1);
}
