import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Prover } from '../account/prover.ts';
import type { ProofLedger } from '../auth/proof.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';

/** The services and settings from which the catalogs, and their parts, are made. */
export interface CatalogsOptions {
  readonly gateway: Pick<ViewerGateway, 'getAllTickers'>;
  readonly ledger: ProofLedger;
  readonly prover: Pick<Prover, 'group'>;
  readonly clock: Clock;
  /** The gateway's date at a time of the clock, as far as it is known. */
  readonly gatewayDate: (ms: number) => number;
  readonly random: () => number;
  readonly log: Pick<Log, 'warn'>;
  readonly maxAgeMs: number;
  readonly staleMs: number;
  /** Estimated heap of all groups' catalogs. */
  readonly maxBytes: number;
  readonly onFetched?: (outcome: 'modified' | 'unmodified' | 'failed' | 'personal') => void;
}
