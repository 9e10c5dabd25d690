import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import type { Client } from '../../lib/limits/client.ts';
import type { Limiter } from '../../lib/limits/limiter.ts';
import { overLimit } from '../limits/over-limit-error.ts';
import { GRAPH, type GraphPlugin, type OperationContext } from '../plugin.ts';

const CROWDED_RETRY_SECONDS = 5;

/** Executes a costly operation in a turn of its own: a hundred may be received in one. Needs the `meter` of useCostLimit. */
export function useFairTurns<Context extends OperationContext>(
  scheduler: FairScheduler,
  limiter: Limiter,
  clientOf: (context: Context) => Client,
): GraphPlugin {
  return {
    onExecute({ args: { contextValue }, executeFn, setExecuteFn }) {
      const context = contextValue[GRAPH] as Context;
      if (!context.operation.meter.isCostly) return;
      setExecuteFn((args) => {
        // Its account may have been proved meanwhile, to look into a cache.
        const client = clientOf(context);
        if (limiter.take('largeAnswers', client).isOver) {
          return { errors: overLimit('costly operations', CROWDED_RETRY_SECONDS).errors };
        }
        const release = () => limiter.giveBack('largeAnswers', client);
        return scheduler.run(client.key, () => executeFn(args)).finally(release);
      });
    },
  };
}
