import type { ExecutionResult } from 'graphql';
import type { Eventually } from '../../lib/eventually.ts';
import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import type { Operation } from '../admission/operation.ts';
import type { ClientLimits } from '../limits/client-limits.ts';
import { overLimit } from '../limits/over-limit-error.ts';

const CROWDED_RETRY_SECONDS = 5;

/** Executes a costly operation in a turn of its own: a hundred may be received in one. */
export function inFairTurn(
  operation: Operation,
  scheduler: FairScheduler,
  limits: ClientLimits,
  execute: () => Eventually<ExecutionResult>,
): Eventually<ExecutionResult> {
  if (!operation.meter.isCostly) return execute();
  const { limiter } = limits;
  // Its account may have been proved meanwhile, to look into a cache.
  const client = limits.currentClient(operation);
  if (limiter.take('largeAnswers', client).isOver) {
    return { errors: overLimit('costly operations', CROWDED_RETRY_SECONDS).errors };
  }
  const release = () => limiter.giveBack('largeAnswers', client);
  return scheduler.run(client.key, execute).finally(release);
}
