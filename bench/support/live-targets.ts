import type { DuelFigures } from './live-duel.ts';
import { coreShare } from './live-load.ts';
import type { MemoryFigures } from './live-memory.ts';
import type { PackedFigures } from './live-packed.ts';
import { table } from './markdown.ts';
import { median } from './statistics.ts';

export interface TargetFigures {
  /** 500 sockets over 100 accounts. */
  readonly shared: DuelFigures;
  /** A thousand sockets, each of an account of its own. */
  readonly apart: DuelFigures;
  /** The whole account beside its positions alone. */
  readonly account: DuelFigures;
  readonly memory: MemoryFigures;
  readonly packed: PackedFigures;
}

/** The project's targets for live positions, and the figures of this run. */
export function targetTable({ shared, apart, account, memory, packed }: TargetFigures): string {
  const share = (windows: DuelFigures['ours']) => `${median(windows.map(coreShare)).toFixed(1)} %`;
  return [
    '### Targets',
    table(
      ['', 'target', 'measured'],
      [
        [
          '500 sockets, 100 accounts: share of a core',
          '4 %',
          `${share(shared.ours)} (bare loop ${share(shared.beside)})`,
        ],
        ['500 sockets, 100 accounts: polls per second', '100', shared.pollsPerSecond.toFixed(0)],
        ['500 sockets, 100 accounts: CPU per event', '1.3 ×', `${shared.ratio.toFixed(2)} ×`],
        ['1,000 sockets, 1,000 accounts: CPU per event', '1.4 ×', `${apart.ratio.toFixed(2)} ×`],
        [
          '`accountChanges`, the same: CPU of `positionChanges`',
          '1.15 ×',
          `${account.ratio.toFixed(2)} ×`,
        ],
        [
          'packed events of 25 positions: bytes of plain ones',
          '0.25 ×',
          `${packed.bytesRatio.toFixed(2)} ×`,
        ],
        [
          'the same, five readers an account: CPU of plain ones',
          '1.3 ×',
          `${packed.cpuRatio.toFixed(2)} ×`,
        ],
        [
          `memory per subscribed socket, of ${memory.sockets}`,
          '60 kB',
          `${memory.residentKilobytes.toFixed(1)} kB`,
        ],
      ],
    ),
  ].join('\n\n');
}
