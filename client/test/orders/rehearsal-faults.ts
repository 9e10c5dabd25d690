import type { SeededRandom } from '../../../test/end-to-end/orders/seeded-random.ts';
import { CUTS, type DeviceLine } from '../support/rehearsal-line.ts';

/** A fault of the network that one ticket meets. */
export interface RehearsalFault {
  readonly name: string;
  /** Called half a second before the tap. */
  begin(line: DeviceLine, random: SeededRandom): void;
}

const STALLS_MS = [5_000, 10_000, 20_000, 40_000];

export const FAULTS: readonly RehearsalFault[] = [
  { name: 'none', begin() {} },
  ...CUTS.map((at) => ({
    name: `cut ${at}`,
    begin: ({ next }: DeviceLine, random: SeededRandom) => {
      next.push({ kind: 'cut', at });
      if (random.happens(0.3)) next.push({ kind: 'cut', at: random.pick(CUTS) });
    },
  })),
  { name: 'portal', begin: ({ next }) => void next.push({ kind: 'portal' }, { kind: 'portal' }) },
  ...STALLS_MS.flatMap((ms) =>
    (['stall', 'stalled connection'] as const).map((kind) => ({
      name: `${kind} of ${ms / 1_000} s`,
      begin: ({ next }: DeviceLine) => void next.push({ kind, ms }),
    })),
  ),
  {
    name: 'another address',
    begin: (line, random) => line.changeAddress(5_000 + random.below(35_000)),
  },
];
