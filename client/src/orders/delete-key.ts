import type { Environment } from '../environment.ts';
import { type Deadline, withinTime } from '../request/deadline.ts';
import type { StoredKeys } from './stored-keys.ts';

/** An outcome is not withheld for the sake of a storage that does not answer. */
const PATIENCE_MS = 2_000;

/** Deletes a key that is done with. One that stays behind is asked about, and deleted, by the next `resume`. */
export async function deleteKey(
  environment: Environment,
  keys: StoredKeys,
  { account, key }: { readonly account: string; readonly key: string },
): Promise<void> {
  const deleting = (time: Deadline) => time.race(keys.delete(account, key));
  await withinTime(environment, PATIENCE_MS, undefined, deleting).catch(() => {});
}
