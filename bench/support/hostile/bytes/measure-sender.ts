import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { GATEWAY_CORE } from '../../cores.ts';
import { ProbedProcess } from '../../probed-process.ts';
import { Bystander, type BystanderFigures } from '../bystander.ts';
import { ResidentWatch } from '../resident-watch.ts';
import { within } from '../trial-ground.ts';
import type { BytesGround } from './bytes-ground.ts';
import type { Sender } from './sender.ts';
import type { SenderReport } from './sender-process.ts';

export interface SenderDamage {
  /** Of `{ __typename }`, and of `{ positions { id } }`. */
  readonly cheap: BystanderFigures;
  readonly personal: BystanderFigures;
  /** The longest hold of a process's event loop; null where it did not come back. */
  readonly holdMs: number | null;
  /** Of the process that grew most. */
  readonly grownBytes: number;
  readonly hasEnded: boolean;
  readonly report: SenderReport;
}

export interface MeasureOptions {
  readonly ground: BytesGround;
  readonly bystanders: readonly string[];
  /** Null: nobody sends. */
  readonly sender: Sender | null;
  /** Sends to a process that drops everything, in place of the ground. */
  readonly intoSink?: boolean;
  readonly ms: number;
}

const SENDER = fileURLToPath(new URL('sender-process.ts', import.meta.url));
const SINK = fileURLToPath(new URL('sink-process.ts', import.meta.url));
const POSITIONS = '{ positions { id } }';
const ASKS_EVERY_MS = 32;
const COMES_BACK_WITHIN_MS = 5_000;
const NOTHING: SenderReport = { sentBytes: 0, opened: 0, closed: 0 };

let network = 1;

/** Measures bystanders and processes while a sender sends for a while. */
export async function measureSender(options: MeasureOptions): Promise<SenderDamage> {
  const { ground, bystanders, sender, intoSink = false, ms } = options;
  const { processes, port } = ground;
  const watches = processes.map((process) => new ResidentWatch(process));
  const before = watches.map(({ peakBytes }) => peakBytes);
  await Promise.all(processes.map((process) => process.ask({ ask: 'watch-holds' })));
  await using cheap = new Bystander(port, bystanders, { everyMs: ASKS_EVERY_MS });
  await using personal = new Bystander(port, bystanders, {
    text: POSITIONS,
    everyMs: ASKS_EVERY_MS,
  });
  const report = sender === null ? delay(ms, NOTHING) : send(sender, intoSink ? null : port, ms);
  const sent = await report;
  const figures = { cheap: cheap.stop(), personal: personal.stop() };
  const holds = await Promise.all(processes.map((process) => holdOf(process)));
  for (const watch of watches) watch[Symbol.dispose]();
  const grown = watches.map(({ peakBytes }, at) => peakBytes - (before[at] ?? 0));
  return {
    ...figures,
    report: sent,
    holdMs: holds.includes(null) ? null : Math.max(...(holds as number[])),
    grownBytes: Math.max(...grown),
    hasEnded: processes.some(({ hasEnded }) => hasEnded),
  };
}

async function holdOf(process: ProbedProcess): Promise<number | null> {
  try {
    const { holdsMs } = await within(COMES_BACK_WITHIN_MS, process.ask({ ask: 'holds' }));
    return holdsMs[0] ?? 0;
  } catch {
    return null;
  }
}

async function send(sender: Sender, port: number | null, ms: number): Promise<SenderReport> {
  await using sink = port === null ? await startSink() : null;
  // Each sender has an address of its own, so that none pays for the one before.
  network = (network % 250) + 1;
  await using child = new ProbedProcess({ script: SENDER, core: GATEWAY_CORE });
  await child.exchange({ sender, port: port ?? sink?.port, network });
  await delay(ms);
  return (await within(COMES_BACK_WITHIN_MS, child.exchange({ isOver: true })).catch(
    () => NOTHING,
  )) as SenderReport;
}

async function startSink(): Promise<AsyncDisposable & { readonly port: number }> {
  const child = new ProbedProcess({ script: SINK, core: GATEWAY_CORE });
  const port = (await child.exchange({ isOver: false })) as number;
  return { port, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
}
