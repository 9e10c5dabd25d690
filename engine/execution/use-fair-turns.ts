import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import type { Limiter } from '../../lib/limits/limiter.ts';
import { GRAPH, type GraphPlugin } from '../admission/plugin.ts';
import { overLimit } from '../limits/over-limit-error.ts';
import { currentClient } from '../limits/use-client-limits.ts';

const CROWDED_RETRY_SECONDS = 5;

/** Executes a costly operation in a turn of its own: a hundred may be received in one. Needs the `meter` of useCostLimit. */
export function useFairTurns(scheduler: FairScheduler, limiter: Limiter): GraphPlugin {
  return {
    onExecute({ args: { contextValue }, executeFn, setExecuteFn }) {
      const context = contextValue[GRAPH];
      if (!context.operation.meter.isCostly) return;
      setExecuteFn((args) => {
        // Its account may have been proved meanwhile, to look into a cache.
        const client = currentClient(context, limiter);
        if (limiter.take('largeAnswers', client).isOver) {
          return { errors: overLimit('costly operations', CROWDED_RETRY_SECONDS).errors };
        }
        const release = () => limiter.giveBack('largeAnswers', client);
        return scheduler.run(client.key, () => executeFn(args)).finally(release);
      });
    },
  };
}
