import type { RedisConnection } from './connection.ts';
import { type Copies, NotCopiedError } from './copies.ts';
import type { OrderScripts } from './order-scripts.ts';

/**
 * A script that was run, and when the replicas of Redis have what it wrote: throws a NotCopiedError where too few have, by what is
 * wanted here and in Redis.
 */
export interface Written {
  readonly answer: readonly unknown[];
  readonly copied: (wantedThere?: number) => Promise<void>;
}

type Parameters = readonly [script: string, args: readonly (string | number)[], keys: string[]];

interface Asked extends PromiseWithResolvers<Written> {
  readonly parameters: Parameters;
  readonly isWaited: boolean;
}

const BATCH_SCRIPTS = 100;

export type CopiedScripts = ReturnType<typeof copiedScripts>;

/**
 * Runs scripts that write, over a connection of their own. WAIT counts what its connection wrote last, and blocks it: it goes out in
 * the same turn as the scripts before it, and those that come meanwhile are sent together once it is answered.
 */
export function copiedScripts(
  connection: Pick<RedisConnection, 'copies'>,
  scripts: Pick<OrderScripts, 'run'>,
  copies: Copies,
  waitMs: number,
) {
  const queue: Asked[] = [];
  let isWaiting = false;

  function send(): void {
    if (isWaiting || queue.length === 0) return;
    const batch = queue.splice(0, BATCH_SCRIPTS);
    const wanted = batch.some(({ isWaited }) => isWaited) ? copies.wanted() : 0;
    const answers = batch.map(({ parameters }) => scripts.run(...parameters));
    const have = wanted === 0 ? Promise.resolve(0) : connection.copies(wanted, waitMs);
    const copied = async (wantedThere = 0) => {
      // Without an answer there is no proof: the write may be nowhere else.
      const number = await have.catch(() => 0);
      const least = Math.max(wanted, wantedThere);
      if (number >= least) return;
      copies.late();
      throw new NotCopiedError(`${number} of ${least} replicas of Redis have it in time`, {
        earlierUnknown: false,
      });
    };
    for (const [n, { resolve, reject }] of batch.entries()) {
      answers[n]?.then((answer) => resolve({ answer, copied }), reject);
    }
    isWaiting = wanted > 0;
    const next = () => {
      isWaiting = false;
      send();
    };
    have.then(next, next);
  }

  const run =
    (isWaited: boolean) =>
    (...parameters: Parameters): Promise<Written> => {
      const asked = { parameters, isWaited, ...Promise.withResolvers<Written>() };
      queue.push(asked);
      send();
      return asked.promise;
    };
  return {
    /** Runs it behind what was asked before, for somebody who needs no copies. */
    run: run(false),
    runCopied: run(true),
  };
}
