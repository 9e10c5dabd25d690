import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import { overLimit } from '../limits/over-limit-error.ts';
import type { GraphPlugin } from '../plugin.ts';

const CROWDED_RETRY_SECONDS = 5;

/** Executes a costly operation in a turn of its own: a hundred may be received in one. */
export function useFairTurns(scheduler: FairScheduler): GraphPlugin {
  return {
    onExecute({ args: { contextValue }, executeFn, setExecuteFn }) {
      const { client, meter } = contextValue.operation;
      if (!meter.isCostly) return;
      setExecuteFn((args) =>
        scheduler.isCrowded(client.key)
          ? { errors: overLimit('costly operations', CROWDED_RETRY_SECONDS).errors }
          : scheduler.run(client.key, () => executeFn(args)),
      );
    },
  };
}
