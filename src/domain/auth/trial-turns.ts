import type { Clock } from '../../../lib/clock.ts';
import { MAX_WAITING } from './limits.ts';

/** `last`: the token was refused before, or has a call under way already. */
export type Rank = 'proved here' | 'new' | 'last';

/** A call with an unknown token that waits for its turn. */
export interface Trial {
  readonly login: string;
  /** Null while it may not begin, whoever's turn it is. */
  rank(): Rank | null;
  /** Whether it needs no turn any more. */
  isFree(): boolean;
  /** Takes what the call is charged; false where nothing is left. */
  begin(): boolean;
  /** When there may be something left although no call has ended. */
  roomInMs(): number;
}

interface Waiting {
  readonly trial: Trial;
  end(hasBegun: boolean): void;
}

interface Line {
  /** In the order of their arrival. */
  readonly waiting: Set<Waiting>;
  /** The logins that have had a turn in this round. */
  served: Set<string>;
  /** The number of turns so far. */
  turns: number;
  cancelTimer: () => void;
}

/**
 * The turns of calls with unknown tokens: a line for each address. Logins that were proved there before and new ones go by turns,
 * and each login goes once in a round, because anybody can write any number of tokens with any logins. The newest and the oldest go
 * by turns too: behind a thousand that came at once the newest would wait in vain, and the oldest before some that keep coming.
 */
export function createTrialTurns(clock: Clock, patienceMs: number) {
  const lines = new Map<string, Line>();
  let size = 0;

  function nextIn(line: Line): Waiting | undefined {
    const able = [...line.waiting].flatMap((each) => {
      const rank = each.trial.rank();
      return rank === null ? [] : [{ ...each, rank }];
    });
    if (line.turns % 4 < 2) able.reverse();
    const ranks: Rank[] = ['proved here', 'new'];
    if (line.turns % 2 === 1) ranks.reverse();
    for (const wanted of ranks) {
      const isNext = ({ rank, trial }: (typeof able)[number]) =>
        rank === wanted && !line.served.has(trial.login);
      const found = able.find(isNext);
      if (found) return found;
    }
    if (able.every(({ rank }) => rank === 'last')) return able[0];
    line.served = new Set();
    return nextIn(line);
  }

  function wake(key: string): void {
    const line = lines.get(key);
    if (line === undefined) return;
    for (const each of [...line.waiting]) if (each.trial.isFree()) each.end(true);
    let next = nextIn(line);
    for (; next?.trial.begin(); next = nextIn(line)) {
      line.served.add(next.trial.login);
      line.turns += 1;
      next.end(true);
    }
    line.cancelTimer();
    if (next) line.cancelTimer = clock.after(Math.ceil(next.trial.roomInMs()), () => wake(key));
  }

  return {
    wake,
    /** Resolves to false where too many wait, the turn has not come in time, or nobody waits for it any more. */
    wait(key: string, trial: Trial, signal?: AbortSignal): Promise<boolean> {
      const line = lines.get(key) ?? newLine();
      // However many wait elsewhere, an address may have one that waits.
      const max = line.waiting.size > 0 ? MAX_WAITING.all : 2 * MAX_WAITING.all;
      if (size >= max || signal?.aborted) return Promise.resolve(false);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const entry: Waiting = {
        trial,
        end(hasBegun) {
          cancel();
          signal?.removeEventListener('abort', leave);
          line.waiting.delete(entry);
          size -= 1;
          if (line.waiting.size === 0) {
            line.cancelTimer();
            lines.delete(key);
          }
          resolve(hasBegun);
        },
      };
      const leave = () => entry.end(false);
      const cancel = clock.after(patienceMs, leave);
      signal?.addEventListener('abort', leave);
      lines.set(key, line);
      line.waiting.add(entry);
      size += 1;
      const [oldest] = line.waiting;
      if (line.waiting.size > MAX_WAITING.line) oldest?.end(false);
      wake(key);
      return promise;
    },
    /** Whether any waits: then nobody goes before them. */
    hasLine: (key: string): boolean => lines.has(key),
  };
}

function newLine(): Line {
  return { waiting: new Set(), served: new Set(), turns: 0, cancelTimer: () => {} };
}
