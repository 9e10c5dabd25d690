import { openConfiguredStores } from '../../src/app/resources.ts';
import type { Config } from '../../src/config.ts';
import { learn, readKnown } from '../../src/gateway/interface/learn.ts';
import type { CallReport } from './check-run.ts';

/** Has the running service compare with what these answers have: what they lack is accepted, what they do not show is left as it was. */
export async function writeBaseline(config: Config, calls: readonly CallReport[]): Promise<void> {
  const { baselines, close } = await openConfiguredStores(config, {
    onWarn: () => {},
    isInspection: true,
  });
  try {
    for (const { operation, comparison } of calls) {
      if (comparison === null) continue;
      const before = readKnown(await baselines.get(operation));
      const { known, lost } = learn(before, comparison.fields);
      const kept = Object.entries(known).filter(([path]) => !lost.includes(path));
      await baselines.put(operation, JSON.stringify(Object.fromEntries(kept)));
    }
  } finally {
    await close();
  }
}
