import { type DuelFigures, LiveDuel, type LivePace, perEvent } from './live-duel.ts';
import type { LiveGateway } from './live-gateway.ts';
import { table } from './markdown.ts';
import { median } from './statistics.ts';

/** The whole account beside its positions alone, for a thousand accounts with a socket each. */
export async function accountFigures(gateway: LiveGateway, pace: LivePace): Promise<DuelFigures> {
  await using duel = await LiveDuel.startAccount(gateway, pace);
  await duel.warm();
  return await duel.measure({ sockets: 1_000, accounts: 1_000 });
}

export function accountTable({ size, eventBytes, ours, beside, ratio }: DuelFigures): string {
  const cpu = [ours, beside].map((windows) => `${median(windows.map(perEvent)).toFixed(1)} µs`);
  return [
    `### The whole account: ${size.sockets} sockets over ${size.accounts} accounts (${eventBytes} bytes an event)`,
    table(['', '`accountChanges`', '`positionChanges`'], [['CPU per event', ...cpu]]),
    `The whole account takes ${ratio.toFixed(2)} times the CPU for an event.`,
  ].join('\n\n');
}
