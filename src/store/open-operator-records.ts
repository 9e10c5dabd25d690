import type { OperatorRecords } from './operator-records.ts';
import { OperatorFile } from './sqlite/operator-records.ts';

interface OperatorOptions {
  /** Null where the records are in a file. */
  readonly redisUrl: string | null;
  readonly orderStore: string;
  readonly prefix: string;
  readonly redisReplicas: number | null;
  readonly requiresAppendonly: boolean;
  readonly max: number;
  readonly onWarn: (message: string) => void;
}

/** Opens the order records that the configuration names, for an operator. */
export async function openOperatorRecords(options: OperatorOptions): Promise<OperatorRecords> {
  const { redisUrl, orderStore: path } = options;
  if (redisUrl === null) return new OperatorFile({ ...options, path });
  const { openRedisOperator } = await import('./redis/operator-records.ts');
  return openRedisOperator({ ...options, redisUrl });
}
