import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PIPELINE_CASES } from '../../bench/support/pipeline-cases.ts';
import { PipelineContestant } from '../../bench/support/pipeline-contestant.ts';

const root = join(import.meta.dirname, '../..');

test('each operation and refusal of the pipeline takes CPU, again and again', async () => {
  using contestant = await PipelineContestant.start(root);
  for (const operation of PIPELINE_CASES) {
    for (const times of [1, 50]) {
      expect(await contestant.measure({ operation, times })).toBeGreaterThan(0);
    }
  }
});

test('a folder that is no checkout is no contestant', async () => {
  await expect(PipelineContestant.start(join(root, 'docs'))).rejects.toThrow('ended with 1');
});
