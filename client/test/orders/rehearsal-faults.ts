import type { SeededRandom } from '../../../test/end-to-end/orders/seeded-random.ts';
import { CUTS, type OrderLine } from '../support/order-line.ts';

/** A fault of the network that one ticket meets. */
export interface RehearsalFault {
  readonly name: string;
  /** Called half a second before the tap. */
  begin(line: OrderLine, random: SeededRandom): void;
}

const STALLS_MS = [5_000, 10_000, 20_000, 40_000];

export const FAULTS: readonly RehearsalFault[] = [
  { name: 'none', begin() {} },
  ...CUTS.map((at) => ({
    name: `cut ${at}`,
    begin: ({ next }: OrderLine, random: SeededRandom) => {
      next.push(at);
      if (random.happens(0.3)) next.push(random.pick(CUTS));
    },
  })),
  { name: 'portal', begin: ({ next }) => void next.push('portal', 'portal') },
  ...STALLS_MS.flatMap((stallMs) =>
    [true, false].map((ofAll) => ({
      name: `${ofAll ? 'stall' : 'stalled connection'} of ${stallMs / 1_000} s`,
      begin: ({ next }: OrderLine) => void next.push({ stallMs, ofAll }),
    })),
  ),
  {
    name: 'another address',
    begin: (line, random) => line.changeAddress(5_000 + random.below(35_000)),
  },
];
