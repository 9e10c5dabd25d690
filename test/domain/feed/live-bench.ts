import { AccountReads } from '../../../src/domain/account/account-reads.ts';
import { NewestPositions } from '../../../src/domain/account/newest-positions.ts';
import { type AccountProof, ProofLedger } from '../../../src/domain/auth/proof.ts';
import { TokenEnds } from '../../../src/domain/auth/token-ends.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import {
  OpenPositions,
  type OpenPositionsOptions,
} from '../../../src/domain/feed/open-positions.ts';
import { PollSchedule } from '../../../src/domain/feed/poll-schedule.ts';
import type { WatchOptions } from '../../../src/domain/feed/subscription.ts';
import type { Account } from '../../../src/lib/account.ts';
import { LogicalClock } from '../../../src/lib/clock.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { createSeededRandom } from '../../support/seeded-random.ts';
import { type Details, viewerOf } from '../viewer.ts';
import { Follower } from './follower.ts';
import { ScriptedGateway } from './scripted-gateway.ts';

export const LOGIN = '1001';

/** Creates feeds with a scripted clock and a scripted gateway. */
export function createLiveBench({
  proofMs = 300_000,
  pollsPerSecond = 500,
  newestBytes = 1e8,
  ...feedOptions
}: Partial<OpenPositionsOptions> & {
  readonly proofMs?: number;
  readonly pollsPerSecond?: number;
  /** The memory of the newest lists. */
  readonly newestBytes?: number;
} = {}) {
  const clock = createScriptedClock();
  const logicalClock = new LogicalClock();
  const ledger = new ProofLedger({ clock, logicalClock, proofMs });
  const accountReads = new AccountReads(logicalClock, null, (account) =>
    feeds.accountChanged(account),
  );
  const newestPositions = new NewestPositions(ledger, newestBytes);
  const gateway = new ScriptedGateway(clock, ledger, logicalClock);
  const random = createSeededRandom(1).next;
  const feeds = new OpenPositions({
    gateway,
    sessions: gateway,
    newestPositions,
    accountReads,
    ledger,
    clock,
    random,
    schedule: new PollSchedule({ clock, pollsPerSecond, random }),
    sessionMaxAgeMs: 60_000,
    pollMs: 1_000,
    firstListMs: 5_000,
    ...feedOptions,
  });

  function prove(viewer: Viewer): AccountProof {
    const known = ledger.account(viewer);
    if (known) return known;
    ledger.answered(viewer, 'getSession', ledger.beginCall());
    return ledger.account(viewer) as AccountProof;
  }

  const tokenEnds = new TokenEnds(ledger, clock);
  /** Subscribes as the engine does: the end of the token ends the events. */
  function watch(viewer: Viewer, options?: WatchOptions) {
    const events = feeds.watch(prove(viewer), viewer, options);
    tokenEnds.watch(viewer.token, (error) => events.end(error));
    return events;
  }

  return {
    clock,
    gateway,
    ledger,
    logicalClock,
    newestPositions,
    feeds,
    /** Reports that an order has changed the account. */
    changed: (account: Account) => accountReads.changed(account),
    /** The viewer of a device. The same name means the same token. */
    viewer: (name: string, details?: Details) => viewerOf(`token of ${name}`, details),
    /** Proves the token as the gateway's snapshot does. */
    prove,
    watch,
    followChanges: (viewer: Viewer, options?: WatchOptions) => new Follower(watch(viewer, options)),
    followAccount: (viewer: Viewer, options?: WatchOptions) =>
      new Follower(watch(viewer, { follows: 'orders', ...options })),
    followPositions: (viewer: Viewer, options?: WatchOptions) =>
      new Follower(watch(viewer, { follows: 'list', ...options })),
  };
}
