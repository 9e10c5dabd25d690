import { AccountReads } from '../../../src/domain/account/account-reads.ts';
import { NewestPositions } from '../../../src/domain/account/newest-positions.ts';
import { Prover } from '../../../src/domain/account/prover.ts';
import { Sessions } from '../../../src/domain/account/sessions.ts';
import { Identity } from '../../../src/domain/auth/identity.ts';
import { ProofLedger } from '../../../src/domain/auth/proof.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { createViewerGateway } from '../../../src/domain/auth/viewer-gateway.ts';
import { Catalogs, type CatalogsOptions } from '../../../src/domain/catalog/catalogs.ts';
import type { Caller } from '../../../src/gateway/exchange.ts';
import { LogicalClock } from '../../../src/lib/clock.ts';
import { toToken } from '../../../src/lib/limits/request-caller.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { openClient } from '../../gateway/open-client.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { createTestUnknownTokens } from '../../support/unknown-tokens.ts';

export const DEMO = 'demo@example.com';
export const FRESH = 'fresh@example.com';
export const PRO = 'pro@example.com';

export const HOUR_MS = 3_600_000;
export const MINUTE_MS = 60_000;
const DAY_SECONDS = 86_400;

export type WorldOptions = Partial<CatalogsOptions> & {
  readonly instruments?: number;
  readonly proofMs?: number;
};

export type CatalogWorld = Awaited<ReturnType<typeof openCatalogWorld>>;

interface ViewerOptions extends Pick<Caller, 'receipt'> {
  readonly email?: string;
  readonly forged?: boolean;
}

/** Opens catalogs with the real client and a real sandbox. The test advances their clock. */
export async function openCatalogWorld(options: WorldOptions = {}) {
  const { instruments = 60, proofMs = 30 * DAY_SECONDS * 1000, ...settings } = options;
  const clock = createScriptedClock();
  const sandbox = await startSandbox({ instruments, tickMs: 0, clock });
  // Answers have no age, unless a test sets one.
  sandbox.changeCatalog({ ageSeconds: null });
  const { client, pools } = openClient(sandbox.url, {
    connections: 16,
    gatewayMaxBytes: 16 * 1024 * 1024,
  });
  const logicalClock = new LogicalClock();
  const ledger = new ProofLedger({ clock, logicalClock, proofMs });
  const viewerGateway = createViewerGateway({
    client,
    ledger,
    unknownTokens: createTestUnknownTokens(clock, ledger),
  });
  // The client reads the times of answers from the system clock, so these are replaced by times of the scripted clock.
  const timed = async <T>(call: () => Promise<T>) => {
    const sentAtMs = clock.now();
    const answer = await call();
    return { ...answer, sentAtMs, receivedAtMs: clock.now() };
  };
  const gateway: typeof viewerGateway = {
    ...viewerGateway,
    getAllTickers: (...call) => timed(() => viewerGateway.getAllTickers(...call)),
    getSession: (viewer) => timed(() => viewerGateway.getSession(viewer)),
  };
  const newestPositions = new NewestPositions(ledger, 1e8);
  const accountReads = new AccountReads(logicalClock);
  const sessions = new Sessions({
    accountReads,
    gateway,
    ledger,
    newestPositions,
    clock,
    logicalClock,
    maxAgeMs: MINUTE_MS,
    maxBytes: 1e8,
  });
  const log: { readonly fields: unknown; readonly message: string }[] = [];
  const warn = (fields: unknown, message?: unknown) =>
    void log.push({ fields, message: String(message) });
  const catalogs = new Catalogs({
    gateway,
    ledger,
    prover: new Prover({ ledger, sessions, gateway, accountReads, logicalClock }),
    clock,
    gatewayDate: clock.dateOf,
    random: () => 0.5,
    log: { warn },
    maxAgeMs: HOUR_MS,
    staleMs: HOUR_MS,
    maxBytes: 512 * 1024 * 1024,
    ...settings,
  });
  const identity = new Identity({
    clock,
    claimNames: { login: 'login', group: 'group' },
    verify: null,
    ledger,
  });
  return {
    sandbox,
    clock,
    catalogs,
    gateway,
    ledger,
    log,
    viewer({ email = DEMO, forged = false, ...caller }: ViewerOptions = {}) {
      const signature = forged ? 'forged' : 'valid';
      const expiresInSeconds = 30 * DAY_SECONDS;
      const token = sandbox.token({ email, signature, expiresInSeconds });
      return identity.identify({ token: toToken(token), ...caller }) as Viewer;
    },
    /** The number of op 1 calls so far. */
    fetches: () => sandbox.calls('getAllTickers'),
    async [Symbol.asyncDispose]() {
      await pools.close();
      await sandbox.close();
    },
  };
}
