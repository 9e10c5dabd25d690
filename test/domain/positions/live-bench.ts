import { LogicalClock } from '../../../lib/clock.ts';
import type { WatchOptions } from '../../../lib/live/live-options.ts';
import { createPollScheduler } from '../../../lib/live/poll-scheduler.ts';
import { liveTokens, retryAfterSeconds } from '../../../src/domain/account/live-tokens.ts';
import { type AccountProof, createProofLedger } from '../../../src/domain/auth/proof.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import type { FeedOptions } from '../../../src/domain/positions/feed-options.ts';
import type { AccountOptions } from '../../../src/domain/positions/feed-state.ts';
import { createPositionsHub, type PositionsHub } from '../../../src/domain/positions/hub.ts';
import { createPositionsBoard } from '../../../src/domain/positions/positions-board.ts';
import { createSeededRandom } from '../../end-to-end/orders/seeded-random.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { type Details, viewerOf } from '../viewer.ts';
import { Follower } from './follower.ts';
import { ScriptedGateway } from './scripted-gateway.ts';

export type AccountEvent =
  ReturnType<PositionsHub['watchAccount']> extends AsyncIterable<infer Event> ? Event : never;

export const LOGIN = '1001';

/** A hub on a scripted clock, and the gateway behind it. */
export function createLiveBench({
  proofMs = 300_000,
  pollsPerSecond = 500,
  ...hubOptions
}: Partial<FeedOptions> & {
  readonly proofMs?: number;
  readonly pollsPerSecond?: number;
} = {}) {
  const clock = createScriptedClock();
  const logicalClock = new LogicalClock();
  const ledger = createProofLedger({ clock, logicalClock, proofMs });
  const board = createPositionsBoard(ledger, 1e8);
  const gateway = new ScriptedGateway(clock, ledger, logicalClock);
  const random = createSeededRandom(1).next;
  const hub = createPositionsHub({
    gateway,
    sessions: gateway,
    board,
    freshness: { catchUp: () => true, changedAt: () => Number.NEGATIVE_INFINITY },
    ledger,
    tokens: liveTokens(ledger, {
      async account(viewer) {
        await gateway.getSession(viewer);
        return ledger.account(viewer) as AccountProof;
      },
    }),
    retryAfterSeconds,
    clock,
    uptimeMs: clock.now,
    random,
    scheduler: createPollScheduler(clock, pollsPerSecond, random),
    logicalClock,
    sessionMaxAgeMs: 60_000,
    sessionPollMs: 5_000,
    pollMs: 1_000,
    pollMaxMs: 30_000,
    firstListMs: 5_000,
    ...hubOptions,
  });

  function prove(viewer: Viewer): AccountProof {
    const known = ledger.account(viewer);
    if (known) return known;
    ledger.answered(viewer, 'getSession', ledger.beginCall());
    return ledger.account(viewer) as AccountProof;
  }

  return {
    clock,
    gateway,
    ledger,
    logicalClock,
    board,
    hub,
    /** A device's viewer; the same name is the same token. */
    viewer: (name: string, details?: Details) => viewerOf(`token of ${name}`, details),
    /** Proves the token as the gateway's snapshot would. */
    prove,
    followChanges: (viewer: Viewer, options?: WatchOptions) =>
      new Follower(hub.watchChanges(prove(viewer), viewer, options)),
    followAccount: (viewer: Viewer, options?: AccountOptions) =>
      new Follower(hub.watchAccount(prove(viewer), viewer, options)),
    followPositions: (viewer: Viewer, options?: WatchOptions) =>
      new Follower(hub.watchPositions(prove(viewer), viewer, options)),
  };
}
