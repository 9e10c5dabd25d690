import { createRandom } from '../../../../src/sandbox/random.ts';
import { table } from '../../markdown.ts';
import { type Climb, climb } from '../hill-climb.ts';
import type { Settings } from '../hostile-facade.ts';
import { type Holdings, type HostileGateway, startHostileGateway } from '../hostile-gateway.ts';
import type { Trial } from '../trial-ground.ts';
import { type BytesGround, type Front, startBytesGround } from './bytes-ground.ts';
import { SenderComposer } from './compose-sender.ts';
import { KNOWN_SENDERS } from './known-senders.ts';
import { measureSender, type SenderDamage } from './measure-sender.ts';
import { describe, type Sender } from './sender.ts';

export interface BytesOptions {
  readonly seed: string;
  readonly holdings: Holdings;
  readonly searchMs: number;
  readonly leastTries: number;
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
  readonly climb: Climb<Sender> | null;
  readonly damages: readonly SenderDamage[];
  readonly text: string;
}

const TRIAL_MS = 1_000;
const FAIR_HOLD_MS = 100;
const FAIR_BYTES = 150 * 1_048_576;
const STUCK = 1_000;
const MEGABYTE = 1_048_576;

/** Searches the sender that does most harm, then measures it and the known ones, each on processes of its own. */
export async function runBytes(options: BytesOptions): Promise<BytesReport> {
  await using gateway = await startHostileGateway(options.holdings);
  const found = options.searchMs > 0 ? await searchSender(gateway, options) : null;
  const [worst] = found?.worst ?? [];
  const senders = [
    ...(options.only === undefined ? [['nobody', null] as const] : []),
    ...Object.entries(KNOWN_SENDERS).filter(([name]) => name.includes(options.only ?? '')),
    ...(worst ? [[`found: ${describe(worst.draft)}`, worst.draft] as const] : []),
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
  return { climb: found, damages, text: [table(HEADINGS, rows), searchLine(found)].join('\n\n') };
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

async function searchSender(
  gateway: HostileGateway,
  options: BytesOptions,
): Promise<Climb<Sender>> {
  const composer = new SenderComposer(createRandom(`${options.seed}/bytes`));
  const startedAtMs = performance.now();
  let tries = 0;
  let ground: BytesGround | null = null;
  try {
    return await climb<Sender>({
      random: createRandom(`${options.seed}/climb`),
      seeds: [],
      compose: () => composer.compose(),
      mutate: (sender) => composer.mutate(sender),
      shrink: (sender) => sender,
      measure: async (sender) => {
        tries += 1;
        ground ??= await startBytesGround({ ...groundOptions(options), gateway });
        const trial = await attempt(ground, gateway, sender);
        if (trial.verdict === 'stuck' || trial.harm > 1) {
          await ground[Symbol.asyncDispose]();
          ground = null;
        }
        return trial;
      },
      elapsed: () =>
        Math.min((performance.now() - startedAtMs) / options.searchMs, tries / options.leastTries),
    });
  } finally {
    await (ground as BytesGround | null)?.[Symbol.asyncDispose]();
  }
}

async function attempt(
  ground: BytesGround,
  { bystanders }: HostileGateway,
  sender: Sender,
): Promise<Trial> {
  const damage = await measureSender({ ground, bystanders, sender, ms: TRIAL_MS });
  const { holdMs, grownBytes, hasEnded } = damage;
  const isStuck = holdMs === null || hasEnded;
  const harm = isStuck ? STUCK : Math.max(holdMs / FAIR_HOLD_MS, grownBytes / FAIR_BYTES);
  return {
    verdict: isStuck ? 'stuck' : 'allowed',
    codes: [],
    harm,
    holdMs: holdMs ?? 0,
    cpuMs: 0,
    bytes: grownBytes,
    fields: 0,
  };
}

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

function searchLine(found: Climb<Sender> | null): string {
  if (found === null) return '';
  const { tried, worst } = found;
  const worstOnes = worst.map(({ draft, trial }) => {
    const { holdMs, bytes, verdict } = trial;
    return `- ${verdict}, hold ${holdMs.toFixed(0)} ms, ${(bytes / MEGABYTE).toFixed(0)} MB: ${describe(draft)}`;
  });
  return [`${tried} senders tried; the worst of them:`, '', ...worstOnes].join('\n');
}
