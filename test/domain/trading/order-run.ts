import { existsSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { brokenRules } from './order-rules.ts';
import { OrderWorld } from './order-world.ts';

/** Each number chooses the next action of the model. */
const CHOICES = fc.array(fc.nat({ max: 1_000_000 }), { minLength: 40, maxLength: 120 });
/** A folder in memory, so that commits do not wait for a disk. */
const SHARED_MEMORY = '/dev/shm';

/** Runs the model of orders with random choices. Returns the number of sent orders. Throws at the first broken rule. */
export async function runOrders(runs: number, seed: number): Promise<number> {
  const parent = existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir();
  await using folder = await mkdtempDisposable(join(parent, 'trading-graph-'));
  let sent = 0;
  const property = fc.asyncProperty(CHOICES, async (choices) => {
    using world = new OrderWorld(folder.path);
    for (const choice of choices) await world.step(choice);
    const recordOf = await world.finish();
    sent += world.sent;
    const broken = world.histories.flatMap((each) => brokenRules(each, recordOf(each)));
    if (broken.length > 0)
      throw new Error(`${broken.join('\n')}\nafter:\n${world.events.join('\n')}`);
  });
  await fc.assert(property, { numRuns: runs, seed, endOnFailure: true });
  return sent;
}
