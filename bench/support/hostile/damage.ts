import { setTimeout as delay } from 'node:timers/promises';
import { ASSAULTS } from './assaults.ts';
import { Bystander, type BystanderFigures } from './bystander.ts';
import type { HostileFacade } from './hostile-facade.ts';
import type { HostileGateway } from './hostile-gateway.ts';
import type { Kind } from './kinds.ts';
import { ReplyTally } from './reply-tally.ts';
import { ResidentWatch } from './resident-watch.ts';
import { type Write, within } from './trial-ground.ts';

export type Fate = 'alive' | 'stuck' | 'ended' | 'too large';

export interface Damage {
  /** The longest block of the event loop; where the process did not come back, how long it was waited for. */
  readonly holdMs: number;
  readonly fate: Fate;
  readonly bystander: BystanderFigures;
  readonly grownBytes: number;
  readonly replies: string;
}

export interface Worst {
  readonly kind: Kind;
  readonly write: Write;
}

const COMES_BACK_WITHIN_MS = 5_000;

/** Measures bystanders while an account does its worst for a while; with null no account does anything. */
export async function measureDamage(
  facade: HostileFacade,
  gateway: HostileGateway,
  worst: Worst | null,
  ms: number,
): Promise<Damage> {
  const { process, port } = facade;
  using resident = new ResidentWatch(process);
  const before = resident.peakBytes;
  const replies = new ReplyTally();
  await process.ask({ ask: 'watch-delay' });
  await using bystander = new Bystander(port, gateway.bystanders);
  const startedAtMs = performance.now();
  const signal = AbortSignal.timeout(ms);
  const account = { port, token: gateway.hostile };
  const assault = worst
    ? ASSAULTS[worst.kind]({ account, write: worst.write, signal, replies })
    : delay(ms);
  // A server that hangs may also accept no more connections.
  await within(ms + COMES_BACK_WITHIN_MS, assault).catch(() => {});
  const seen = bystander.stop();
  const holdMs = await within(COMES_BACK_WITHIN_MS, process.ask({ ask: 'delay' })).then(
    ({ maxMs }) => maxMs,
    () => null,
  );
  return {
    holdMs: holdMs ?? performance.now() - startedAtMs,
    fate: fateOf(facade, resident, holdMs !== null),
    bystander: seen,
    grownBytes: resident.peakBytes - before,
    replies: String(replies),
  };
}

function fateOf({ process }: HostileFacade, { isOver }: ResidentWatch, answers: boolean): Fate {
  if (isOver) return 'too large';
  if (process.hasEnded) return 'ended';
  return answers ? 'alive' : 'stuck';
}
