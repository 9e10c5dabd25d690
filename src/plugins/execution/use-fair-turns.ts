import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import { overLimit } from '../limits/over-limit-error.ts';
import type { Client } from '../operation.ts';
import type { GraphPlugin, OperationContext } from '../plugin.ts';

const CROWDED_RETRY_SECONDS = 5;

/** Executes a costly operation in a turn of its own: a hundred may be received in one. */
export function useFairTurns<Context extends OperationContext>(
  scheduler: FairScheduler,
  clientOf: (context: Context) => Client,
): GraphPlugin {
  return {
    onExecute({ args: { contextValue }, executeFn, setExecuteFn }) {
      if (!contextValue.operation.meter.isCostly) return;
      setExecuteFn((args) => {
        // Its account may have been proved meanwhile, to look into a cache.
        const { key } = clientOf(contextValue as Context);
        return scheduler.isCrowded(key)
          ? { errors: overLimit('costly operations', CROWDED_RETRY_SECONDS).errors }
          : scheduler.run(key, () => executeFn(args));
      });
    },
  };
}
