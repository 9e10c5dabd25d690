import { table } from '../../markdown.ts';
import type { Settings } from '../hostile-facade.ts';
import { type Holdings, startHostileGateway } from '../hostile-gateway.ts';
import { type Front, startBytesGround } from './bytes-ground.ts';
import { KNOWN_SENDERS } from './known-senders.ts';
import { measureSender, type SenderDamage } from './measure-sender.ts';
import type { Sender } from './sender.ts';

export interface BytesOptions {
  readonly holdings: Holdings;
  readonly damageMs: number;
  readonly settings: Settings;
  readonly front: Front;
  readonly script?: string | undefined;
  /** A part of the names of the known senders that are measured. */
  readonly only?: string | undefined;
  /** Whether each is also sent into a sink, to know the machine's share. */
  readonly withSink?: boolean;
}

export interface BytesReport {
  readonly damages: readonly SenderDamage[];
  readonly text: string;
}

const MEGABYTE = 1_048_576;

/** Measures what the known senders do to the others, each on processes of its own. */
export async function runBytes(options: BytesOptions): Promise<BytesReport> {
  await using gateway = await startHostileGateway(options.holdings);
  const senders = [
    ...(options.only === undefined ? [['nobody', null] as const] : []),
    ...Object.entries(KNOWN_SENDERS).filter(([name]) => name.includes(options.only ?? '')),
  ];
  const damages: SenderDamage[] = [];
  const rows: string[][] = [];
  const measure = async (name: string, sender: Sender | null, intoSink: boolean) => {
    await using ground = await startBytesGround({ ...groundOptions(options), gateway });
    const { bystanders } = gateway;
    const { damageMs: ms } = options;
    const damage = await measureSender({ ground, bystanders, sender, intoSink, ms });
    damages.push(damage);
    rows.push([name, ...cellsOf(damage)]);
  };
  for (const [name, sender] of senders) {
    await measure(name, sender, false);
    if (sender !== null && options.withSink) await measure('… into a sink', sender, true);
  }
  return { damages, text: table(HEADINGS, rows) };
}

const HEADINGS = [
  'sender',
  '{ __typename } p50 / p99, ms (aim p99 150)',
  '{ positions { id } } p50 / p99, ms (aim p99 300)',
  'longest loop hold, ms',
  'memory growth, MB (aim 150)',
  'sent, MB',
  'connections opened / closed',
];

function groundOptions({ front, settings, script }: BytesOptions) {
  return { front, settings, script };
}

function cellsOf(damage: SenderDamage): string[] {
  const { cheap, personal, holdMs, grownBytes, hasEnded, report } = damage;
  const latency = ({ p50Ms, p99Ms, failed }: SenderDamage['cheap']) =>
    `${p50Ms.toFixed(0)} / ${p99Ms.toFixed(0)}${failed > 0 ? `, ${failed} failed` : ''}`;
  return [
    latency(cheap),
    latency(personal),
    hasEnded ? 'ended' : holdMs === null ? 'did not come back' : holdMs.toFixed(0),
    (grownBytes / MEGABYTE).toFixed(0),
    (report.sentBytes / MEGABYTE).toFixed(1),
    `${report.opened} / ${report.closed}`,
  ];
}
