import { LRUCache } from 'lru-cache';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import type { Position } from '../../gateway/model.ts';
import type { Clock } from '../../lib/clock.ts';
import type { LogicalClock } from '../../lib/logical-clock.ts';
import type { ProofLedger } from '../auth/proof.ts';
import { detached, type Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import { idsOf, isSame, Membership } from './membership.ts';

export interface SessionsOptions {
  readonly gateway: ViewerGateway;
  readonly ledger: ProofLedger;
  readonly clock: Clock;
  readonly logicalClock: LogicalClock;
  readonly maxAgeMs: number;
  readonly maxBytes?: number;
}

export interface SessionDemand {
  /** How old a held snapshot may be; at most what the server allows. */
  readonly maxAgeMs?: number;
  /** The snapshot must have been asked for after this turn. */
  readonly after?: number;
}

interface InFlightRead {
  readonly turn: number;
  readonly answer: Promise<SessionAnswer>;
}

interface Held {
  readonly turn: number;
  readonly answer: SessionAnswer;
}

const MAX_BYTES = 64 * 1024 * 1024;
const ACCOUNTS = 100_000;

/**
 * Account snapshots, each held for the one token that fetched it: what two devices of an account
 * see is the gateway's to decide. Only staleness is known per account.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #held: LRUCache<string, Held>;
  readonly #inFlight = new Map<string, InFlightRead>();
  readonly #orderCounts = new LRUCache<string, number>({ max: ACCOUNTS });
  readonly #staleSince = new LRUCache<string, number>({ max: ACCOUNTS });
  // Apart, so that a login is never read as the hash of a token.
  readonly #seenByToken = new Membership();
  readonly #seenByAccount = new Membership();

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#held = new LRUCache({
      maxSize: options.maxBytes ?? MAX_BYTES,
      sizeCalculation: ({ answer }) => sizeOf(answer),
    });
  }

  read(viewer: Viewer, demand: SessionDemand = {}): SessionAnswer | Promise<SessionAnswer> {
    const after = Math.max(demand.after ?? 0, this.#staleTurn(viewer));
    const startedAtMs = this.#options.clock.now();
    const held = this.#heldFor(viewer);
    if (held && held.turn > after && this.#isYoung(held, demand) && this.#isCurrent(viewer, held)) {
      this.#tell(viewer, startedAtMs, 'cache');
      return held.answer;
    }
    const inFlight = this.#inFlight.get(viewer.tokenHash);
    if (inFlight && inFlight.turn > after) {
      return inFlight.answer.finally(() => this.#tell(viewer, startedAtMs, 'shared'));
    }
    return this.#fetch(viewer);
  }

  /** Whether a snapshot for this token is under way, which whoever reads one now most likely shares. */
  isReading({ tokenHash }: Viewer): boolean {
    return this.#inFlight.has(tokenHash);
  }

  /**
   * The snapshot whose orders go with a list of positions: the one given, or where its own positions
   * are others, one asked for now. An order of the one may be a position in the other.
   */
  agreeing(
    viewer: Viewer,
    answer: SessionAnswer,
    positions: readonly Position[],
  ): SessionAnswer | Promise<SessionAnswer> {
    const own = answer.session.positions;
    if (own === null || isSame(idsOf(own), positions)) return answer;
    return this.read(viewer, { after: this.#options.logicalClock.next() });
  }

  /** How many orders an account's newest snapshot has; 0 where none is known. */
  ordersHeld(login: string): number {
    return this.#orderCounts.get(login) ?? 0;
  }

  /** Something happened that no snapshot taken so far can know of. */
  accountChanged(login: string): void {
    this.#staleSince.set(login, this.#options.logicalClock.next());
  }

  /** Every answer of op 12 passes here: a held snapshot that names other positions is out of date. */
  positionsAnswered(viewer: Viewer, answer: PositionsAnswer): void {
    this.#seenByToken.saw(viewer.tokenHash, answer);
    const proof = this.#options.ledger.account(viewer);
    if (proof) this.#seenByAccount.saw(proof.login, answer);
  }

  #fetch(viewer: Viewer): Promise<SessionAnswer> {
    const { gateway, logicalClock } = this.#options;
    const key = viewer.tokenHash;
    const turn = logicalClock.next();
    const answer = gateway.getSession(detached(viewer)).then((answer) => {
      // Begun before something changed: true for those who asked then, wrong for those who come later.
      if (turn > this.#staleTurn(viewer) && turn > (this.#held.peek(key)?.turn ?? 0)) {
        this.#held.set(key, { turn, answer });
        // The gateway has just answered this very token for this login.
        this.#orderCounts.set(viewer.login, answer.session.orders?.length ?? 0);
      }
      return answer;
    });
    const inFlight = { turn, answer };
    this.#inFlight.set(key, inFlight);
    const landed = () => {
      if (this.#inFlight.get(key) === inFlight) this.#inFlight.delete(key);
    };
    answer.then(landed, landed);
    return answer;
  }

  /** A token that the gateway has not accepted lately gets nothing that is held, not even its own. */
  #heldFor(viewer: Viewer): Held | undefined {
    return this.#options.ledger.isAccepted(viewer) ? this.#held.get(viewer.tokenHash) : undefined;
  }

  #isYoung({ answer }: Held, { maxAgeMs = Infinity }: SessionDemand): boolean {
    const ageMs = this.#options.clock.now() - answer.receivedAtMs;
    return ageMs < Math.min(maxAgeMs, this.#options.maxAgeMs);
  }

  /**
   * Without proof a token's sightings are its own: a claim must not make others' snapshots stale.
   * With it they are the account's, and still its own: some may be older than the proof.
   */
  #isCurrent(viewer: Viewer, { answer }: Held): boolean {
    const { sequence, session } = answer;
    const { positions } = session;
    if (positions === null) return true;
    if (this.#seenByToken.contradicts(viewer.tokenHash, sequence, positions)) return false;
    const proof = this.#options.ledger.account(viewer);
    return !proof || !this.#seenByAccount.contradicts(proof.login, sequence, positions);
  }

  #staleTurn(viewer: Viewer): number {
    return this.#staleSince.get(viewer.login) ?? 0;
  }

  #tell(viewer: Viewer, startedAtMs: number, source: 'cache' | 'shared'): void {
    const ms = this.#options.clock.now() - startedAtMs;
    viewer.caller.receipt?.({ operation: 'getSession', ms, source });
  }
}

// An estimate: a holding is some twenty small fields, of which the strings are mostly shared.
const HOLDING_BYTES = 700;
const SNAPSHOT_BYTES = 1_500;

function sizeOf({ session }: SessionAnswer): number {
  const holdings = (session.positions?.length ?? 0) + (session.orders?.length ?? 0);
  return SNAPSHOT_BYTES + holdings * HOLDING_BYTES;
}
