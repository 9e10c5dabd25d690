import { expect, test } from 'vitest';
import { explore } from './interleaving/explore.ts';
import { beginRun } from './interleaving/run.ts';
import { SCENARIOS } from './interleaving/scenario.ts';

test.each(Object.entries(SCENARIOS))(
  'in whatever order things happen, nothing is sent after it was voided, nor voided after it was sent, and all are told the same: %s',
  async (_, scenario) => {
    expect(await explore(() => beginRun(scenario))).toBeGreaterThan(400);
  },
  600_000,
);
