import type { GroupCatalog } from './cache/group-catalog.ts';

/** The figures of one group's catalog that operators see. */
export interface GroupFigures {
  readonly group: string;
  readonly size: number;
  /** Instruments in the gateway's last answer, which is not served where it has far fewer. */
  readonly offered: number;
  /** Rows that were left out as broken. */
  readonly skipped: number;
  /** Instruments that a former version had, where they are a tenth of it or more; for two hours. */
  readonly lost: number;
  /** Past its time, because the gateway fails or serves old copies itself. */
  readonly isStale: boolean;
}

/** A few broken rows are the interface's ordinary noise. */
const MOST_SKIPPED = 0.05;

/** Null where the group has no catalog in memory. */
export function figuresOf(catalog: GroupCatalog, nowMs: number): GroupFigures | null {
  const { group, copy, offeredSize } = catalog;
  if (copy === null) return null;
  const { skipped, version } = copy;
  return {
    group,
    size: version.size,
    offered: offeredSize,
    skipped,
    lost: catalog.lostAt(nowMs),
    isStale: copy.staleFromMs <= nowMs && nowMs < copy.servesUntilMs,
  };
}

/** The reason for `degraded` in words for an operator, or null. */
export function troubleOf(figures: GroupFigures): string | null {
  const { group, size, offered, skipped, lost, isStale } = figures;
  if (isStale) return `the catalog of the group ${group} is past its time`;
  if (offered * 2 < size) {
    return `the gateway offers ${offered} instruments to the group ${group}, whose former ${size} are served`;
  }
  if (skipped > (size + skipped) * MOST_SKIPPED) {
    return `${skipped} of ${size + skipped} instruments of the group ${group} are broken and left out`;
  }
  if (lost === 0) return null;
  return `the catalog of the group ${group} has lost ${lost} of ${size + lost} instruments`;
}
